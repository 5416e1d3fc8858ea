import type { Context } from '../../accounts/context.ts';
import { contactsStatement, recordOfRow } from '../../contacts/find-contacts.ts';
import type { ContactRecord } from '../../contacts/records.ts';
import { resolvePayloads } from '../../database/payload.ts';
import { markEventsHandled, unhandledEvents, type EventToHandle } from '../../events/outbox.ts';
import { toTimestamp } from '../../library/clock.ts';
import { startRuns, type Candidate } from '../runs/start.ts';
import { candidateOf, type TriggerCause } from './match.ts';
import { portionsOf } from './portions.ts';
import { armedByTopics, type ArmedTrigger } from './store.ts';

/**
 * Starts the runs that accepted events ask for and marks the events as handled. Repeatable at any point: runs are keyed by
 * event and trigger, and the mark is the last thing written. Four D1 calls for a batch of ordinary payloads.
 */
export async function handleEvents(context: Context, ids: number[]): Promise<void> {
  const { database, organization } = context;
  const events = await unhandledEvents(context, ids);
  if (!events.length) return;
  const types = [...new Set(events.map((event) => event.event_type))];
  const contactIds = [...new Set(events.flatMap((event) => event.contact_id ?? []))];
  const [triggers, contacts] = await database.batch([
    armedByTopics(
      database,
      organization.id,
      types.map((type) => `contact_event:${type}`),
    ),
    contactsStatement(context, contactIds),
  ]);
  const byTopic = Map.groupBy(triggers as unknown as (ArmedTrigger & { topic: string })[], (trigger) => trigger.topic);
  if (byTopic.size) {
    const contactsById = new Map(contacts!.map(recordOfRow).map((contact) => [contact.id, contact]));
    const matched = events.filter((event) => byTopic.has(`contact_event:${event.event_type}`));
    for (const portion of portionsOf(matched, (event) => event.data))
      await startRuns(context, await candidatesOf(context, portion, byTopic, contactsById));
  }
  await markEventsHandled(context, events);
}

async function candidatesOf(
  context: Context,
  events: EventToHandle[],
  triggersByTopic: Map<string, ArmedTrigger[]>,
  contacts: Map<number, ContactRecord>,
): Promise<Candidate[]> {
  const payloads = await resolvePayloads(
    context.bindings.FILES,
    events.map((event) => event.data),
  );
  return events.flatMap((event, index) => {
    const data = payloads[index] as Record<string, unknown>;
    const cause: TriggerCause = {
      key: `event:${event.id}`,
      contact: event.contact_id === null ? null : (contacts.get(event.contact_id) ?? null),
      event: { id: event.id, type: event.event_type, data, created_at: toTimestamp(event.created_at) },
      webhook: null,
      source: 'event',
      sourceId: event.id,
      initialContext: data,
      depth: event.depth,
    };
    const triggers = triggersByTopic.get(`contact_event:${event.event_type}`) ?? [];
    return triggers.flatMap((trigger) => candidateOf(context, trigger, cause) ?? []);
  });
}
