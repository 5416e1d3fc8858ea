import { env } from 'cloudflare:workers';
import { organizationFolders, organizationTables } from '../../src/database/organization-tables.ts';
import { insertRow } from './insert-row.ts';
import { ownRows } from './own-rows.ts';

const parents = {
  workflow_id: 'automation_workflow',
  trigger_id: 'automation_trigger',
  agent_id: 'voice_agent',
  list_id: 'contact_list',
} as const;
const more = { document_id: 'knowledge_document', integration_id: 'integration', archive_id: 'archive' } as const;

/** These rows are in the first database. */
const accounts = new Set(['session', 'password_reset']);

/**
 * Makes a row in every table that can have one of an organization, and a file in every folder. Its own rows go into `database`. Returns the ids
 * of the rows by their tables.
 */
export async function fillOrganization(id: number, userId: number, database: D1Database = ownRows): Promise<Record<string, number>> {
  const ids: Record<string, number> = {};
  for (const { table } of organizationTables.toReversed()) {
    if (['organization', 'membership', 'api_key', 'organization_usage'].includes(table)) continue;
    const { results } = await env.DB.prepare('SELECT name FROM pragma_table_info(?)').bind(table).all<{ name: string }>();
    const columns = new Set(results.map((column) => column.name));
    const given: Record<string, string | number | null> = {};
    if (columns.has('organization_id')) given['organization_id'] = id;
    if (columns.has('user_id')) given['user_id'] = userId;
    for (const [column, parent] of Object.entries({ ...parents, ...more })) if (columns.has(column)) given[column] = ids[parent] ?? 0;
    if (table === 'webhook_delivery') Object.assign(given, { delivery_id: 'a', payload: '{}' });
    if (table === 'failed_message') given['message'] = JSON.stringify({ v: 1, kind: 'cleanup', organization_id: id, id: 0 });
    if (table === 'vector_placement') Object.assign(given, { kept_in: 'embedded', phase: null });
    ids[table] = await insertRow(table, given, accounts.has(table) ? env.DB : database);
  }
  for (const folder of organizationFolders) await env.FILES.put(`${folder}${id}/a/b.json`, '{}');
  return ids;
}
