import type { Context } from '../../accounts/context.ts';
import { editableColumns, standardFields } from '../../contacts/custom-field-keys.ts';
import { maximumCustomFieldKeyLength } from '../../contacts/schemas.ts';

const customPrefix = 'custom_fields.';

/** Whether a mapping may have it as a key. A custom field need not exist yet. */
export function isContactField(name: string): boolean {
  if (standardFields.includes(name)) return true;
  const key = name.startsWith(customPrefix) ? name.slice(customPrefix.length) : '';
  return key.trim() !== '' && key.length <= maximumCustomFieldKeyLength;
}

export const whatContactFieldsAre = `${standardFields.join(', ')} or ${customPrefix}{key}`;

/** What can be mapped: the standard fields, then every custom one that was ever written. */
export async function contactFields(context: Context): Promise<string[]> {
  const columns = await editableColumns(context);
  return columns.map(({ key, standard }) => (standard ? key : customPrefix + key));
}

export const customFieldOf = (key: string): string => customPrefix + key;
