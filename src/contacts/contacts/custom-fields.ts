import { parseIsoInstant } from '../../library/time/instants.ts';
import type { Context } from '../../context.ts';
import { findCustomFieldKeys } from './store.ts';

export type FieldType = 'string' | 'number' | 'boolean' | 'date' | 'array' | 'object';

/** The type of a custom field's value, for forms and mappings. */
function detectFieldType(value: unknown): FieldType {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value as FieldType;
  if (typeof value === 'object') return 'object';
  return typeof value === 'string' && parseIsoInstant(value) !== null ? 'date' : 'string';
}

/** The types of custom fields by key. A field whose value is null is being removed and has no type. */
export function detectFieldTypes(fields: Record<string, unknown> | null | undefined): Record<string, FieldType> {
  const present = Object.entries(fields ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(present.map(([key, value]) => [key, detectFieldType(value)]));
}

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

/** The keys of the standard fields. */
export const standardFields: readonly string[] = standardColumns.map(({ key }) => key);

/** The editable columns of contacts: the standard ones, then every custom field that was ever written. */
export async function listEditableColumns(context: Context): Promise<EditableColumn[]> {
  const keys = await findCustomFieldKeys(context.database, context.organization.id);
  return [...standardColumns, ...keys.map(({ key, type }) => ({ key, label: toLabel(key), type: type as FieldType, standard: false }))];
}

/** `loyalty_points` and `loyaltyPoints` read "Loyalty points". */
function toLabel(key: string): string {
  const words = key
    .replace(/(\p{Ll}|\d)(\p{Lu})(?=\p{Ll})/gu, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`)
    .replace(/[_\-\s]+/g, ' ')
    .trim();
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : key;
}
