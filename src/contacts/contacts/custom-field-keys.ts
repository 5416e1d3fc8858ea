import type { Context } from '../../context.ts';
import type { FieldType } from './field-types.ts';
import { findCustomFieldKeys } from './store.ts';

export interface EditableColumn {
  key: string;
  label: string;
  type: FieldType | 'phone' | 'email';
  standard: boolean;
}

const standardColumns: EditableColumn[] = [
  { key: 'phone', label: 'Phone', type: 'phone', standard: true },
  { key: 'email', label: 'E-mail', type: 'email', standard: true },
  { key: 'external_id', label: 'External id', type: 'string', standard: true },
  { key: 'first_name', label: 'First name', type: 'string', standard: true },
  { key: 'last_name', label: 'Last name', type: 'string', standard: true },
  { key: 'company', label: 'Company', type: 'string', standard: true },
  { key: 'title', label: 'Job title', type: 'string', standard: true },
  { key: 'tags', label: 'Tags', type: 'array', standard: true },
];

/** By their keys. */
export const standardFields: readonly string[] = standardColumns.map(({ key }) => key);

/** What can be edited of a contact: the standard columns, then every custom field that was ever written. */
export async function listEditableColumns(context: Context): Promise<EditableColumn[]> {
  const keys = await findCustomFieldKeys(context.database, context.organization.id);
  return [...standardColumns, ...keys.map(({ key, type }) => ({ key, label: toLabel(key), type: type as FieldType, standard: false }))];
}

/** `loyalty_points` and `loyaltyPoints` read "Loyalty points". */
export function toLabel(key: string): string {
  const words = key
    .replace(/(\p{Ll}|\d)(\p{Lu})(?=\p{Ll})/gu, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`)
    .replace(/[_\-\s]+/g, ' ')
    .trim();
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : key;
}
