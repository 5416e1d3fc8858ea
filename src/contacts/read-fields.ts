import { Buffer } from 'node:buffer';
import { invalidAt } from '../library/errors.ts';
import { textFields, type ContactChange, type ContactValues } from './contact.ts';
import { normalizePhone } from './phone-numbers.ts';
import { maximumCustomFieldKeys, maximumCustomFieldsBytes, maximumTags, readOnlyContactFields, type ContactFields } from './schemas.ts';

/** Why fields cannot become a contact. `code` is the `detail` of a row error, `detail` its `message`. */
export interface FieldProblem {
  field: string;
  code: string;
  detail: string;
}

export type FieldReading = { change: ContactChange } | { problem: FieldProblem };

/** What POST and PUT ask for: an empty text is no value, tags are replaced. Throws 422; `place` begins its `loc`. */
export function readFields(fields: ContactFields, defaultCountry: string, place: string): ContactChange {
  const reading = readChange(fields, defaultCountry);
  if ('change' in reading) return reading.change;
  throw invalidAt([place, reading.problem.field], reading.problem.detail, reading.problem.code);
}

/** The same, with what is wrong in the answer. */
export function readChange(fields: ContactFields, defaultCountry: string): FieldReading {
  const change: ContactChange = {};
  for (const field of textFields) if (fields[field] !== undefined) change[field] = fields[field] || null;
  if (fields.tags !== undefined) change.tags = fields.tags ?? [];
  if (fields.custom_fields !== undefined) change.custom_fields = fields.custom_fields;
  return checked(change, defaultCountry);
}

const noCustomFields: ReadonlySet<string> = new Set([...readOnlyContactFields, 'tags', 'custom_fields', ...textFields]);

/** What an upsert asks for: an empty text counts as absent, tags are added, fields that are not standard become custom fields. */
export function readUpsertFields(fields: ContactFields, defaultCountry: string): FieldReading {
  const change: ContactChange = {};
  for (const field of textFields) if (fields[field] !== undefined && fields[field] !== '') change[field] = fields[field];
  if (fields.tags === null) change.tags = [];
  else if (fields.tags) change.add_tags = fields.tags;
  const custom = new Map<string, unknown>();
  for (const [key, value] of Object.entries(fields.custom_fields ?? {})) if (value !== '') custom.set(key, value);
  for (const [key, value] of Object.entries(fields)) if (!noCustomFields.has(key) && value !== '') custom.set(key, value);
  if (custom.size) change.custom_fields = Object.fromEntries(custom);
  else if (fields.custom_fields === null) change.custom_fields = null;
  if (!change.phone && !change.external_id)
    return problem('phone', 'no_key', 'a contact needs a phone or an external_id to be found again; add one');
  return checked(change, defaultCountry);
}

function checked(change: ContactChange, defaultCountry: string): FieldReading {
  if (change.phone) {
    const reading = normalizePhone(change.phone, defaultCountry);
    if (!('phone' in reading)) return problem('phone', 'invalid_phone', reading.detail);
    change.phone = reading.phone;
  }
  if (change.email && !/^[^\s@]+@[^\s@]+$/.test(change.email))
    return problem('email', 'invalid_email', `"${change.email}" is not an e-mail address; correct it or leave it out`);
  for (const key of Object.keys(change.custom_fields ?? {}))
    if (key === '' || key.length > 100)
      return problem(
        'custom_fields',
        'invalid_custom_fields',
        `the name of a custom field must have 1 to 100 characters, not ${key.length}`,
      );
  return { change };
}

/** Why a contact cannot become `values` although each field is good. */
export function sizeProblem(values: ContactValues): FieldProblem | undefined {
  if (values.tags.length > maximumTags) return problem('tags', 'too_many_tags', `a contact has at most ${maximumTags} tags`).problem;
  const keys = Object.keys(values.custom_fields).length;
  if (keys > maximumCustomFieldKeys)
    return problem('custom_fields', 'too_many_custom_fields', `would have ${keys} custom fields; at most ${maximumCustomFieldKeys}`)
      .problem;
  const text = JSON.stringify(values.custom_fields);
  const bytes = text.length > maximumCustomFieldsBytes / 3 ? Buffer.byteLength(text) : 0;
  if (bytes > maximumCustomFieldsBytes)
    return problem('custom_fields', 'too_large', `custom fields would take ${bytes} bytes of JSON; at most ${maximumCustomFieldsBytes}`)
      .problem;
  return undefined;
}

const problem = (field: string, code: string, detail: string) => ({ problem: { field, code, detail } });
