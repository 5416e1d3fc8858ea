import { z } from 'zod';
import { parseIsoInstant } from '../../library/time/instants.ts';

/** A contact of books with flat fields: the contact's own, those of its primary person, and custom ones (`cf_...`). */
export interface BooksContact {
  id: string;
  /** Without empty fields. */
  fields: Record<string, string>;
  isActive: boolean;
  /** Epoch ms. */
  modifiedAt: number | null;
}

const ownFields = ['contact_name', 'company_name', 'website'] as const;
const personFields = ['first_name', 'last_name', 'email', 'phone', 'mobile'] as const;
/** The standard fields; custom fields can be read and written, too. */
export const booksFields: readonly string[] = [...ownFields, ...personFields];

const isCustom = (field: string) => /^cf_\w+$/.test(field);

/** The first field that contacts of books do not have; undefined: all are known. */
export const findUnknownField = (fields: Record<string, string>): string | undefined =>
  Object.keys(fields).find((field) => !booksFields.includes(field) && !isCustom(field));

const text = z.string().nullish();
const Person = z.object({
  contact_person_id: z.string(),
  is_primary_contact: z.boolean().default(false),
  first_name: text,
  last_name: text,
  email: text,
  phone: text,
  mobile: text,
});
type Person = z.output<typeof Person>;

/** A contact as a list returns it, or, with its persons, as it is read alone. */
export const Contact = z.object({
  contact_id: z.string(),
  contact_name: text,
  company_name: text,
  website: text,
  first_name: text,
  last_name: text,
  email: text,
  phone: text,
  mobile: text,
  status: z.string().default('active'),
  last_modified_time: text,
  custom_fields: z.array(z.object({ api_name: text, value: z.unknown() })).nullish(),
  custom_field_hash: z.record(z.string(), z.unknown()).nullish(),
  contact_persons: z.array(Person).nullish(),
});
export type Contact = z.output<typeof Contact>;

export function toBooksContact(contact: Contact): BooksContact {
  const person = primaryPerson(contact.contact_persons ?? []);
  const custom = [
    ...Object.entries(contact.custom_field_hash ?? {}),
    ...(contact.custom_fields ?? []).map(({ api_name, value }) => [api_name ?? '', value] as const),
  ].filter(([name]) => isCustom(name) && !name.endsWith('_unformatted'));
  const standard = [
    ...ownFields.map((field) => [field, contact[field]] as const),
    ...personFields.map((field) => [field, person?.[field] || contact[field]] as const),
  ];
  const filled = [...standard, ...custom].flatMap(([field, value]) => {
    const words = typeof value === 'string' ? value.trim() : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
    return words === '' ? [] : [[field, words]];
  });
  return {
    id: contact.contact_id,
    fields: Object.fromEntries(filled),
    isActive: contact.status === 'active',
    modifiedAt: parseIsoInstant(contact.last_modified_time ?? ''),
  };
}

const primaryPerson = (persons: Person[]): Person | undefined => persons.find((person) => person.is_primary_contact) ?? persons[0];

/**
 * The request body that sets `fields`. Books replaces the list of persons, so the body repeats the persons of `known`, with the primary
 * one changed.
 */
export function toContactBody(fields: Record<string, string>, known?: Contact): Record<string, unknown> {
  const pick = (names: readonly string[]) => Object.fromEntries(names.flatMap((name) => (name in fields ? [[name, fields[name]!]] : [])));
  const custom = Object.entries(fields).filter(([name]) => isCustom(name));
  const changes = pick(personFields);
  return {
    ...pick(ownFields),
    ...(Object.keys(changes).length > 0 && { contact_persons: mergePersons(changes, known?.contact_persons ?? []) }),
    ...(custom.length > 0 && { custom_fields: custom.map(([api_name, value]) => ({ api_name, value })) }),
  };
}

function mergePersons(changes: Record<string, string>, known: Person[]): object[] {
  const primary = primaryPerson(known);
  if (primary === undefined) return [{ ...changes, is_primary_contact: true }];
  return known.map((person) => {
    const kept = Object.fromEntries(personFields.flatMap((field) => (person[field] ? [[field, person[field]]] : [])));
    const identity = { contact_person_id: person.contact_person_id, is_primary_contact: person === primary };
    return { ...identity, ...kept, ...(person === primary && changes) };
  });
}
