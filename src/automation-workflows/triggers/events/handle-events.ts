import type { Context } from '../../../context.ts';
import { contactsByIdsStatement, contactRecordFromRow } from '../../../contacts/contacts/find-contacts.ts';
import type { ContactRecord } from '../../../contacts/contacts/records.ts';
import { markEventsHandled, findUnhandledEvents } from '../../../events/handling.ts';
import { recordFailedParts, type FailedPart } from '../../../outbox/failed-messages.ts';
import type { RunCandidate, Refusal } from '../../runs/admission/candidate.ts';
import { startRuns } from '../../runs/admission/start-runs.ts';
import { exitRuns } from '../../runs/exits/exit-runs.ts';
import { decideTrigger } from '../match-trigger.ts';
import { batchByPayloadSize } from '../payload-batches.ts';
import { triggersByTopicsStatement, type TriggerWithWorkflow } from '../store.ts';
import { HandlingLog } from './handling-log.ts';
import { deliverToWaiters } from '../../runs/waits/deliver-to-waiters.ts';
import { type RunEvent, type RunCause, toEventCause, loadRunEvents } from '../../runs/cause.ts';
import { exitTopicsStatement, type ExitTopic, waiterFieldsStatement, type WaiterField } from '../../runs/store.ts';

/**
 * Handles accepted events: starts runs, ends runs by `exit_on`, delivers the events to waiting runs, and marks the events as handled.
 * Repeatable at any point: runs are keyed by event and trigger, a run takes an event once, and the mark is written last. A run that cannot be
 * reached delays nothing else: its part is tried again with the event and, after the queue's last try, on its own. At most six D1 calls for a
 * batch of ordinary payloads, four when no run waits for the events.
 *
 * @param isLastTry Record failed parts and mark the events as handled instead of throwing the first error.
 * @returns The ids of the events that are left because the context's turn was over; the first is always handled.
 */
export async function handleEvents(context: Context, ids: number[], isLastTry = false): Promise<number[]> {
  const { database, organization } = context;
  const events = await findUnhandledEvents(context, ids);
  if (!events.length) return [];
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
    triggers: Map.groupBy(triggers, (trigger) => trigger.topic),
    exits,
    fields,
  };
  const contacts = new Map(contactRows.map(contactRecordFromRow).map((contact) => [contact.id, contact]));
  const relevant = events.filter((event) => hasListener(listeners, event.event_type));
  const notes = new Map<number, string>();
  const log = new HandlingLog(relevant);
  const failed: FailedPart[] = [];
  const startErrors: unknown[] = [];
  const left = new Set(relevant.map(({ id }) => id));
  const mustGiveWay = () => context.turn?.isOver && left.size < relevant.length;
  for (const batch of batchByPayloadSize(relevant, (event) => event.data)) {
    if (mustGiveWay()) break;
    const depths = new Map(batch.map((event) => [event.id, event.depth]));
    const runEvents: RunEvent[] = [];
    const candidatesByEvent = new Map<number, RunCandidate[]>();
    for (const event of await loadRunEvents(context, batch)) {
      if (mustGiveWay()) break;
      candidatesByEvent.set(event.id, await findCandidates(context, event, depths.get(event.id)!, { ...listeners, contacts, log }));
      runEvents.push(event);
      left.delete(event.id);
    }
    for (const group of groupByExit(runEvents, listeners)) {
      // An event may end a run and start the next run of the same key. A later event of the group may end a run that an earlier one started.
      const endRuns = async () => {
        failed.push(...(await exitRuns(context, group, listeners.exits, contacts)));
      };
      if (listeners.exits.length) await endRuns();
      const candidates = group.flatMap(({ id }) => candidatesByEvent.get(id)!);
      const started = await startRuns(context, candidates);
      startErrors.push(...started.startErrors);
      for (const refusal of started.refused) {
        addRefusalNote(notes, refusal);
        log.addRefusal(refusal);
      }
      if (listeners.exits.length && candidates.length && group.length > 1) await endRuns();
    }
    if (listeners.fields.length) failed.push(...(await deliverToWaiters(context, runEvents, listeners.fields)));
  }
  const [first] = [...failed.map(({ error }) => error), ...startErrors];
  if (first !== undefined && !isLastTry) throw first;
  await recordFailedParts(database, failed, context.clock());
  await markEventsHandled(
    context,
    events.filter(({ id }) => !left.has(id)),
    notes,
    log.stored(),
  );
  return [...left];
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

/** Splits the events, in order: each event that both ends and starts runs begins a new group. */
function groupByExit(events: RunEvent[], { triggers, exits }: Listeners): RunEvent[][] {
  const groups: RunEvent[][] = [];
  for (const event of events) {
    const endsAndStarts = triggers.has(`contact_event:${event.type}`) && exits.some((topic) => topic.event_type === event.type);
    if (endsAndStarts || !groups.length) groups.push([]);
    groups.at(-1)!.push(event);
  }
  return groups;
}

function addRefusalNote(notes: Map<number, string>, { candidate, message }: Refusal): void {
  const note = `Workflow ${candidate.workflow.id}: ${message}`;
  const before = notes.get(candidate.sourceId!);
  notes.set(candidate.sourceId!, before === undefined ? note : `${before}; ${note}`);
}

/** The runs that an event starts, with a record of the triggers that start none. */
async function findCandidates(
  context: Context,
  event: RunEvent,
  depth: number,
  { triggers, contacts, log }: Pick<Listeners, 'triggers'> & { contacts: Map<number, ContactRecord>; log: HandlingLog },
): Promise<RunCandidate[]> {
  const cause: RunCause = {
    ...toEventCause(event, event.contact_id === null ? null : (contacts.get(event.contact_id) ?? null)),
    key: `event:${event.id}`,
    source: 'event',
    sourceId: event.id,
    depth,
  };
  const candidates: RunCandidate[] = [];
  for (const trigger of triggers.get(`contact_event:${event.type}`) ?? []) {
    const decision = await decideTrigger(context, trigger, cause);
    if (decision.kind === 'starts') candidates.push(decision.candidate);
    else log.addDecision(event.id, trigger.id, decision);
  }
  return candidates;
}
