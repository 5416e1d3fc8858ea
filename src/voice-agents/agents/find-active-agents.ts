import type { Context } from '../../context.ts';

/** Which of these voice agents are the organization's and take calls. */
export async function findActiveAgentIds({ database, organization }: Context, ids: number[]): Promise<Set<number>> {
  const rows = await database.all<{ id: number }>(
    database.prepare(
      `SELECT a.id FROM json_each(?) j CROSS JOIN voice_agent a WHERE a.id = j.value AND a.organization_id = ? AND a.status = 'active'`,
      JSON.stringify(ids),
      organization.id,
    ),
  );
  return new Set(rows.map((row) => row.id));
}
