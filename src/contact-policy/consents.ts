import type { Context } from '../context.ts';
import { findContacts } from '../contacts/contacts/find-contacts.ts';
import { cutPage, decodeCursor, type Page, type PageResult } from '../http/pagination.ts';
import { invalidAt, notFound } from '../library/errors.ts';
import { toOnePersonSpelling } from '../library/phone/one-person.ts';
import { parseIsoInstant } from '../library/time/instants.ts';
import type { ConsentBody } from './schemas.ts';
import { isDate } from './calendar.ts';
import * as store from './store.ts';

const erasedAtOnce = 500;
const dayMs = 86_400_000;

/**
 * Records what a contact said about being contacted. Throws 404, also when the contact is deleted meanwhile, and 422 for a contact without
 * phone or a moment that is to come.
 */
export async function recordConsent(context: Context, contactId: number, body: ConsentBody, by: number): Promise<store.ConsentRow> {
  const { database, organization, clock } = context;
  const phone = await existingPhone(context, contactId);
  const now = clock();
  const at = toMoment(body, now);
  if (at > now) throw invalidAt(['body', 'at'], 'Is in the future; give the moment when the person said it');
  const { channel, given: isGiven, source, text } = body;
  const consent = { phone, contactId, channel, isGiven, source, text, at, createdBy: by };
  const [[row]] = await database.batchOnce([store.insertConsent(database, organization.id, consent, now)], async ({ changes, rowId }) => [
    changes === 0 ? [] : await database.all(store.selectConsent(database, organization.id, rowId)),
  ]);
  if (!row) throw notFound('Contact');
  return row as store.ConsentRow;
}

/**
 * When a person said it, epoch ms. Of a bare date, which does not tell whether it came before or after what else was said on that day, a consent
 * has the beginning, and a withdrawal the end, so that the withdrawal wins.
 */
function toMoment({ at, given: isGiven }: ConsentBody, now: number): number {
  if (at === undefined) return now;
  const moment = parseIsoInstant(at)!;
  return isGiven || !isDate(at) || moment > now ? moment : Math.min(moment + dayMs - 1, now);
}

async function existingPhone(context: Context, contactId: number): Promise<string> {
  const contact = (await findContacts(context, [contactId])).get(contactId);
  if (!contact) throw notFound('Contact');
  if (!contact.phone)
    throw invalidAt(['path', 'contact_id'], 'The contact has no phone, to which a consent belongs; give it one', 'no_phone');
  return toOnePersonSpelling(contact.phone);
}

/** One page of the consents of a contact, newest first. Throws 404. */
export async function listConsents(context: Context, contactId: number, page: Page): Promise<PageResult<store.ConsentRow>> {
  if (!(await findContacts(context, [contactId])).size) throw notFound('Contact');
  const { database, organization } = context;
  const { limit, offset } = page;
  const statements = store.selectConsentPage(database, organization.id, contactId, {
    limit,
    offset,
    before: decodeCursor(page.cursor)?.id,
  });
  const [rows, counted] = await database.batch(statements);
  return { ...cutPage(rows, limit, ({ id }) => ({ value: null, id })), total: counted[0]!.total };
}

/**
 * Erases a page of the consents of a deleted contact. A withdrawal that is in force stays, with the number alone, so that the person is not
 * contacted when the number is imported again. True: none is left.
 */
export async function eraseConsents({ database, organization }: Context, contactId: number): Promise<boolean> {
  const erased = (await database.batch(store.eraseConsents(database, organization.id, contactId, erasedAtOnce), 'idempotent'))[2];
  return erased.length < erasedAtOnce;
}
