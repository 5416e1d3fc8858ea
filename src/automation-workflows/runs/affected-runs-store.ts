import type { Database, Statement } from '../../database/client.ts';

/** A run whose wait an event has ended (`woken`), or that an event has ended by `exit_on`. */
export interface AffectedRun {
  eventId: number;
  effect: 'woken' | 'exited';
  runId: number;
}

/** Records which events have affected runs. Repeatable. */
export const affectedRunsStatement = (database: Database, organizationId: number, affected: AffectedRun[]): Statement =>
  database.prepare(
    `INSERT OR IGNORE INTO affected_run (organization_id, event_id, effect, run_id)
     SELECT ?2, j.value ->> 'eventId', j.value ->> 'effect', j.value ->> 'runId' FROM json_each(?1) j`,
    JSON.stringify(affected),
    organizationId,
  );
