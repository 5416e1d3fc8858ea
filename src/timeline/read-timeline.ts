import { withCallSlots } from '../calls/rpc.ts';
import type { Context } from '../context.ts';
import type { ContactDecision } from '../contact-policy/decide-contact.ts';
import { type CallsFrom, decideNextContact } from '../contact-policy/next-contact.ts';
import type { Channel } from '../contact-policy/policy.ts';
import { findContacts } from '../contacts/contacts/find-contacts.ts';
import { findSuppressedPhones } from '../contacts/suppressions/suppressions.ts';
import { notFound } from '../library/errors.ts';
import { toOnePersonSpelling } from '../library/phone/one-person.ts';
import { decodePlace, encodePlace, type TimelinePlace } from './cursor.ts';
import * as store from './store.ts';

/** One thing of a timeline. */
export interface TimelineItem extends store.TimelineRow {
  kind: store.TimelineKind;
}

export interface Timeline {
  items: TimelineItem[];
  nextCursor: string | null;
  /** What would be decided now about a call and a message. */
  next: Record<Channel, ContactDecision>;
}

/**
 * A page of all that happened to a contact, newest first, and when the contact may be called or written to next. Of each kind, at most one row
 * more than the page has is read. Throws 404, and 422 for a foreign cursor.
 */
export async function readTimeline(
  context: Context,
  contactId: number,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<Timeline> {
  const { database, organization, clock } = context;
  const place = decodePlace(cursor);
  const contact = (await findContacts(context, [contactId])).get(contactId);
  if (!contact) throw notFound('Contact');
  const phone = contact.phone && toOnePersonSpelling(contact.phone);
  const statements = store.timelineKinds.map((kind) =>
    store.selectTimelineRows(
      database,
      organization.id,
      kind,
      { contactId, phone: phone || null },
      { behind: place[kind], limit: limit + 1, now: clock() },
    ),
  );
  const [found, next] = await Promise.all([database.batch(statements), decideNext(context, contact.phone || null)]);
  const rows = store.timelineKinds.flatMap((kind, index) => found[index]!.map(toItem(kind)));
  const sorted = rows.toSorted((one, other) => other.at - one.at || one.kind.localeCompare(other.kind) || other.id - one.id);
  const items = sorted.slice(0, limit);
  return { items, nextCursor: sorted.length > limit ? encodePlace(placeBehind(place, items)) : null, next };
}

const toItem =
  (kind: store.TimelineKind) =>
  (row: store.TimelineRow): TimelineItem => ({ kind, ...row });

/** Rows of a kind whose moments are out of order with their ids are passed over with the one of the lowest id. */
function placeBehind(place: TimelinePlace, items: TimelineItem[]): TimelinePlace {
  const next = { ...place };
  for (const { kind, at, id } of items) {
    const known = next[kind];
    if (!known || id < known.id || at < known.at) next[kind] = { at, id };
  }
  return next;
}

async function decideNext(context: Context, contactPhone: string | null): Promise<Record<Channel, ContactDecision>> {
  if (contactPhone === null) {
    const never: ContactDecision = { kind: 'never', rule: 'no_phone', detail: 'the contact has no phone' };
    return { call: never, message: never };
  }
  const phone = toOnePersonSpelling(contactPhone);
  const suppressed = (await findSuppressedPhones(context, [phone])).get(phone);
  if (suppressed === undefined) return decideNextContact(context, phone, await findCallsFrom(context, contactPhone));
  const never: ContactDecision = { kind: 'never', rule: 'suppressed', detail: `the number is suppressed (${suppressed})` };
  return { call: never, message: never };
}

/** From when on the hours between two calls allow a call to the number; null: at any time. The call slots, which keep them, go by its spelling. */
async function findCallsFrom({ bindings, organization }: Context, phone: string): Promise<CallsFrom | null> {
  const hours = organization.minHoursBetweenCalls;
  if (hours === 0) return null;
  const moment = await withCallSlots(bindings, organization.id, (slots) => slots.getNextCallAllowedAt(phone));
  return {
    moment,
    rule: 'min_hours_between_calls',
    detail: `at least ${hours} ${hours === 1 ? 'hour' : 'hours'} between two calls to a person`,
  };
}
