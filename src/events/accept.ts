import type { Context } from '../accounts/context.ts';
import { contactByPhoneStatements } from '../contacts/contact-by-phone.ts';
import { normalizePhone } from '../contacts/phone-numbers.ts';
import { boundPayload, storePayload } from '../database/payload.ts';
import { announceContactChanges, announceEvent } from '../queues/announce.ts';
import * as store from './store.ts';

/** Events that journeys emit, and runs that they start, nest this deep; beyond it they are stored but trigger nothing. */
export const maximumDepth = 8;
const dataLimitBytes = 256 * 1024;

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

/** Stores an event, with its contact resolved or created, in one call; what it triggers follows from the queue. */
export async function acceptEvent(context: Context, input: NewEvent): Promise<AcceptedEvent> {
  const given = input.phone?.trim() || null;
  const normalized = given === null ? null : normalizePhone(given, context.organization.defaultCountry);
  const phone = normalized && 'phone' in normalized ? normalized.phone : null;
  return storeEvent(context, {
    eventType: input.event_type,
    phone: phone ?? given,
    contact: phone === null ? null : { phone, listName: input.list_name || null },
    data: input.data ?? {},
    senderId: input.event_id ? `sender:${input.event_id}` : null,
    depth: 0,
    occurredAt: input.occurred_at ? Date.parse(input.occurred_at) : null,
  });
}

export interface EmittedEvent {
  event_type: string;
  data: Record<string, unknown>;
  /** Names the step that emits; the same key again stores nothing. */
  key: string;
  contactId: number | null;
  phone: string | null;
  depth: number;
}

/** Stores an event that a journey emits about its own contact. */
export function emitEvent(context: Context, input: EmittedEvent): Promise<AcceptedEvent> {
  return storeEvent(context, {
    eventType: input.event_type,
    phone: input.phone,
    contact: input.contactId,
    data: input.data,
    senderId: `step:${input.key}`,
    depth: input.depth,
    occurredAt: null,
  });
}

interface EventToStore extends Omit<store.EventRow, 'data' | 'contact' | 'note' | 'createdAt'> {
  contact: { phone: string; listName: string | null } | number | null;
  data: Record<string, unknown>;
}

async function storeEvent(context: Context, event: EventToStore): Promise<AcceptedEvent> {
  const now = context.clock();
  const json = JSON.stringify(event.data);
  boundPayload(json, dataLimitBytes, ['body', 'data']);
  const data = await storePayload(context.bindings.FILES, () => `${context.organization.id}/events/${crypto.randomUUID()}`, json);
  const note = event.depth > maximumDepth ? `Stored without triggering: journeys may set off each other ${maximumDepth} deep` : null;
  const isPhone = event.contact !== null && typeof event.contact === 'object';
  const contactStatements = isPhone
    ? contactByPhoneStatements(context, event.contact as { phone: string; listName: string | null }, {
        tags: ['event'],
        unless: event.senderId === null ? null : store.senderKnown(context.organization.id, event.senderId),
      })
    : [];
  const contact = isPhone ? { phone: event.phone! } : (event.contact as number | null);
  const answer = await store.insertEvent(context.database, context.organization.id, contactStatements, {
    ...event,
    contact,
    data,
    note,
    createdAt: now,
  });
  if (!answer.isRepeat && note === null) announceEvent(context, 'event', answer.id);
  if (answer.hasContactChanges) announceContactChanges(context);
  return answer;
}
