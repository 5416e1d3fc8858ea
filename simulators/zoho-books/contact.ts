export interface ContactPerson {
  contact_person_id: string;
  first_name: string;
  last_name: string;
  email: string;
  phone: string;
  mobile: string;
  is_primary_contact: boolean;
}

export interface StoredContact {
  contact_id: string;
  contact_name: string;
  company_name: string;
  website: string;
  contact_type: 'customer' | 'vendor';
  status: 'active' | 'inactive';
  /** Epoch ms, whole seconds. */
  created: number;
  modified: number;
  contact_persons: ContactPerson[];
  /** By their names, `cf_...`. */
  custom: Record<string, string>;
}

/** The custom fields of every organization. */
export const customFields: Record<string, string> = { cf_source: 'Source', cf_region: 'Region', cf_birthday: 'Birthday' };

const offsetMs = 5.5 * 3_600_000;

/** As the vendor writes it, in the zone of the organization and without a colon in the offset. */
const written = (instant: number): string => new Date(instant + offsetMs).toISOString().replace(/\.\d+Z$/, '+0530');

/** As a list has it: the primary person's fields are the contact's. */
export function contactSummary(contact: StoredContact): object {
  const { contact_persons, custom, created, modified, ...own } = contact;
  const primary = contact_persons.find((person) => person.is_primary_contact) ?? contact_persons[0];
  return {
    ...own,
    first_name: primary?.first_name ?? '',
    last_name: primary?.last_name ?? '',
    email: primary?.email ?? '',
    phone: primary?.phone ?? '',
    mobile: primary?.mobile ?? '',
    created_time: written(created),
    last_modified_time: written(modified),
    custom_fields: Object.entries(custom).map(([api_name, value]) => ({
      customfield_id: `460000000${Object.keys(customFields).indexOf(api_name)}`,
      label: customFields[api_name],
      api_name,
      value,
    })),
    custom_field_hash: Object.fromEntries(
      Object.entries(custom).flatMap(([name, value]) => [
        [name, value],
        [`${name}_unformatted`, value],
      ]),
    ),
  };
}

export const contactDetail = (contact: StoredContact): object => ({ ...contactSummary(contact), contact_persons: contact.contact_persons });
