import type { Context } from '../../../context.ts';
import { contactsByIdsStatement, contactRecordFromRow } from '../../../contacts/contacts/find-contacts.ts';
import type { ContactRecord } from '../../../contacts/contacts/records.ts';
import { markEventsHandled, findUnhandledEvents } from '../../../events/handling.ts';
import { flatMapSequentially } from '../../../library/collections/flat-map-sequentially.ts';
import { recordFailedParts, type FailedPart } from '../../../outbox/failed-messages.ts';
import type { RunCandidate, Refusal } from '../../runs/admission/candidate.ts';
import { startRuns } from '../../runs/admission/start-runs.ts';
import { exitRuns } from '../../runs/exits/exit-runs.ts';
import { tryEvaluateTrigger } from '../match-trigger.ts';
import { batchByPayloadSize } from '../payload-batches.ts';
import { triggersByTopicsStatement, type TriggerWithWorkflow } from '../store.ts';
import { deliverToWaiters } from '../../runs/waits/deliver-to-waiters.ts';
import { type RunEvent, type RunCause, toEventCause, loadRunEvents } from '../../runs/cause.ts';
import { exitTopicsStatement, type ExitTopic, waiterFieldsStatement, type WaiterField } from '../../runs/store.ts';

/**
 * Does what accepted events ask for and marks them as handled: starts runs, ends runs by `exit_on`, wakes runs that wait.
 * Repeatable at any point: runs are keyed by event and trigger, a run takes an event once, and the mark is the last thing
 * written. A run that cannot be reached holds up nothing else: what failed with it is tried again with the event and, once the queue tries it
 * for the last time, on its own. Six D1 calls at most for a batch of ordinary payloads, four when nobody waits for them.
 */
export async function handleEvents(context: Context, ids: number[], isLastTry = false): Promise<void> {
  const { database, organization } = context;
  const events = await findUnhandledEvents(context, ids);
  if (!events.length) return;
  const types = [...new Set(events.map((event) => event.event_type))];
  const contactIds = [...new Set(events.flatMap((event) => event.contact_id ?? []))];
  const [triggers, contactRows, exits, fields] = await database.batch([
    triggersByTopicsStatement(
      database,
      organization.id,
      types.map((type) => `contact_event:${type}`),
    ),
    contactsByIdsStatement(context, contactIds),
    exitTopicsStatement(database, organization.id, types),
    waiterFieldsStatement(database, organization.id, types),
  ]);
  const listeners: Listeners = {
    triggers: Map.groupBy(triggers as unknown as (TriggerWithWorkflow & { topic: string })[], (trigger) => trigger.topic),
    exits: exits as unknown as ExitTopic[],
    fields: fields as unknown as WaiterField[],
  };
  const contacts = new Map(contactRows!.map(contactRecordFromRow).map((contact) => [contact.id, contact]));
  const heard = events.filter((event) => hasListener(listeners, event.event_type));
  const notes = new Map<number, string>();
  const failed: FailedPart[] = [];
  const startErrors: unknown[] = [];
  for (const portion of batchByPayloadSize(heard, (event) => event.data)) {
    const offered = await loadRunEvents(context, portion);
    const depths = new Map(portion.map((event) => [event.id, event.depth]));
    for (const group of groupByExit(offered, listeners)) {
      // An event may end a run and start the next of the same key; and a run that one event starts, a later one may end.
      if (listeners.exits.length) failed.push(...(await exitRuns(context, group, listeners.exits, contacts)));
      const candidates = await flatMapSequentially(group, (event) =>
        findCandidates(context, event, depths.get(event.id)!, listeners.triggers, contacts),
      );
      const started = await startRuns(context, candidates);
      startErrors.push(...started.startErrors);
      for (const refusal of started.refused) addRefusalNote(notes, refusal);
      if (listeners.exits.length && candidates.length && group.length > 1)
        failed.push(...(await exitRuns(context, group, listeners.exits, contacts)));
    }
    if (listeners.fields.length) failed.push(...(await deliverToWaiters(context, offered, listeners.fields)));
  }
  const [first] = [...failed.map(({ error }) => error), ...startErrors];
  if (first !== undefined && !isLastTry) throw first;
  await recordFailedParts(database, failed, context.clock());
  await markEventsHandled(context, events, notes);
}

interface Listeners {
  triggers: Map<string, TriggerWithWorkflow[]>;
  exits: ExitTopic[];
  fields: WaiterField[];
}

const hasListener = ({ triggers, exits, fields }: Listeners, type: string): boolean =>
  triggers.has(`contact_event:${type}`) ||
  exits.some((topic) => topic.event_type === type) ||
  fields.some((field) => field.event_type === type);

/** The events in groups, each of which begins with the next event that both ends runs and starts some. */
function groupByExit(events: RunEvent[], { triggers, exits }: Listeners): RunEvent[][] {
  const groups: RunEvent[][] = [];
  for (const event of events) {
    const isTurn = triggers.has(`contact_event:${event.type}`) && exits.some((topic) => topic.event_type === event.type);
    if (isTurn || !groups.length) groups.push([]);
    groups.at(-1)!.push(event);
  }
  return groups;
}

function addRefusalNote(notes: Map<number, string>, { candidate, message }: Refusal): void {
  const note = `Workflow ${candidate.workflow.id}: ${message}`;
  const before = notes.get(candidate.sourceId!);
  notes.set(candidate.sourceId!, before === undefined ? note : `${before}; ${note}`);
}

function findCandidates(
  context: Context,
  event: RunEvent,
  depth: number,
  triggersByTopic: Map<string, TriggerWithWorkflow[]>,
  contacts: Map<number, ContactRecord>,
): Promise<RunCandidate[]> {
  const cause: RunCause = {
    ...toEventCause(event, event.contact_id === null ? null : (contacts.get(event.contact_id) ?? null)),
    key: `event:${event.id}`,
    source: 'event',
    sourceId: event.id,
    depth,
  };
  return flatMapSequentially(triggersByTopic.get(`contact_event:${event.type}`) ?? [], (trigger) =>
    tryEvaluateTrigger(context, trigger, cause),
  );
}
