import type { Context } from '../accounts/context.ts';
import { isServiceError } from '../library/errors.ts';
import { normalizePhone } from './phone-numbers.ts';
import { contactIdByEmail } from './find-contacts.ts';
import { upsertContact } from './upsert.ts';

export interface MappedContact {
  phone?: string;
  email?: string;
  first_name?: string;
  last_name?: string;
  external_id?: string;
}

/**
 * The contact that a webhook speaks of: by phone, else by external id, created when unknown; with only an e-mail address, the
 * one contact that has it. Null when there is none to find, or the plan's contact limit is reached: the webhook fires anyway.
 */
export async function resolveMappedContact(context: Context, mapped: MappedContact, listName: string | null): Promise<number | null> {
  const normalized = mapped.phone === undefined ? null : normalizePhone(mapped.phone, context.organization.defaultCountry);
  const phone = normalized && 'phone' in normalized ? normalized.phone : undefined;
  const { phone: _given, ...rest } = mapped;
  const contact = phone === undefined ? rest : { ...rest, phone };
  if (phone === undefined && contact.external_id === undefined)
    return contact.email === undefined ? null : contactIdByEmail(context, contact.email);
  try {
    return await upsert(context, contact, listName);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    if (error.code === 'forbidden') return null;
    // Phone and external id belong to two contacts: the phone says who it is.
    const { external_id: _conflicting, ...byPhone } = contact;
    if (error.code === 'conflict' && phone !== undefined && 'external_id' in contact) return upsert(context, byPhone, listName);
    if (error.code === 'invalid' && phone !== undefined) return upsert(context, { phone }, listName);
    return null;
  }
}

async function upsert(context: Context, contact: MappedContact, listName: string | null): Promise<number> {
  return (await upsertContact(context, contact, listName)).contact.id;
}
