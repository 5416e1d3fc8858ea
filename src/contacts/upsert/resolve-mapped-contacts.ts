import type { Context } from '../../context.ts';
import type { MappedContact } from './mapped-contact.ts';
import { readMappedContact, upsertOnList, withReadablePhone } from './mapped-contact.ts';
import { resolveMappedContact } from './resolve-mapped-contact.ts';
import type { UpsertRow } from './resolve-existing.ts';
import { upsertRows } from './write.ts';

interface Waiting {
  index: number;
  contact: MappedContact;
}

/**
 * As `resolveMappedContact` of each, one after the other, with their ids in the same order. A fixed number of calls to the database, and one more
 * for each contact that has an e-mail address alone.
 */
export async function resolveMappedContacts(
  context: Context,
  mapped: MappedContact[],
  listName: string | null,
): Promise<(number | null)[]> {
  const contacts = mapped.map((one) => withReadablePhone(context, one));
  const ids = new Map<number, number>();
  let waiting = contacts.flatMap((contact, index) => (hasKey(contact) ? [{ index, contact }] : []));
  // Those that are refused are tried once more, with less.
  for (let tries = 0; tries < 2 && waiting.length > 0; tries++) waiting = await upsertAll(context, waiting, listName, ids);
  const resolved: (number | null)[] = [];
  for (const [index, contact] of contacts.entries())
    resolved.push(hasKey(contact) ? (ids.get(index) ?? null) : await resolveMappedContact(context, contact, listName));
  return resolved;
}

const hasKey = ({ phone, external_id: externalId }: MappedContact): boolean => phone !== undefined || externalId !== undefined;

/** Upserts what can be upserted, notes its ids, and answers what may be tried again with less. */
async function upsertAll(context: Context, waiting: Waiting[], listName: string | null, ids: Map<number, number>): Promise<Waiting[]> {
  const refused = new Map<number, string>();
  const rows: UpsertRow[] = [];
  for (const { index, contact } of waiting) {
    const reading = readMappedContact(context, contact);
    if ('change' in reading) rows.push({ index, change: reading.change });
    else refused.set(index, 'invalid');
  }
  const { people, failures } = await upsertOnList(context, listName, (list) => upsertRows(context, list, rows));
  for (const { index, code } of failures) refused.set(index, code);
  const byPhone = new Map(people.map(({ contact }) => [contact.phone, contact.id]));
  const byExternalId = new Map(people.map(({ contact }) => [contact.external_id, contact.id]));
  for (const { index, change } of rows) {
    if (refused.has(index)) continue;
    const id =
      (change.phone ? byPhone.get(change.phone) : undefined) ?? (change.external_id ? byExternalId.get(change.external_id) : undefined);
    if (id !== undefined) ids.set(index, id);
  }
  return waiting.flatMap(({ index, contact }) => {
    const code = refused.get(index);
    const less = code === undefined ? null : withLess(contact, code);
    return less === null ? [] : [{ index, contact: less }];
  });
}

/** What of a refused contact may be written: where phone and external id belong to two contacts, the phone decides. Null: nothing. */
function withLess({ external_id: externalId, ...contact }: MappedContact, code: string): MappedContact | null {
  if (contact.phone === undefined || code === 'contact_limit_reached') return null;
  if (code === 'identity_conflict' || code === 'conflict') return externalId === undefined ? null : contact;
  return { phone: contact.phone };
}
