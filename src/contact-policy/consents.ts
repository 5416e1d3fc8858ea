import type { Context } from '../context.ts';
import { findContacts } from '../contacts/contacts/find-contacts.ts';
import { cutPage, decodeCursor, type Page, type PageResult } from '../http/pagination.ts';
import { invalidAt, notFound } from '../library/errors.ts';
import { toOnePersonSpelling } from '../library/phone/one-person.ts';
import { parseIsoInstant } from '../library/time/instants.ts';
import type { ConsentBody } from './schemas.ts';
import * as store from './store.ts';

const erasedAtOnce = 500;

/** Records what a contact said about being contacted. Throws 404, and 422 for a contact without phone or a moment that is to come. */
export async function recordConsent(context: Context, contactId: number, body: ConsentBody, by: number): Promise<store.ConsentRow> {
  const { database, organization, clock } = context;
  const phone = await existingPhone(context, contactId);
  const now = clock();
  const at = body.at === undefined ? now : parseIsoInstant(body.at)!;
  if (at > now) throw invalidAt(['body', 'at'], 'Is in the future; give the moment when the person said it');
  const { channel, given: isGiven, source, text } = body;
  const consent = { phone, contactId, channel, isGiven, source, text, at, createdBy: by };
  const [[row]] = await database.batchOnce([store.insertConsent(database, organization.id, consent, now)], async () => [
    (await database.batch(store.selectConsentPage(database, organization.id, contactId, { limit: 0, offset: 0, before: undefined })))[0],
  ]);
  return row as store.ConsentRow;
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

/** Erases a page of the consents of a deleted contact. True: none is left. */
export async function eraseConsents({ database, organization }: Context, contactId: number): Promise<boolean> {
  const erased = await database.all(store.deleteConsents(database, organization.id, contactId, erasedAtOnce), 'idempotent');
  return erased.length < erasedAtOnce;
}
