import type { Database, Statement } from '../../database/client.ts';
import { writeHeld, type MoveEnds } from './ends.ts';
import { setTargetStage } from './hold.ts';
import { lastTables } from './moved-tables.ts';
import { isAcceptedAfter } from './replay.ts';

const uncountedEvents = `(SELECT count(*) FROM event WHERE id > coalesce((SELECT value FROM progress WHERE name = 'events_counted'), 0)
  AND +organization_id = ?1)`;

/** Adds the events that the tick has not counted, or will count again, to those of the organization. Holds only in `stage`. */
const countEvents = (database: Database, organizationId: number, sign: '+' | '-', stage: 'copying' | 'fenced'): Statement =>
  database.prepare(
    `INSERT INTO organization_usage (organization_id, events_count)
     SELECT ?1, 0 ${sign} ${uncountedEvents} FROM transit WHERE subject_id = ?1 AND stage = '${stage}'
     ON CONFLICT (organization_id) DO UPDATE SET events_count = events_count + excluded.events_count`,
    organizationId,
  );

/** The cursors of the target's tick are past these rows. As failed messages they are found without a cursor. */
const recordAccepted = (
  database: Database,
  organizationId: number,
  now: number,
  { table, kind, cursor }: { table: string; kind: string; cursor: 'events_handled' | 'deliveries_handled' },
): Statement =>
  database.prepare(
    `INSERT INTO failed_message (key, organization_id, message, tries, first_failed_at, next_try_at)
     SELECT '${kind}:' || id, ?1, json_object('v', 1, 'kind', '${kind}', 'organization_id', ?1, 'id', id), 0, ?2, ?2 FROM ${table}
     WHERE ${isAcceptedAfter(cursor)} AND EXISTS (SELECT 1 FROM transit WHERE subject_id = ?1 AND stage = 'copying')
     ON CONFLICT (key) DO NOTHING`,
    organizationId,
    now,
  );

const setStage = (database: Database, organizationId: number, from: 'copying' | 'fenced', to: 'copying' | 'fenced'): Statement =>
  database.prepare('UPDATE transit SET stage = ?3 WHERE subject_id = ?1 AND stage = ?2', organizationId, from, to);

/** From now on every write to the organization's rows is refused. What the source's tick would have done for them is handed over before. */
export async function raiseFence(ends: MoveEnds, now: number): Promise<void> {
  const { source, organizationId } = ends;
  await writeHeld(ends, source, [
    countEvents(source, organizationId, '+', 'copying'),
    recordAccepted(source, organizationId, now, { table: 'event', kind: 'event', cursor: 'events_handled' }),
    recordAccepted(source, organizationId, now, { table: 'webhook_delivery', kind: 'delivery', cursor: 'deliveries_handled' }),
    setStage(source, organizationId, 'copying', 'fenced'),
  ]);
}

/** The organization works on in the source, as if the fence had not been. */
export async function lowerFence(ends: MoveEnds): Promise<void> {
  const { source, target, organizationId } = ends;
  await writeHeld(ends, target, [
    ...lastTables.map(({ name }) => target.prepare(`DELETE FROM ${name} WHERE organization_id = ?`, organizationId)),
    setTargetStage(ends, 'arriving'),
  ]);
  await writeHeld(ends, source, [
    setStage(source, organizationId, 'fenced', 'copying'),
    // After the stage, since the fence refuses this write, too. The tick counts these events.
    countEventsAgain(source, organizationId),
  ]);
}

/** Only where the statement before has lowered the fence. */
const countEventsAgain = (database: Database, organizationId: number): Statement =>
  database.prepare(
    `UPDATE organization_usage SET events_count = events_count - ${uncountedEvents} WHERE organization_id = ?1 AND changes() > 0`,
    organizationId,
  );
