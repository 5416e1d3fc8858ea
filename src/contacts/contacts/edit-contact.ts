import type { Context } from '../../context.ts';
import { invalid } from '../../library/errors.ts';
import { toIssues } from '../../library/json/zod-issues.ts';
import { parseFields } from './parse-fields.ts';
import { toContactRecord, type ContactRecord } from './records.ts';
import { ContactBody } from './schemas.ts';
import { writeChange } from './write-change.ts';

/** What a journey does to its contact. Keys of `set` are standard fields or `custom_fields.<key>`; null clears. */
export interface ContactEdit {
  set?: Record<string, unknown>;
  add_tags?: string[];
  remove_tags?: string[];
}

const customFieldPattern = /^custom_fields\.(.+)$/s;

/**
 * Answers the contact as it became; null when there is none. The same edit again writes nothing. `depth` is how many journeys
 * deep the write is. Throws 422 for values that cannot be used, 409 when phone or external id are another's.
 */
export async function editContact(
  context: Context,
  id: number,
  edit: ContactEdit,
  { depth }: { depth: number },
): Promise<ContactRecord | null> {
  const fields: Record<string, unknown> = {};
  const customFields: [string, unknown][] = [];
  for (const [name, value] of Object.entries(edit.set ?? {})) {
    const key = customFieldPattern.exec(name)?.[1];
    if (key === undefined) fields[name] = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    else customFields.push([key, value]);
  }
  if (customFields.length) fields.custom_fields = Object.fromEntries(customFields);
  const parsed = ContactBody.safeParse(fields);
  if (!parsed.success) throw invalid(toIssues(parsed.error, ['set']));
  const change = parseFields(parsed.data, context.organization.defaultCountry, 'set');
  const tags = { add_tags: edit.add_tags ?? [], remove_tags: edit.remove_tags ?? [] };
  const contact = await writeChange(context, id, { ...change, ...tags }, depth, 'set');
  return contact && toContactRecord(contact);
}
