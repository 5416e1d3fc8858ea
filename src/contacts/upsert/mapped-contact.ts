import { isLimitReached } from '../../accounts/organizations/plan-limits.ts';
import type { Context } from '../../context.ts';
import { normalizePhone } from '../../library/phone/phone-numbers.ts';
import type { FieldParseResult } from '../contacts/parse-fields.ts';
import { parseRow } from './parse-input.ts';

/** The contact that a webhook names. */
export interface MappedContact {
  phone?: string;
  email?: string;
  first_name?: string;
  last_name?: string;
  external_id?: string;
}

/** The contact without a phone that no phone number can be read from, else with the phone in E.164. */
export function withReadablePhone(
  { organization }: Pick<Context, 'organization'>,
  { phone: given, ...rest }: MappedContact,
): MappedContact {
  const reading = given === undefined ? null : normalizePhone(given, organization.defaultCountry);
  return reading && 'phone' in reading ? { ...rest, phone: reading.phone } : rest;
}

/** The change that an upsert of the contact makes; its error when the fields cannot be stored. */
export const readMappedContact = ({ organization }: Pick<Context, 'organization'>, contact: MappedContact): FieldParseResult =>
  parseRow(contact, organization.defaultCountry);

/** Writes with the list; at the plan's limit of lists without it. */
export async function upsertOnList<Result>(
  context: Context,
  listName: string | null,
  upsert: (listName: string | null) => Promise<Result>,
): Promise<Result> {
  try {
    return await upsert(listName);
  } catch (error) {
    if (!isLimitReached(error, 'max_lists')) throw error;
    context.log.warn("a webhook's contact is put on no list", { list_name: listName, message: (error as Error).message });
    return upsert(null);
  }
}
