import type { ContactValues } from '../../../contacts/contacts/contact.ts';
import { toStoredText } from '../incoming-change.ts';
import { contactText } from '../contact-text.ts';
import type { MappedField } from '../mapped-fields.ts';

export interface OutgoingContact {
  contact: ContactValues;
  /** Those that are pushed. */
  fields: MappedField[];
  /** By field what the record had when it was read or pushed last. */
  seen: Record<string, string>;
  /** By the provider's field what the record has now. */
  remote: Record<string, string>;
  defaultCountry: string;
}

/**
 * What a push sends, and the fields of the contact that the record then has from us. A bidirectional field that has changed at the provider
 * alone is left to the next sync, and a record is not emptied of what did not come from us.
 */
export function toOutgoingFields({ contact, fields, seen, remote, defaultCountry }: OutgoingContact): {
  send: Record<string, string>;
  pushed: MappedField[];
} {
  const send: Record<string, string> = {};
  const pushed: MappedField[] = [];
  for (const mapped of fields) {
    const { field, external, direction } = mapped;
    const local = contactText(contact, field);
    const [before, now] = [seen[field] ?? '', remote[external] ?? ''];
    const isLocallySame = local === toStoredText(field, before, defaultCountry);
    if (direction === 'bidirectional' && now !== before && isLocallySame) continue;
    if (local === '' && before === '') continue;
    pushed.push(mapped);
    if (local !== toStoredText(field, now, defaultCountry)) send[external] = local;
  }
  return { send, pushed };
}
