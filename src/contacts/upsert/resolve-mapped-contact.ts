import type { Context } from '../../context.ts';
import type { SqlFragment } from '../../database/sql-fragment.ts';
import { isServiceError } from '../../library/errors.ts';
import { findContactIdByEmail, findContacts } from '../contacts/find-contacts.ts';
import type { ContactRecord } from '../contacts/records.ts';
import { readMappedContact, upsertOnList, withReadablePhone, type MappedContact } from './mapped-contact.ts';
import { noContactQuery, onlyContactWithEmailQuery, unchangedContactQuery, unknownContactQuery } from './unchanged-contact.ts';
import { previewContact, upsertContact } from './upsert-contact.ts';

/**
 * The id of the contact that a webhook names: upserted by phone or external id; with an e-mail address alone, the only contact with that
 * address. Null when no contact is found or the plan's contact limit is reached; the webhook fires anyway.
 */
export const resolveMappedContact = (context: Context, mapped: MappedContact, listName: string | null): Promise<number | null> =>
  resolveWith(context, mapped, {
    byEmail: (id) => id,
    upsert: async (contact) => (await upsertOnList(context, listName, (list) => upsertContact(context, contact, list))).contact.id,
  });

/** As `resolveMappedContact`, without writing: the contact as it would be afterwards. A new contact has the id 0. */
export const previewMappedContact = (context: Context, mapped: MappedContact): Promise<MappedContactPreview | null> =>
  resolveWith<MappedContactPreview>(context, mapped, {
    byEmail: async (id) => ({ contact: (await findContacts(context, [id])).get(id)!, isCreated: false }),
    upsert: (contact) => previewContact(context, contact),
  });

export interface MappedContactPreview {
  contact: ContactRecord;
  isCreated: boolean;
}

interface ResolveActions<Resolved> {
  byEmail(id: number): Resolved | Promise<Resolved>;
  upsert(contact: MappedContact): Promise<Resolved>;
}

/**
 * A subquery of one column, `id`: the contact that `resolveMappedContact` would answer without writing anything. No row when it would
 * write, or may not; null in the row when the webhook names no contact.
 */
export function mappedContactQuery({ organization }: Context, mapped: MappedContact, listName: string | null): SqlFragment {
  const contact = withReadablePhone({ organization }, mapped);
  if (contact.phone === undefined && contact.external_id === undefined)
    return contact.email === undefined ? noContactQuery : onlyContactWithEmailQuery(organization.id, contact.email);
  const reading = readMappedContact({ organization }, contact);
  return 'change' in reading ? unchangedContactQuery(organization.id, reading.change, listName) : unknownContactQuery;
}

async function resolveWith<Resolved>(
  context: Context,
  mapped: MappedContact,
  { byEmail, upsert }: ResolveActions<Resolved>,
): Promise<Resolved | null> {
  const contact = withReadablePhone(context, mapped);
  const { phone } = contact;
  if (phone === undefined && contact.external_id === undefined) {
    const id = contact.email === undefined ? null : await findContactIdByEmail(context, contact.email);
    return id === null ? null : byEmail(id);
  }
  try {
    return await upsert(contact);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    if (error.code === 'forbidden') return null;
    // Phone and external id belong to two contacts: the phone decides.
    const { external_id: _conflicting, ...byPhone } = contact;
    if (error.code === 'conflict' && phone !== undefined && 'external_id' in contact) return orNull(upsert(byPhone));
    if (error.code === 'invalid' && phone !== undefined) return orNull(upsert({ phone }));
    return null;
  }
}

/** What is refused with less, too, such as a new contact at the plan's limit, is no contact: the webhook fires anyway. */
async function orNull<Resolved>(upserted: Promise<Resolved>): Promise<Resolved | null> {
  try {
    return await upserted;
  } catch (error) {
    if (isServiceError(error)) return null;
    throw error;
  }
}
