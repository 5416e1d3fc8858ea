import type { Context } from '../../context.ts';

/** Those of `ids` that are workflows of the organization and not archived. */
export async function findUnarchivedWorkflowIds({ database, organization }: Context, ids: number[]): Promise<Set<number>> {
  const rows = await database.all(
    database.prepare<{ id: number }>(
      `SELECT w.id FROM json_each(?) j CROSS JOIN automation_workflow w WHERE w.id = j.value AND w.organization_id = ? AND w.status <> 'archived'`,
      JSON.stringify(ids),
      organization.id,
    ),
  );
  return new Set(rows.map((row) => row.id));
}
