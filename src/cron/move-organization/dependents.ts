import type { Row } from '../../database/client.ts';
import { writeHeld, type MoveEnds } from './ends.ts';
import type { MovedTable } from './moved-tables.ts';

/** A run's depth has the run that began its chain above the lowest four bits (migration `chained_runs`). */
const depthsPerRun = 16;

/** The rows in which triggers of the database count an inserted row: a copy counts there a second time. */
const countedIn: Readonly<Record<string, (row: Row) => [table: string, id: unknown][]>> = {
  automation_run: (row) => [
    ['automation_workflow', row['workflow_id']],
    ['automation_trigger', row['trigger_id']],
    ['automation_run', Math.floor((row['depth'] as number) / depthsPerRun) || null],
  ],
  voice_agent_run: (row) => [['voice_agent', row['agent_id']]],
};

/** Notes that the rows in which these rows are counted must be copied again, after them. */
export async function noteDependents(ends: MoveEnds, { name }: MovedTable, rows: Row[]): Promise<void> {
  const counts = countedIn[name];
  if (!counts) return;
  const noted = new Map(rows.flatMap(counts).flatMap(([table, id]) => (id === null ? [] : [[`${table} ${String(id)}`, { table, id }]])));
  if (!noted.size) return;
  const note = ends.source.prepare(
    `INSERT INTO transit_change (subject_id, kind, key) SELECT ?1, value ->> 'table', json_array(value ->> 'id') FROM json_each(?2)`,
    ends.organizationId,
    JSON.stringify([...noted.values()]),
  );
  await writeHeld(ends, ends.source, [note]);
}
