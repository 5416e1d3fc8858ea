import { Buffer } from 'node:buffer';
import { invalidAt } from '../../library/errors.ts';
import { textFields, type ContactChange } from '../contacts/contact.ts';
import { toFieldError, validateChange, type FieldParseResult } from '../contacts/parse-fields.ts';
import { readOnlyContactFields, UpsertRow as UpsertRowSchema, type ContactFields } from '../contacts/schemas.ts';
import type { UpsertRow } from './resolve-existing.ts';

const nonCustomFieldNames: ReadonlySet<string> = new Set([...readOnlyContactFields, 'tags', 'custom_fields', ...textFields]);

/** The change in an upsert: an empty text counts as absent, tags are added, other fields become custom fields. */
export function parseUpsertFields(fields: ContactFields, defaultCountry: string): FieldParseResult {
  const change: ContactChange = {};
  for (const field of textFields) if (fields[field] !== undefined && fields[field] !== '') change[field] = fields[field];
  if (fields.tags === null) change.tags = [];
  else if (fields.tags) change.add_tags = fields.tags;
  const custom = new Map<string, unknown>();
  for (const [key, value] of Object.entries(fields.custom_fields ?? {})) if (value !== '') custom.set(key, value);
  for (const [key, value] of Object.entries(fields)) if (!nonCustomFieldNames.has(key) && value !== '') custom.set(key, value);
  if (custom.size) change.custom_fields = Object.fromEntries(custom);
  else if (fields.custom_fields === null) change.custom_fields = null;
  if (!change.phone && !change.external_id)
    return toFieldError('phone', 'no_key', 'a contact needs a phone or an external_id to be found again; add one');
  return validateChange(change, defaultCountry);
}

/** Reads one row of a bulk upsert; the row's error is in the answer. */
export function parseRow(row: unknown, defaultCountry: string): FieldParseResult {
  const parsed = UpsertRowSchema.safeParse(row);
  if (parsed.success) return parseUpsertFields(parsed.data, defaultCountry);
  const issue = parsed.error.issues[0]!;
  const field = issue.path[0];
  if (field === undefined) return toFieldError('', 'invalid_row', issue.message);
  return toFieldError(String(field), `invalid_${String(field)}`, `${issue.path.join('.')}: ${issue.message}`);
}

/** Each list is sent as one value of at most 2 MB, D1's limit; half of it is reserved for the rest of the rows. */
const maxBytes = 1_000_000;

/** Throws 422 when the external ids or the custom field names of all rows together exceed one write. */
export function requireStorableSize(rows: UpsertRow[]): void {
  const names = new Set(rows.flatMap(({ change }) => Object.keys(change.custom_fields ?? {})));
  const externalIds = new Set(rows.flatMap(({ change }) => change.external_id ?? []));
  requireSize(names, 'the names of custom fields');
  requireSize(externalIds, 'the external ids');
}

function requireSize(texts: Set<string>, name: string): void {
  const bytes = Buffer.byteLength(JSON.stringify([...texts]));
  if (bytes <= maxBytes) return;
  const sentence = `Of all rows together, ${name} take ${bytes} bytes; at most ${maxBytes} in one request: send fewer contacts at a time`;
  throw invalidAt(['body', 'contacts'], sentence, 'too_large');
}
