import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import { parseFields } from './parse-fields.ts';
import { toContactRecord, type ContactRecord } from './records.ts';
import type { ContactFields } from './schemas.ts';
import { writeChange } from './write-change.ts';

/** Absent fields stay, null clears, custom_fields merge key by key, tags are replaced. */
export async function updateContact(context: Context, id: number, fields: ContactFields): Promise<ContactRecord> {
  const change = parseFields(fields, context.organization.defaultCountry, 'body');
  const contact = await writeChange(context, id, change, 0, 'body');
  if (!contact) throw notFound('Contact');
  return toContactRecord(contact);
}
