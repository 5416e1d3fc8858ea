import type { Database, Statement } from '../../../database/client.ts';
import type { automationRun } from '../../../database/schema/automation-workflows.ts';
import type { StoredRow } from '../../../database/stored-row.ts';
import type { WorkflowStatus } from '../../definitions/store.ts';
import type { TriggerState } from '../store.ts';

/** How many runs an answer names of each kind. A trigger starts one run for an event. */
const maxShownRuns = 200;

export type OutcomeRun = Pick<StoredRow<typeof automationRun>, 'id' | 'workflow_id' | 'trigger_id' | 'state' | 'outcome' | 'hold'>;

const runColumns = 'r.id, r.workflow_id, r.trigger_id, r.state, r.outcome, r.hold';

/** The runs whose dedup key begins with the cause's key: one for each trigger that it has started. */
export const startedRunsStatement = (database: Database, organizationId: number, causeKey: string): Statement<OutcomeRun> =>
  database.prepare<OutcomeRun>(
    `SELECT ${runColumns} FROM automation_run r INDEXED BY automation_run_dedup
     WHERE r.organization_id = ?1 AND r.dedup_key >= ?2 || ':trigger:' AND r.dedup_key < ?2 || ':trigger;' ORDER BY r.dedup_key LIMIT ${maxShownRuns}`,
    organizationId,
    causeKey,
  );

/** At most so many runs of an effect are counted. */
const maxCountedRuns = 10_000;

/** The first runs that an event has woken or ended. */
export const affectedRunsOfEvent = (
  database: Database,
  organizationId: number,
  { eventId, effect, limit }: { eventId: number; effect: 'woken' | 'exited'; limit: number },
): Statement<OutcomeRun> =>
  database.prepare<OutcomeRun>(
    `SELECT ${runColumns} FROM affected_run x CROSS JOIN automation_run r
     WHERE x.organization_id = ?1 AND x.event_id = ?2 AND x.effect = ?3 AND r.id = x.run_id AND r.organization_id = ?1 ORDER BY x.run_id LIMIT ?4`,
    organizationId,
    eventId,
    effect,
    limit,
  );

/** How many runs an event has woken and ended, each counted up to `maxCountedRuns`. */
export const affectedRunCounts = (
  database: Database,
  organizationId: number,
  eventId: number,
): Statement<{ woken: number; exited: number }> =>
  database.prepare<{ woken: number; exited: number }>(
    `SELECT ${(['woken', 'exited'] as const)
      .map(
        (effect) => `(SELECT count(*) FROM (SELECT 1 FROM affected_run WHERE organization_id = ?1 AND event_id = ?2 AND effect = '${effect}'
           LIMIT ${maxCountedRuns})) AS ${effect}`,
      )
      .join(', ')}`,
    organizationId,
    eventId,
  );

export const runsByIdStatement = (database: Database, organizationId: number, ids: number[]): Statement<OutcomeRun> =>
  database.prepare<OutcomeRun>(
    `SELECT ${runColumns} FROM json_each(?) j CROSS JOIN automation_run r WHERE r.id = j.value AND r.organization_id = ? ORDER BY r.id`,
    JSON.stringify(ids),
    organizationId,
  );

export interface OutcomeTrigger {
  id: number;
  name: string;
  state: TriggerState;
  workflow_id: number;
  workflow_name: string;
  workflow_status: WorkflowStatus;
}

const triggerColumns = 't.id, t.name, t.state, t.workflow_id, w.name AS workflow_name, w.status AS workflow_status';

/** The triggers that listen to the type of an event at present, whatever their state. */
export const listenersStatement = (database: Database, organizationId: number, eventId: number): Statement<OutcomeTrigger> =>
  database.prepare<OutcomeTrigger>(
    `SELECT ${triggerColumns} FROM event e CROSS JOIN trigger_topic s CROSS JOIN automation_trigger t CROSS JOIN automation_workflow w
     WHERE e.id = ?1 AND e.organization_id = ?2 AND s.organization_id = ?2 AND s.topic = 'contact_event:' || e.event_type
       AND t.id = s.trigger_id AND w.id = t.workflow_id ORDER BY t.id LIMIT ${maxShownRuns}`,
    eventId,
    organizationId,
  );

export const triggersOfOutcomeStatement = (database: Database, organizationId: number, ids: number[]): Statement<OutcomeTrigger> =>
  database.prepare<OutcomeTrigger>(
    `SELECT ${triggerColumns} FROM json_each(?) j CROSS JOIN automation_trigger t CROSS JOIN automation_workflow w
     WHERE t.id = j.value AND t.organization_id = ? AND w.id = t.workflow_id`,
    JSON.stringify(ids),
    organizationId,
  );
