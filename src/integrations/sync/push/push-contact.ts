import type { Context } from '../../../context.ts';
import { fullName, type ContactValues } from '../../../contacts/contacts/contact.ts';
import { badRequest, conflict, notFound } from '../../../library/errors.ts';
import type { Books } from '../../../providers/apps/books.ts';
import type { BooksContact } from '../../../providers/apps/books-contact.ts';
import type { AppFailure } from '../../../providers/broker/broker.ts';
import { openBooks } from '../../books/open-books.ts';
import type { BooksData, Integration } from '../../contract.ts';
import { unwrapOutcome } from '../../unwrap-outcome.ts';
import { toStoredText } from '../incoming-change.ts';
import { deleteLinksStatement } from '../links/store.ts';
import { inboundFields, outboundFields, type MappedField } from '../mapped-fields.ts';
import { toOutgoingFields } from './outgoing-fields.ts';
import type { Link } from '../candidate.ts';
import { hashValues, withoutEmpty } from '../plan-page.ts';
import { beginPush, findRecordsOfOthers, releasePush, writeLink } from './store.ts';

export interface Pushed {
  status: 'pushed';
  external_id: string;
  pushed_fields: string[];
}

/** No push takes longer; until then a sync skips the record. */
const pushTtlMs = 60_000;
const maxRounds = 3;

interface Push {
  context: Context;
  integration: Integration;
  adapter: Books;
  fields: MappedField[];
  contact: ContactValues & { id: number };
}

/**
 * Sends the outbound fields of a contact to its linked record, to a record with its phone or e-mail address, or to a new record. Throws
 * 404, also `not_connected`, 400 without an outbound field, 409 before an organization is selected, 403 and 502.
 */
export async function pushContact(context: Context, integration: Integration, contactId: number): Promise<Pushed> {
  const fields = outboundFields(integration);
  requirePushable(integration, fields);
  const adapter = openBooks(context, integration);
  for (let round = 1; round <= maxRounds; round++) {
    const until = context.clock() + pushTtlMs;
    const { contact, link } = await beginPush(context, integration.id, contactId, until);
    if (!contact) throw notFound('Contact');
    const push = { context, integration, adapter, fields, contact };
    try {
      const pushed = link ? await updateRecord(push, link) : await createOrFindRecord(push);
      if (pushed) return pushed;
    } catch (error) {
      await releasePush(context, integration.id, contactId, { until, pushedAt: link?.pushedAt ?? null });
      throw error;
    }
  }
  throw conflict(`The record of contact ${contactId} keeps being changed by others; push it again`);
}

function requirePushable({ id, provider, providerData }: Integration, fields: MappedField[]): void {
  if (provider === 'sheet')
    throw badRequest('The columns of a sheet are read only, so nothing is pushed to it; a journey can write one with a sheet_row node');
  if ((providerData as BooksData).organization_id === undefined)
    throw conflict(`No books organization is selected; select one with POST /integration/${id}/books/organization`);
  if (fields.length === 0)
    throw badRequest(`The field mapping has no outbound or bidirectional field; give one with PUT /integration/${id}/field-mapping`);
}

/** Null: the record is gone. */
async function updateRecord(push: Push, link: Link): Promise<Pushed | null> {
  const { context, integration, adapter, fields, contact } = push;
  const { defaultCountry } = context.organization;
  let pushed: MappedField[] = [];
  const outcome = await adapter.updateContact(link.key, ({ fields: remote }) => {
    const outgoing = toOutgoingFields({ contact, fields, seen: link.seen, remote, defaultCountry });
    pushed = outgoing.pushed;
    return outgoing.send;
  });
  const changed = await unwrapOutcome(context, integration, outcome);
  if ('contact' in changed) return saveLink(push, changed.contact, pushed, link.seen);
  await context.database.all(deleteLinksStatement(context.database, integration.id, [link.key]), 'idempotent');
  return null;
}

/** Null: an existing record was found and linked, and must be updated. */
async function createOrFindRecord(push: Push): Promise<Pushed | null> {
  const { context, integration, adapter, fields, contact } = push;
  const outgoing = toOutgoingFields({ contact, fields, seen: {}, remote: {}, defaultCountry: context.organization.defaultCountry });
  if (Object.keys(outgoing.send).length === 0)
    throw badRequest(`Contact ${contact.id} has nothing in the fields that are pushed: ${fields.map(({ field }) => field).join(', ')}`);
  if (await findRecord(push)) return null;
  // Names are unique in books, but not among people.
  const name = outgoing.send['contact_name'] ?? recordName(contact);
  for (const contact_name of [name, `${name} (${contact.phone ?? contact.email ?? `contact ${contact.id}`})`]) {
    const outcome = await adapter.createContact({ ...outgoing.send, contact_name });
    const made = await unwrapOutcome(context, integration, addRetryAdvice(outcome));
    if ('contact' in made) return saveLink(push, made.contact, outgoing.pushed, {});
    // Another push may have created the record meanwhile.
    if (await findRecord(push, contact_name)) return null;
  }
  throw conflict(`Books has other contacts named "${name}"; give contact ${contact.id} another name, or the one in books`);
}

const recordName = (contact: Push['contact']): string =>
  fullName(contact) || contact.company || contact.email || contact.phone || `Contact ${contact.id}`;

const addRetryAdvice = <Outcome extends object>(outcome: Outcome | AppFailure): Outcome | AppFailure =>
  'outcomeUnknown' in outcome
    ? { ...outcome, message: `${outcome.message}; the record may have been made. Push again: it is looked for first` }
    : outcome;

/** Finds the contact's record by phone or, where one side has none, by e-mail address; without both by `name`. True: it is linked. */
async function findRecord(push: Push, name?: string): Promise<boolean> {
  const { context, integration, adapter, contact } = push;
  // The phone may be formatted differently there, so the record is searched by all known values.
  const texts = [contact.phone, contact.email].flatMap((text) => text ?? []);
  for (const text of texts.length > 0 ? texts : [name ?? []].flat()) {
    const { contacts } = await unwrapOutcome(context, integration, await adapter.findContacts(text));
    const ids = contacts.filter((record) => isSamePerson(push, record, name)).map(({ id }) => id);
    const taken = ids.length > 0 ? await findRecordsOfOthers(context, integration.id, contact.id, ids) : new Set();
    const found = ids.find((id) => !taken.has(id));
    if (found === undefined) continue;
    await writeLink(context, integration.id, { key: found, contactId: contact.id, seenHash: '', seen: {}, pushedAt: null });
    return true;
  }
  return false;
}

function isSamePerson({ context, contact }: Push, { fields }: BooksContact, name: string | undefined): boolean {
  const phones = [fields['phone'], fields['mobile']].flatMap((text) =>
    text ? [toStoredText('phone', text, context.organization.defaultCountry)] : [],
  );
  if (contact.phone !== null && phones.length > 0) return phones.includes(contact.phone);
  if (contact.email !== null && fields['email']) return fields['email'].toLowerCase() === contact.email.toLowerCase();
  return contact.phone === null && contact.email === null && fields['contact_name'] === name;
}

/** Stores the pushed values as seen, so that the next sync does not read them as a change. */
async function saveLink(
  { context, integration, contact }: Push,
  { id, fields }: BooksContact,
  pushed: MappedField[],
  before: Record<string, string>,
): Promise<Pushed> {
  const values = Object.fromEntries(pushed.map(({ field, external }) => [field, fields[external] ?? '']));
  const seen = withoutEmpty({ ...before, ...values });
  const seenHash = hashValues(seen, inboundFields(integration));
  await writeLink(context, integration.id, { key: id, contactId: contact.id, seenHash, seen, pushedAt: context.clock() });
  return { status: 'pushed', external_id: id, pushed_fields: pushed.map(({ field }) => field) };
}
