import type { Database } from '../../database/client.ts';

/** Clocks of the service differ by less. */
const clockToleranceMs = 60_000;

/** The names of variables that the definitions of an agent extract which were its current one at some time between `from` and `to` (epoch ms), or which a campaign pins. */
export async function findExtractionNames(
  database: Database,
  organizationId: number,
  agentId: number,
  { from, to }: { from: number; to: number },
): Promise<string[]> {
  const rows = await database.all(
    database.prepare<{ name: string }>(
      `SELECT v.value ->> 'name' AS name
       FROM voice_agent_definition d CROSS JOIN json_each(d.definition, '$.nodes') n CROSS JOIN json_each(n.value, '$.data.extraction_variables') v
       WHERE d.agent_id = ?1 AND d.organization_id = ?2 AND d.created_at <= ?4
         AND (d.id >= coalesce((SELECT max(id) FROM voice_agent_definition WHERE agent_id = ?1 AND created_at <= ?3), 0)
           OR d.id IN (SELECT c.definition_id FROM campaign c WHERE c.organization_id = ?2 AND c.agent_id = ?1))
         AND n.value ->> '$.data.extraction_enabled' = 1
       ORDER BY d.id, n.id, v.id`,
      agentId,
      organizationId,
      from - clockToleranceMs,
      to + clockToleranceMs,
    ),
  );
  return [...new Set(rows.map(({ name }) => name))].filter((name) => typeof name === 'string');
}
