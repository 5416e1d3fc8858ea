import { Buffer } from 'node:buffer';
import { invalidAt } from '../../library/errors.ts';
import { textFields, type ContactChange, type ContactValues } from './contact.ts';
import { normalizePhone } from '../../library/phone/phone-numbers.ts';
import { maxCustomFieldKeys, maxCustomFieldsBytes, maxTags, readOnlyContactFields, type ContactFields } from './schemas.ts';

/** Why fields cannot become a contact. `code` is the `detail` of a row error, `detail` its `message`. */
export interface FieldError {
  field: string;
  code: string;
  detail: string;
}

export type FieldParseResult = { change: ContactChange } | { problem: FieldError };

/** What POST and PUT ask for: an empty text is no value, tags are replaced. Throws 422; `place` begins its `loc`. */
export function parseFields(fields: ContactFields, defaultCountry: string, place: string): ContactChange {
  const reading = parseContactChange(fields, defaultCountry);
  if ('change' in reading) return reading.change;
  throw invalidAt([place, reading.problem.field], reading.problem.detail, reading.problem.code);
}

/** The same, with what is wrong in the answer. */
export function parseContactChange(fields: ContactFields, defaultCountry: string): FieldParseResult {
  const change: ContactChange = {};
  for (const field of textFields) if (fields[field] !== undefined) change[field] = fields[field] || null;
  if (fields.tags !== undefined) change.tags = fields.tags ?? [];
  if (fields.custom_fields !== undefined) change.custom_fields = fields.custom_fields;
  return validateChange(change, defaultCountry);
}

const nonCustomFieldNames: ReadonlySet<string> = new Set([...readOnlyContactFields, 'tags', 'custom_fields', ...textFields]);

/** What an upsert asks for: an empty text counts as absent, tags are added, fields that are not standard become custom fields. */
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

function validateChange(change: ContactChange, defaultCountry: string): FieldParseResult {
  if (change.phone) {
    const reading = normalizePhone(change.phone, defaultCountry);
    if (!('phone' in reading)) return toFieldError('phone', 'invalid_phone', reading.detail);
    change.phone = reading.phone;
  }
  if (change.email && !/^[^\s@]+@[^\s@]+$/.test(change.email))
    return toFieldError('email', 'invalid_email', `"${change.email}" is not an e-mail address; correct it or leave it out`);
  for (const key of Object.keys(change.custom_fields ?? {}))
    if (key === '' || key.length > 100)
      return toFieldError(
        'custom_fields',
        'invalid_custom_fields',
        `the name of a custom field must have 1 to 100 characters, not ${key.length}`,
      );
  return { change };
}

/** Why a contact cannot become `values` although each field is good. */
export function findSizeError(values: ContactValues): FieldError | undefined {
  if (values.tags.length > maxTags) return toFieldError('tags', 'too_many_tags', `a contact has at most ${maxTags} tags`).problem;
  const keys = Object.keys(values.custom_fields).length;
  if (keys > maxCustomFieldKeys)
    return toFieldError('custom_fields', 'too_many_custom_fields', `would have ${keys} custom fields; at most ${maxCustomFieldKeys}`)
      .problem;
  const text = JSON.stringify(values.custom_fields);
  const bytes = text.length > maxCustomFieldsBytes / 3 ? Buffer.byteLength(text) : 0;
  if (bytes > maxCustomFieldsBytes)
    return toFieldError('custom_fields', 'too_large', `custom fields would take ${bytes} bytes of JSON; at most ${maxCustomFieldsBytes}`)
      .problem;
  return undefined;
}

const toFieldError = (field: string, code: string, detail: string) => ({ problem: { field, code, detail } });
