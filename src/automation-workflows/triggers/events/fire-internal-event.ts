import type { Context } from '../../../context.ts';
import { findContacts } from '../../../contacts/contacts/find-contacts.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import { flatMapSequentially } from '../../../library/collections.ts';
import { startRuns } from '../../runs/admission/start-runs.ts';
import { toInternalKey, type internalEvents } from '../../internal-events.ts';
import { tryEvaluateTrigger, isTooDeep, recordPlanRefusals } from '../match-trigger.ts';
import { triggersByTopicsStatement } from '../store.ts';
import type { RunCause } from '../../runs/cause.ts';
import { childLineage } from '../../../library/lineage.ts';
import type { Progress } from '../../runs/engine/progress.ts';
import type { LoadedRun } from '../../runs/engine/run-row.ts';

export interface InternalEvent {
  name: (typeof internalEvents)[number];
  /** Identifies the occurrence. A trigger starts one run for a key. */
  key: string;
  contactId: number | null;
  depth: number;
  data: Record<string, unknown>;
}

/** Starts a run for every active trigger on an internal event. Repeatable. Beyond the limit of chained journeys, nothing starts. */
export async function fireInternalEvent(context: Context, event: InternalEvent): Promise<void> {
  const triggers = await context.database.all(
    triggersByTopicsStatement(context.database, context.organization.id, [`event:${event.name}`]),
  );
  if (!triggers.length) return;
  if (isTooDeep(context, event.depth, `${event.name} (${event.key})`, triggers)) return;
  const contact = event.contactId === null ? null : ((await findContacts(context, [event.contactId])).get(event.contactId) ?? null);
  const data = { event_type: event.name, ...event.data };
  const cause: RunCause = {
    key: toInternalKey(event.key),
    contact,
    event: { id: null, type: event.name, data, created_at: toTimestamp(context.clock()) },
    webhook: null,
    source: 'run',
    sourceId: null,
    initialContext: data,
    depth: event.depth,
  };
  const { refused } = await startRuns(
    context,
    await flatMapSequentially(triggers, (trigger) => tryEvaluateTrigger(context, trigger, cause)),
  );
  recordPlanRefusals(context, refused);
}

/** Whether any active trigger listens to an internal event. Ask once before thousands of events are fired one by one. */
export async function hasInternalEventTrigger({ database, organization }: Context, name: InternalEvent['name']): Promise<boolean> {
  return (await database.first(triggersByTopicsStatement(database, organization.id, [`event:${name}`]))) !== null;
}

/** Fires the triggers on `run.completed` or `run.failed`. Repeatable: a trigger starts one run for an end. */
export async function fireRunEnded(context: Context, run: LoadedRun, progress: Progress): Promise<void> {
  await fireInternalEvent(context, {
    name: progress.state === 'completed' ? 'run.completed' : 'run.failed',
    key: progress.retries ? `run:${run.row.id}:retry:${progress.retries}` : `run:${run.row.id}`,
    contactId: run.row.contact_id,
    depth: childLineage(run.row),
    data: {
      run_id: run.row.id,
      automation_workflow_id: run.row.workflow_id,
      workflow_name: run.row.workflow_name,
      state: progress.state,
      outcome: progress.outcome,
      error: progress.error,
    },
  });
}
