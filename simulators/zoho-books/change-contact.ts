import { z } from 'zod';
import { customFields, type ContactPerson, type StoredContact } from './contact.ts';
import { ZohoError } from './errors.ts';
import { newId } from './seed.ts';

const Person = z.strictObject({
  contact_person_id: z.string().optional(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  email: z.email().or(z.literal('')).optional(),
  phone: z.string().max(50).optional(),
  mobile: z.string().max(50).optional(),
  is_primary_contact: z.boolean().optional(),
});
const Body = z.strictObject({
  contact_name: z.string().min(1).max(200).optional(),
  company_name: z.string().max(200).optional(),
  website: z.string().optional(),
  contact_type: z.enum(['customer', 'vendor']).optional(),
  contact_persons: z.array(Person).optional(),
  custom_fields: z.array(z.strictObject({ api_name: z.string(), value: z.string() })).optional(),
});
type Body = z.output<typeof Body>;

function read(given: Record<string, unknown>): Body {
  const parsed = Body.safeParse(given);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw ZohoError.invalid(issue.code === 'unrecognized_keys' ? issue.keys[0]! : issue.path.join('.'));
}

/** The vendor's times are whole seconds. */
const now = (): number => Math.floor(Date.now() / 1000) * 1000;

export function createContact(contacts: Map<string, StoredContact>, given: Record<string, unknown>): StoredContact {
  const body = read(given);
  if (body.contact_name === undefined) throw ZohoError.invalid('contact_name');
  requireFreeName(contacts, body.contact_name);
  const contact_id = newId(contacts, contacts.size);
  const contact: StoredContact = {
    contact_id,
    contact_name: body.contact_name,
    company_name: '',
    website: '',
    contact_type: body.contact_type ?? 'customer',
    status: 'active',
    created: now(),
    modified: now(),
    contact_persons: [],
    custom: {},
  };
  apply(contact, body);
  contacts.set(contact_id, contact);
  return contact;
}

export function replaceContact(contacts: Map<string, StoredContact>, id: string, given: Record<string, unknown>): StoredContact {
  const body = read(given);
  const contact = contacts.get(id);
  if (contact === undefined) throw ZohoError.noSuchContact();
  if (body.contact_name !== undefined) requireFreeName(contacts, body.contact_name, id);
  apply(contact, body);
  contact.modified = now();
  return contact;
}

export function deleteContact(contacts: Map<string, StoredContact>, id: string): void {
  if (!contacts.delete(id)) throw ZohoError.noSuchContact();
}

function requireFreeName(contacts: Map<string, StoredContact>, name: string, except?: string): void {
  const isTaken = [...contacts.values()].some((one) => one.contact_id !== except && one.contact_name.toLowerCase() === name.toLowerCase());
  if (isTaken) throw new ZohoError(400, 3062, `The customer "${name}" already exists. Please specify a different name.`);
}

function apply(contact: StoredContact, body: Body): void {
  const unknown = body.custom_fields?.find(({ api_name }) => !(api_name in customFields));
  if (unknown !== undefined) throw ZohoError.invalid(unknown.api_name);
  const persons = body.contact_persons && personsOf(contact, body.contact_persons);
  contact.contact_name = body.contact_name ?? contact.contact_name;
  contact.company_name = body.company_name ?? contact.company_name;
  contact.website = body.website ?? contact.website;
  contact.contact_persons = persons ?? contact.contact_persons;
  for (const { api_name, value } of body.custom_fields ?? []) contact.custom[api_name] = value;
}

/** The list takes the place of the one before: persons that are not in it are gone, those without an id are new. */
function personsOf(contact: StoredContact, given: z.output<typeof Person>[]): ContactPerson[] {
  const isPrimaryGiven = given.some((person) => person.is_primary_contact === true);
  return given.map(({ contact_person_id, ...fields }, index) => {
    const known = contact.contact_persons.find((person) => person.contact_person_id === contact_person_id);
    if (contact_person_id !== undefined && known === undefined) throw new ZohoError(404, 1002, 'Contact person does not exist.');
    const fresh = {
      contact_person_id: `${contact.contact_id}${Date.now()}${index}`,
      first_name: '',
      last_name: '',
      email: '',
      phone: '',
      mobile: '',
    };
    const isPrimary = isPrimaryGiven ? fields.is_primary_contact === true : index === 0;
    const changes = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    return { ...fresh, ...known, ...changes, is_primary_contact: isPrimary };
  });
}
