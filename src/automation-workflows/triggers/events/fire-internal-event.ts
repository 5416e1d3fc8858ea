import type { Context } from '../../../context.ts';
import { findContacts } from '../../../contacts/contacts/find-contacts.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import { flatMapSequentially } from '../../../library/collections/flat-map-sequentially.ts';
import { startRuns } from '../../runs/admission/start-runs.ts';
import { toInternalKey, type internalEvents } from '../../internal-events.ts';
import { tryEvaluateTrigger, type RunCause } from '../match-trigger.ts';
import { triggersByTopicsStatement, type TriggerWithWorkflow } from '../store.ts';
import { isTooDeep, recordPlanRefusals } from '../refusals.ts';

export interface InternalEvent {
  name: (typeof internalEvents)[number];
  /** Names what happened; a trigger starts one run for it. */
  key: string;
  contactId: number | null;
  depth: number;
  data: Record<string, unknown>;
}

/** Starts a run for every active trigger on an internal event. Repeatable. Beyond the depth limit nothing starts. */
export async function fireInternalEvent(context: Context, event: InternalEvent): Promise<void> {
  const triggers = await context.database.all<TriggerWithWorkflow>(
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
