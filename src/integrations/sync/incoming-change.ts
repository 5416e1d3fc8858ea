import { cleanLine } from '../../library/text/clean-text.ts';
import type { Contact, ContactChange } from '../../contacts/contacts/contact.ts';
import { findFirstPhone } from '../../library/phone/phone-numbers.ts';
import { parseContactChange, type FieldParseResult } from '../../contacts/contacts/parse-fields.ts';
import { ContactBody } from '../../contacts/contacts/schemas.ts';
import type { MappedField } from './mapped-fields.ts';
import { contactText, splitTags } from './contact-text.ts';
import type { SourceRecord } from './source/source.ts';

export interface IncomingRecord {
  record: Pick<SourceRecord, 'values' | 'modifiedAt'>;
  /** The inbound fields. */
  fields: MappedField[];
  /** The record's values by field when it was last read or pushed; null: the record is new. */
  seen: Record<string, string> | null;
  /** The contact of the record; null: unknown. */
  contact: Contact | null;
  defaultCountry: string;
}

/**
 * The change that a record makes to its contact: the fields that differ from `seen`. When both sides have changed a bidirectional field,
 * the later change wins; the record's change wins when its provider gives no time.
 */
export function toIncomingChange({ record, fields, seen, contact, defaultCountry }: IncomingRecord): FieldParseResult {
  const wanted: Record<string, unknown> = {};
  const custom: [string, string | null][] = [];
  for (const { field, direction } of fields) {
    const now = record.values[field] ?? '';
    const before = seen?.[field] ?? '';
    if (now === before) continue;
    const local = contact === null ? null : contactText(contact, field);
    const isLocallyChanged = local !== null && local !== toStoredText(field, before, defaultCountry);
    const isLocalLater = contact !== null && record.modifiedAt !== null && contact.updated_at > record.modifiedAt;
    if (direction === 'bidirectional' && isLocallyChanged && isLocalLater) continue;
    const key = customFieldKey(field);
    if (key !== undefined) custom.push([key, now || null]);
    else if (field === 'tags') wanted['tags'] = splitTags(now);
    else wanted[field] = field === 'phone' && now !== '' ? firstPhone(now, defaultCountry) : now || null;
  }
  if (custom.length > 0) wanted['custom_fields'] = Object.fromEntries(custom);
  const parsed = ContactBody.safeParse(wanted);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    const field = String(path[0] ?? '');
    return { error: { field, code: `invalid_${field}`, detail: `${path.join('.')}: ${message}` } };
  }
  const reading = parseContactChange(parsed.data, defaultCountry);
  return 'change' in reading ? { change: keepOwnTags(reading.change, splitTags(seen?.['tags'] ?? '')) } : reading;
}

/** Keeps tags that did not come from the record. */
function keepOwnTags({ tags, ...change }: ContactChange, before: string[]): ContactChange {
  return tags === undefined ? change : { ...change, add_tags: tags, remove_tags: before.filter((tag) => !tags.includes(tag)) };
}

const customFieldKey = (field: string): string | undefined => (field.startsWith('custom_fields.') ? field.slice(14) : undefined);

/** The first phone number in a cell; a text without any is returned unchanged, and refused later. */
function firstPhone(text: string, defaultCountry: string): string {
  const reading = findFirstPhone(text, defaultCountry);
  return 'phone' in reading ? reading.phone : text;
}

/** The text that a contact has after it has taken over a record's value. */
export function toStoredText(field: string, text: string, defaultCountry: string): string {
  if (field === 'phone') return text === '' ? '' : firstPhone(text, defaultCountry);
  if (field === 'tags') return splitTags(text).join(', ');
  return customFieldKey(field) === undefined ? cleanLine(text) : text;
}
