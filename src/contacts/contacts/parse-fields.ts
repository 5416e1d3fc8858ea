import { Buffer } from 'node:buffer';
import { invalidAt } from '../../library/errors.ts';
import { textFields, type ContactChange, type ContactValues } from './contact.ts';
import { normalizePhone } from '../../library/phone/phone-numbers.ts';
import { maxCustomFieldKeys, maxCustomFieldsBytes, maxTags, type ContactFields } from './schemas.ts';

/** An error in a contact's fields. In a bulk upsert, `code` is the `detail` of the row's error and `detail` its `message`. */
export interface FieldError {
  field: string;
  code: string;
  detail: string;
}

export type FieldParseResult = { change: ContactChange } | { error: FieldError };

/** The change in a POST or PUT: an empty text clears the field, tags are replaced. Throws 422; `place` begins its `loc`. */
export function parseFields(fields: ContactFields, defaultCountry: string, place: string): ContactChange {
  const reading = parseContactChange(fields, defaultCountry);
  if ('change' in reading) return reading.change;
  throw invalidAt([place, reading.error.field], reading.error.detail, reading.error.code);
}

/** As `parseFields`, but answers the error instead of throwing. */
export function parseContactChange(fields: ContactFields, defaultCountry: string): FieldParseResult {
  const change: ContactChange = {};
  for (const field of textFields) if (fields[field] !== undefined) change[field] = fields[field] || null;
  if (fields.tags !== undefined) change.tags = fields.tags ?? [];
  if (fields.custom_fields !== undefined) change.custom_fields = fields.custom_fields;
  return validateChange(change, defaultCountry);
}

/** Normalizes the phone and checks email and custom field names. */
export function validateChange(change: ContactChange, defaultCountry: string): FieldParseResult {
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

/** The error of values that are too many or too large together, although each field is valid. */
export function findSizeError(values: ContactValues): FieldError | undefined {
  if (values.tags.length > maxTags) return toFieldError('tags', 'too_many_tags', `a contact has at most ${maxTags} tags`).error;
  const keys = Object.keys(values.custom_fields).length;
  if (keys > maxCustomFieldKeys)
    return toFieldError('custom_fields', 'too_many_custom_fields', `would have ${keys} custom fields; at most ${maxCustomFieldKeys}`).error;
  const text = JSON.stringify(values.custom_fields);
  const bytes = text.length > maxCustomFieldsBytes / 3 ? Buffer.byteLength(text) : 0;
  if (bytes > maxCustomFieldsBytes)
    return toFieldError('custom_fields', 'too_large', `custom fields would take ${bytes} bytes of JSON; at most ${maxCustomFieldsBytes}`)
      .error;
  return undefined;
}

export const toFieldError = (field: string, code: string, detail: string) => ({ error: { field, code, detail } });
