import type { ContactValues } from '../../../contacts/contacts/contact.ts';
import { toStoredText } from '../incoming-change.ts';
import { contactText } from '../contact-text.ts';
import type { MappedField } from '../mapped-fields.ts';

export interface OutgoingContact {
  contact: ContactValues;
  /** The outbound fields. */
  fields: MappedField[];
  /** The record's values by field when it was last read or pushed. */
  seen: Record<string, string>;
  /** The record's current values by the provider's field. */
  remote: Record<string, string>;
  defaultCountry: string;
}

/**
 * The values that a push sends, and the fields that the record then has from the contact. A bidirectional field that only the provider has
 * changed is left to the next sync, and no field is emptied whose value did not come from the contact.
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
