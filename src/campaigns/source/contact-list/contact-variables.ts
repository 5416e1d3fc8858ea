import type { ContactRecord } from '../../../contacts/contacts/records.ts';
import { toSnakeCaseKey } from '../../../contacts/import/header-key.ts';

const standardFields = ['first_name', 'last_name', 'email', 'company', 'title', 'external_id'] as const;

/** A contact's fields as a call's variables: the standard ones, empty where it has none, and each custom field as templates can write it. */
export function toContactVariables(
  contact: Pick<ContactRecord, (typeof standardFields)[number] | 'custom_fields'>,
): Record<string, unknown> {
  const variables: Record<string, unknown> = Object.fromEntries(standardFields.map((field) => [field, contact[field] ?? '']));
  for (const [key, value] of Object.entries(contact.custom_fields)) {
    const name = toSnakeCaseKey(key) || key;
    if (!Object.hasOwn(variables, name)) variables[name] = value;
  }
  return variables;
}
