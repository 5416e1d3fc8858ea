import { cleanLine } from '../../contacts/clean-text.ts';
import type { Contact, ContactChange } from '../../contacts/contact.ts';
import { firstUsablePhone } from '../../contacts/phone-numbers.ts';
import { readChange, type FieldReading } from '../../contacts/read-fields.ts';
import { ContactBody } from '../../contacts/schemas.ts';
import type { MappedField } from './mapped-fields.ts';
import { localText, splitTags } from './local-text.ts';
import type { SourceRecord } from './source.ts';

export interface Incoming {
  record: Pick<SourceRecord, 'values' | 'modifiedAt'>;
  /** Those that are read. */
  fields: MappedField[];
  /** By field what the record had when it was read or pushed last; null: it is new to us. */
  seen: Record<string, string> | null;
  /** The contact that it is, as far as it is known. */
  contact: Contact | null;
  defaultCountry: string;
}

/**
 * What a record changes of its contact: the fields in which it differs from what it had last. Where both sides have changed a
 * bidirectional field, the later change stays; the provider's does where it does not say when it was made.
 */
export function incomingChange({ record, fields, seen, contact, defaultCountry }: Incoming): FieldReading {
  const wanted: Record<string, unknown> = {};
  const custom: [string, string | null][] = [];
  for (const { field, direction } of fields) {
    const now = record.values[field] ?? '';
    const before = seen?.[field] ?? '';
    if (now === before) continue;
    const local = contact === null ? null : localText(contact, field);
    const isLocallyChanged = local !== null && local !== asStored(field, before, defaultCountry);
    const isLocalLater = contact !== null && record.modifiedAt !== null && contact.updated_at > record.modifiedAt;
    if (direction === 'bidirectional' && isLocallyChanged && isLocalLater) continue;
    const key = customKey(field);
    if (key !== undefined) custom.push([key, now || null]);
    else if (field === 'tags') wanted['tags'] = splitTags(now);
    else wanted[field] = field === 'phone' && now !== '' ? phoneIn(now, defaultCountry) : now || null;
  }
  if (custom.length > 0) wanted['custom_fields'] = Object.fromEntries(custom);
  const parsed = ContactBody.safeParse(wanted);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    const field = String(path[0] ?? '');
    return { problem: { field, code: `invalid_${field}`, detail: `${path.join('.')}: ${message}` } };
  }
  const reading = readChange(parsed.data, defaultCountry);
  return 'change' in reading ? { change: withOwnTags(reading.change, splitTags(seen?.['tags'] ?? '')) } : reading;
}

/** Tags that did not come from the record stay. */
function withOwnTags({ tags, ...change }: ContactChange, before: string[]): ContactChange {
  return tags === undefined ? change : { ...change, add_tags: tags, remove_tags: before.filter((tag) => !tags.includes(tag)) };
}

const customKey = (field: string): string | undefined => (field.startsWith('custom_fields.') ? field.slice(14) : undefined);

/** A cell may hold several numbers; what is no number at all is refused by its own words. */
function phoneIn(text: string, defaultCountry: string): string {
  const reading = firstUsablePhone(text, defaultCountry);
  return 'phone' in reading ? reading.phone : text;
}

/** The text of a contact that has taken over what a record has. */
export function asStored(field: string, text: string, defaultCountry: string): string {
  if (field === 'phone') return text === '' ? '' : phoneIn(text, defaultCountry);
  if (field === 'tags') return splitTags(text).join(', ');
  return customKey(field) === undefined ? cleanLine(text) : text;
}
