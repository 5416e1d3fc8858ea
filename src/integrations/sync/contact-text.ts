import { cleanLine } from '../../library/text/clean-text.ts';
import { textFields, type ContactValues } from '../../contacts/contacts/contact.ts';

/** The text of a contact's mapped field; empty: the field has no value. */
export function contactText(contact: ContactValues, field: string): string {
  const standard = textFields.find((name) => name === field);
  if (standard !== undefined) return contact[standard] ?? '';
  if (field === 'tags') return contact.tags.join(', ');
  const value = contact.custom_fields[field.replace(/^custom_fields\./, '')];
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
}

export const splitTags = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,;|\n]/)
      .map(cleanLine)
      .filter((tag) => tag !== ''),
  ),
];
