import { isWithinLimitSql } from '../../accounts/organizations/plan-limits.ts';
import type { Database, Statement } from '../../database/client.ts';

/** A condition under which the statements must change nothing. */
export interface SkipCondition {
  sql: string;
  parameters: (string | number)[];
}

/**
 * Statements that make sure a contact with `phone` exists and is a member of the list, for a batch that goes on to link it.
 * At the plan's contact limit no contact is created, and the list is left alone; at that of lists none is created. A known contact that is a member already
 * costs no row written.
 */
export function ensureContactStatements(
  database: Database,
  organization: { id: number; maxContacts: number; maxLists: number },
  contact: { phone: string; listName: string | null; tags: string[] },
  now: number,
  unless: SkipCondition | null,
): Statement[] {
  const holds = unless ? ` AND NOT ${unless.sql}` : '';
  const guard = unless?.parameters ?? [];
  const statements = [
    database.prepare(
      `INSERT INTO contact (organization_id, phone, tags, custom_fields, created_at, updated_at)
       SELECT ?, ?, ?, '{}', ?, ?
       WHERE NOT EXISTS (SELECT 1 FROM contact WHERE organization_id = ? AND phone = ?)
         AND coalesce((SELECT contacts_count FROM organization_usage WHERE organization_id = ?), 0) < ?${holds}`,
      organization.id,
      contact.phone,
      JSON.stringify(contact.tags),
      now,
      now,
      organization.id,
      contact.phone,
      organization.id,
      organization.maxContacts,
      ...guard,
    ),
    database.prepare(
      `INSERT INTO organization_usage (organization_id, contacts_count) SELECT ?, 1 WHERE changes() > 0
       ON CONFLICT (organization_id) DO UPDATE SET contacts_count = contacts_count + 1`,
      organization.id,
    ),
  ];
  if (contact.listName === null) return statements;
  const found = 'SELECT id FROM contact WHERE organization_id = ? AND phone = ?';
  const list = 'SELECT id FROM contact_list WHERE organization_id = ? AND name = ? AND deleted_at IS NULL';
  const listOf = [organization.id, contact.listName];
  const contactOf = [organization.id, contact.phone];
  return [
    ...statements,
    database.prepare(
      `INSERT INTO contact_list (organization_id, name, metadata, column_schema, created_at, updated_at)
       SELECT ?, ?, '{}', '[]', ?, ? WHERE NOT EXISTS (${list}) AND EXISTS (${found}) AND ${isWithinLimitSql('max_lists', '?', '?')}${holds}`,
      organization.id,
      contact.listName,
      now,
      now,
      ...listOf,
      ...contactOf,
      organization.id,
      organization.maxLists,
      organization.maxLists,
      ...guard,
    ),
    database.prepare(
      `INSERT OR IGNORE INTO contact_list_member (list_id, contact_id, added_at)
       SELECT (${list}), (${found}), ? WHERE EXISTS (${list}) AND EXISTS (${found})${holds}`,
      ...listOf,
      ...contactOf,
      now,
      ...listOf,
      ...contactOf,
      ...guard,
    ),
    database.prepare(`UPDATE contact_list SET contacts_count = contacts_count + 1 WHERE id = (${list}) AND changes() > 0`, ...listOf),
  ];
}

export const selectIdsByPhones = (database: Database, organizationId: number, phones: string[]): Statement =>
  database.prepare(
    `SELECT c.phone, c.id, json_extract(c.custom_fields, '$.timezone') AS timezone FROM json_each(?) j CROSS JOIN contact c
     WHERE c.organization_id = ? AND c.phone = j.value AND c.phone IS NOT NULL`,
    JSON.stringify(phones),
    organizationId,
  );
