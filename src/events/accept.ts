import type { Context } from '../context.ts';
import { ensureContactByPhoneStatements } from '../contacts/contacts/by-phone.ts';
import { normalizePhone } from '../library/phone/phone-numbers.ts';
import { requirePayloadSize, storePayload } from '../database/payload.ts';
import { newRequestKey } from '../database/request-key.ts';
import { depthOf, maxLineageDepth } from '../library/lineage.ts';
import { enqueueContactChanges, enqueueEvent } from '../outbox/enqueue.ts';
import * as store from './store.ts';

const maxDataBytes = 256 * 1024;

export interface NewEvent {
  event_type: string;
  phone?: string | null | undefined;
  list_name?: string | null | undefined;
  data?: Record<string, unknown> | null | undefined;
  event_id?: string | null | undefined;
  occurred_at?: string | null | undefined;
}

export interface AcceptedEvent {
  id: number;
  contactId: number | null;
  isRepeat: boolean;
}

/**
 * Stores an event and finds or creates its contact, in one call to the database. Journeys start later, from the queue. The same
 * `event_id` again stores nothing and answers the first event. Throws 413 for `data` over 256 KiB.
 *
 * @example await acceptEvent(context, { event_type: 'order_placed', phone: '(415) 555-0123', data: { total: 129.5 }, event_id: 'order-1001' })
 */
export async function acceptEvent(context: Context, input: NewEvent): Promise<AcceptedEvent> {
  const given = input.phone?.trim() || null;
  const normalized = given === null ? null : normalizePhone(given, context.organization.defaultCountry);
  const phone = normalized && 'phone' in normalized ? normalized.phone : null;
  return storeEvent(context, {
    eventType: input.event_type,
    phone: phone ?? given,
    contact: phone === null ? null : { phone, listName: input.list_name || null },
    data: input.data ?? {},
    senderId: input.event_id ? `sender:${input.event_id}` : newRequestKey(),
    depth: 0,
    occurredAt: input.occurred_at ? Date.parse(input.occurred_at) : null,
  });
}

export interface EmittedEvent {
  event_type: string;
  data: Record<string, unknown>;
  /** The key of the emitting step; the same key again stores nothing. */
  key: string;
  contactId: number | null;
  phone: string | null;
  depth: number;
}

/** Stores an event that a journey emits about its contact. Repeatable. */
export function emitEvent(context: Context, input: EmittedEvent): Promise<AcceptedEvent> {
  return storeEvent(context, {
    eventType: input.event_type,
    phone: input.phone,
    contact: input.contactId === null ? null : { id: input.contactId },
    data: input.data,
    senderId: `step:${input.key}`,
    depth: input.depth,
    occurredAt: null,
  });
}

interface EventToStore extends Omit<store.NewEventRow, 'data' | 'contact' | 'note' | 'createdAt'> {
  /** The contact by phone is found or created; the contact by id must exist. */
  contact: { phone: string; listName: string | null } | { id: number } | null;
  data: Record<string, unknown>;
}

async function storeEvent(context: Context, event: EventToStore): Promise<AcceptedEvent> {
  const { organization, database, bindings, clock } = context;
  const json = JSON.stringify(event.data);
  requirePayloadSize(json, maxDataBytes, ['body', 'data']);
  const data = await storePayload(bindings.FILES, () => `${organization.id}/events/${crypto.randomUUID()}`, json);
  const note =
    depthOf(event.depth) > maxLineageDepth ? `Stored without triggering: journeys may set off each other ${maxLineageDepth} deep` : null;
  const { contact, senderId } = event;
  const unless = store.senderKnownCondition(organization.id, senderId);
  const before = contact && 'phone' in contact ? ensureContactByPhoneStatements(context, { ...contact, tags: ['event'] }, unless) : [];
  const answer = await store.insertEvent(database, organization.id, before, { ...event, data, note, createdAt: clock() });
  if (!answer.isRepeat && note === null) enqueueEvent(context, 'event', answer.id);
  if (answer.hasContactChanges) enqueueContactChanges(context);
  return answer;
}
