import { parseIsoInstant } from '../../library/time/instants.ts';

export type FieldType = 'string' | 'number' | 'boolean' | 'date' | 'array' | 'object';

/** What kind of value a custom field holds, for forms and mappings. */
export function detectFieldType(value: unknown): FieldType {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value as FieldType;
  if (typeof value === 'object') return 'object';
  return typeof value === 'string' && parseIsoInstant(value) !== null ? 'date' : 'string';
}

/** The types of custom fields by key; one that is being removed has none. */
export function detectFieldTypes(fields: Record<string, unknown> | null | undefined): Record<string, FieldType> {
  const present = Object.entries(fields ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(present.map(([key, value]) => [key, detectFieldType(value)]));
}
