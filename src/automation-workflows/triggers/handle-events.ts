import type { Context } from '../../accounts/context.ts';
import { contactsStatement, recordOfRow } from '../../contacts/find-contacts.ts';
import type { ContactRecord } from '../../contacts/records.ts';
import { markEventsHandled, unhandledEvents } from '../../events/outbox.ts';
import { offeredEvents } from '../runs/earlier-events.ts';
import { exitTopicsStatement, type ExitTopic } from '../runs/exit-store.ts';
import { flatMapInTurn } from '../../library/flat-map-in-turn.ts';
import { noteFailedParts, type FailedPart } from '../../queues/failed-messages.ts';
import type { Candidate, Refusal } from '../runs/candidate.ts';
import { startRuns } from '../runs/start.ts';
import type { OfferedEvent } from '../runs/surroundings.ts';
import { waiterFieldsStatement, type WaiterField } from '../runs/waiter-store.ts';
import { causeOf, exitRuns } from './exit-runs.ts';
import { candidateOf, type TriggerCause } from './match.ts';
import { portionsOf } from './portions.ts';
import { armedByTopics, type ArmedTrigger } from './store.ts';
import { wakeWaiters } from './wake-waiters.ts';

/**
 * Does what accepted events ask for and marks them as handled: starts runs, ends runs by `exit_on`, wakes runs that wait.
 * Repeatable at any point: runs are keyed by event and trigger, a run takes an event once, and the mark is the last thing
 * written. A run that cannot be reached holds up nothing else: what failed with it is tried again with the event and, once the queue tries it
 * for the last time, on its own. Six D1 calls at most for a batch of ordinary payloads, four when nobody waits for them.
 */
export async function handleEvents(context: Context, ids: number[], isLastTry = false): Promise<void> {
  const { database, organization } = context;
  const events = await unhandledEvents(context, ids);
  if (!events.length) return;
  const types = [...new Set(events.map((event) => event.event_type))];
  const contactIds = [...new Set(events.flatMap((event) => event.contact_id ?? []))];
  const [triggers, contactRows, exits, fields] = await database.batch([
    armedByTopics(
      database,
      organization.id,
      types.map((type) => `contact_event:${type}`),
    ),
    contactsStatement(context, contactIds),
    exitTopicsStatement(database, organization.id, types),
    waiterFieldsStatement(database, organization.id, types),
  ]);
  const listeners: Listeners = {
    triggers: Map.groupBy(triggers as unknown as (ArmedTrigger & { topic: string })[], (trigger) => trigger.topic),
    exits: exits as unknown as ExitTopic[],
    fields: fields as unknown as WaiterField[],
  };
  const contacts = new Map(contactRows!.map(recordOfRow).map((contact) => [contact.id, contact]));
  const heard = events.filter((event) => isHeard(listeners, event.event_type));
  const notes = new Map<number, string>();
  const failed: FailedPart[] = [];
  const unstarted: unknown[] = [];
  for (const portion of portionsOf(heard, (event) => event.data)) {
    const offered = await offeredEvents(context, portion);
    const depths = new Map(portion.map((event) => [event.id, event.depth]));
    for (const group of inOrder(offered, listeners)) {
      // An event may end a run and start the next of the same key; and a run that one event starts, a later one may end.
      failed.push(...(await exitRuns(context, group, listeners.exits, contacts)));
      const candidates = await flatMapInTurn(group, (event) =>
        candidatesOf(context, event, depths.get(event.id)!, listeners.triggers, contacts),
      );
      const started = await startRuns(context, candidates);
      unstarted.push(...started.unstarted);
      for (const refusal of started.refused) noteRefusal(notes, refusal);
      if (candidates.length && group.length > 1) failed.push(...(await exitRuns(context, group, listeners.exits, contacts)));
    }
    failed.push(...(await wakeWaiters(context, offered, listeners.fields)));
  }
  const [first] = [...failed.map(({ error }) => error), ...unstarted];
  if (first !== undefined && !isLastTry) throw first;
  await noteFailedParts(database, failed, context.clock());
  await markEventsHandled(context, events, notes);
}

interface Listeners {
  triggers: Map<string, ArmedTrigger[]>;
  exits: ExitTopic[];
  fields: WaiterField[];
}

const isHeard = ({ triggers, exits, fields }: Listeners, type: string): boolean =>
  triggers.has(`contact_event:${type}`) ||
  exits.some((topic) => topic.event_type === type) ||
  fields.some((field) => field.event_type === type);

/** The events in groups, each of which begins with the next event that both ends runs and starts some. */
function inOrder(events: OfferedEvent[], { triggers, exits }: Listeners): OfferedEvent[][] {
  const groups: OfferedEvent[][] = [];
  for (const event of events) {
    const isTurn = triggers.has(`contact_event:${event.type}`) && exits.some((topic) => topic.event_type === event.type);
    if (isTurn || !groups.length) groups.push([]);
    groups.at(-1)!.push(event);
  }
  return groups;
}

function noteRefusal(notes: Map<number, string>, { candidate, message }: Refusal): void {
  const note = `Workflow ${candidate.workflow.id}: ${message}`;
  const before = notes.get(candidate.sourceId!);
  notes.set(candidate.sourceId!, before === undefined ? note : `${before}; ${note}`);
}

function candidatesOf(
  context: Context,
  event: OfferedEvent,
  depth: number,
  triggersByTopic: Map<string, ArmedTrigger[]>,
  contacts: Map<number, ContactRecord>,
): Promise<Candidate[]> {
  const cause: TriggerCause = {
    ...causeOf(event, event.contact_id === null ? null : (contacts.get(event.contact_id) ?? null)),
    key: `event:${event.id}`,
    source: 'event',
    sourceId: event.id,
    depth,
  };
  return flatMapInTurn(triggersByTopic.get(`contact_event:${event.type}`) ?? [], (trigger) => candidateOf(context, trigger, cause));
}
