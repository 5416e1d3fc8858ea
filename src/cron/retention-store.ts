import type { Database } from '../database/client.ts';

export type Retained = 'event' | 'webhook_delivery' | 'automation_run';

export interface RetainedRow extends Record<string, unknown> {
  id: number;
  organization_id: number;
}

/** What starts runs stays as long as a run of it is kept, since the run's context is kept with it. */
const unused = (kind: string) => `handled_at IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM automation_run r WHERE r.organization_id = old.organization_id
    AND r.dedup_key >= '${kind}:' || old.id || ':' AND r.dedup_key < '${kind}:' || old.id || ';')`;

const isDone: Record<Retained, string> = {
  automation_run: 'completed_at IS NOT NULL',
  event: unused('event'),
  webhook_delivery: unused('delivery'),
};

const lengthOf: Record<Retained, string> = {
  automation_run: 'coalesce(length(initial_context), 0) + coalesce(length(context_changes), 0)',
  event: 'length(data)',
  webhook_delivery: 'length(payload)',
};

/** Rows looked at in one tick; what still lives among them is stepped over. */
const windowRows = 5000;
const pageRows = 500;
/** The rows of a page are in memory together. */
const pageLength = 8 * 1024 * 1024;

const cursorOf = (table: Retained) => `${table}_retained`;

/**
 * The next page of rows that are older than `before` and done, along the primary key from where the last page ended; after the
 * last old row the walk begins anew. The newest row always stays: an id must never be given twice.
 */
export async function oldRows(database: Database, table: Retained, before: number): Promise<RetainedRow[]> {
  const from = 'coalesce((SELECT value FROM progress WHERE name = ?), 0)';
  const [first] = await database.all<{ created_at: number }>(
    database.prepare(`SELECT created_at FROM ${table} WHERE id > ${from} ORDER BY id LIMIT 1`, cursorOf(table)),
  );
  if (!first || first.created_at >= before) {
    await moveCursor(database, table, 0);
    return [];
  }
  const window = `SELECT * FROM ${table} WHERE id > ${from} ORDER BY id LIMIT ${windowRows}`;
  const [candidates, seen] = await database.batch([
    database.prepare(
      `SELECT id, ${lengthOf[table]} AS length FROM (${window}) old
       WHERE created_at < ? AND id < (SELECT max(id) FROM ${table}) AND ${isDone[table]} ORDER BY id LIMIT ${pageRows}`,
      cursorOf(table),
      before,
    ),
    database.prepare(`SELECT max(id) AS top, count(*) AS total FROM (${window})`, cursorOf(table)),
  ]);
  const ids = firstOf(candidates as unknown as { id: number; length: number }[]);
  const { top, total } = seen![0] as { top: number; total: number };
  const isPageFull = ids.length < candidates!.length || ids.length === pageRows;
  await moveCursor(database, table, isPageFull ? ids.at(-1)! : total === windowRows ? top : 0);
  if (!ids.length) return [];
  return database.all<RetainedRow>(
    database.prepare(`SELECT t.* FROM json_each(?) j CROSS JOIN ${table} t WHERE t.id = j.value ORDER BY t.id`, JSON.stringify(ids)),
  );
}

/** As many as fit into a page, at least one. */
function firstOf(candidates: { id: number; length: number }[]): number[] {
  let left = pageLength;
  const count = candidates.findIndex(({ length }, index) => (left -= length) < 0 && index > 0);
  return candidates.slice(0, count < 0 ? undefined : count).map(({ id }) => id);
}

const moveCursor = (database: Database, table: Retained, to: number): Promise<unknown> =>
  database.all(
    database.prepare(
      'INSERT INTO progress (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value',
      cursorOf(table),
      to,
    ),
    'progress.name',
  );

/** Deletes rows that are kept elsewhere by now; counters keep step with what leaves. */
export async function deleteArchived(database: Database, table: Retained, organizationId: number, ids: number[]): Promise<void> {
  const json = JSON.stringify(ids);
  const remove = database.prepare(
    // The plus keeps the planner from an organization's index: along it, it would read all rows of the organization.
    `DELETE FROM ${table} WHERE id IN (SELECT value FROM json_each(?)) AND +organization_id = ?`,
    json,
    organizationId,
  );
  const countEvents = database.prepare(
    'UPDATE organization_usage SET events_count = events_count - changes() WHERE organization_id = ?',
    organizationId,
  );
  const countRuns = database.prepare(
    `UPDATE automation_workflow SET runs_count = runs_count - (
       SELECT count(*) FROM json_each(?1) j CROSS JOIN automation_run r WHERE r.id = j.value AND r.workflow_id = automation_workflow.id AND r.is_test = 0
     ) WHERE id IN (SELECT r.workflow_id FROM json_each(?1) j CROSS JOIN automation_run r WHERE r.id = j.value) AND +organization_id = ?2`,
    json,
    organizationId,
  );
  await database.batch(
    table === 'event' ? [remove, countEvents] : table === 'automation_run' ? [countRuns, remove] : [remove],
    'same values',
  );
}
