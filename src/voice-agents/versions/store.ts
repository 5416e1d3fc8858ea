import type { Database, Statement } from '../../database/client.ts';
import type { voiceAgentDefinition } from '../../database/schema/voice-agents.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { versionSettingsSql, type VersionSettings } from '../agents/version-content.ts';

/** A version of an agent. `definition`: JSON text with sealed secrets; the settings are JSON text, too. */
export type VersionRow = Pick<StoredRow<typeof voiceAgentDefinition>, 'id' | 'definition' | 'restored_from' | 'created_at'> &
  Record<keyof VersionSettings, string>;

const columns = `d.id, d.definition, ${versionSettingsSql}, d.restored_from, d.created_at`;
const versions = 'voice_agent_definition d CROSS JOIN voice_agent a';

/** Versions of an agent, newest first, behind the id `before`. */
export const versionsStatement = (
  database: Database,
  organizationId: number,
  agentId: number,
  { limit, offset, before }: { limit: number; offset: number; before: number | undefined },
): Statement<VersionRow> =>
  database.prepare<VersionRow>(
    `SELECT ${columns} FROM ${versions} WHERE d.agent_id = ? AND d.organization_id = ? AND a.id = d.agent_id AND d.id < ? ORDER BY d.id DESC LIMIT ? OFFSET ?`,
    agentId,
    organizationId,
    before ?? Number.MAX_SAFE_INTEGER,
    limit,
    offset,
  );

export const versionCountStatement = (
  database: Database,
  organizationId: number,
  agentId: number,
  most: number,
): Statement<{ total: number }> =>
  database.prepare<{ total: number }>(
    'SELECT count(*) AS total FROM (SELECT 1 FROM voice_agent_definition WHERE agent_id = ? AND organization_id = ? LIMIT ?)',
    agentId,
    organizationId,
    most,
  );

/** The versions of an agent among `ids`. */
export async function findVersions(
  database: Database,
  organizationId: number,
  agentId: number,
  ids: number[],
): Promise<Map<number, VersionRow>> {
  const rows = await database.all(
    database.prepare<VersionRow>(
      `SELECT ${columns} FROM json_each(?) j CROSS JOIN ${versions}
       WHERE d.id = j.value AND d.agent_id = ? AND d.organization_id = ? AND a.id = d.agent_id`,
      JSON.stringify(ids),
      agentId,
      organizationId,
    ),
  );
  return new Map(rows.map((row) => [row.id, row]));
}
