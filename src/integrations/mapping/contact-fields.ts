import type { Context } from '../../context.ts';
import { listEditableColumns, standardFields } from '../../contacts/contacts/custom-fields.ts';
import { maxCustomFieldKeyLength } from '../../contacts/contacts/schemas.ts';

const customPrefix = 'custom_fields.';

/** Whether a mapping may have this key. A custom field need not exist yet. */
export function isContactField(name: string): boolean {
  if (standardFields.includes(name)) return true;
  const key = name.startsWith(customPrefix) ? name.slice(customPrefix.length) : '';
  return key.trim() !== '' && key.length <= maxCustomFieldKeyLength;
}

export const contactFieldsHint = `${standardFields.join(', ')} or ${customPrefix}{key}`;

/** The fields that can be mapped: the standard ones, then all custom fields of the organization. */
export async function listContactFields(context: Context): Promise<string[]> {
  const columns = await listEditableColumns(context);
  return columns.map(({ key, standard }) => (standard ? key : customPrefix + key));
}

export const toCustomField = (key: string): string => customPrefix + key;
