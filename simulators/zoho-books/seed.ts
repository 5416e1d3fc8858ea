import { toPerson } from '../people.ts';
import type { StoredContact } from './contact.ts';

export interface Organization {
  organization_id: string;
  name: string;
  is_default_org: boolean;
  is_org_active: boolean;
  country: string;
  currency_code: string;
  time_zone: string;
  contacts: Map<string, StoredContact>;
}

const firstMade = Date.parse('2026-10-01T08:00:00Z');

function organization(organization_id: string, name: string, is_default_org: boolean, count: number): Organization {
  const contacts = new Map<string, StoredContact>();
  addContacts(contacts, count);
  const own = { country: 'India', currency_code: 'INR', time_zone: 'Asia/Calcutta' };
  return { organization_id, name, is_default_org, is_org_active: true, ...own, contacts };
}

/** The default organization with three pages of contacts, and a small one. */
export const seedOrganizations = (): Organization[] => [
  organization('10234695', 'Acme', true, 450),
  organization('10234696', 'Acme Labs', false, 5),
];

/** Adds contacts, each with its own e-mail address, phone number and time. */
export function addContacts(contacts: Map<string, StoredContact>, count: number): void {
  const first = contacts.size;
  for (let index = first; index < first + count; index++) {
    const { first_name, last_name, company, email } = toPerson(index, 'books.example.com');
    const contact_id = newId(contacts, index);
    const made = firstMade + index * 1_000;
    const person = { contact_person_id: `${contact_id}1`, first_name, last_name, email, is_primary_contact: true };
    contacts.set(contact_id, {
      contact_id,
      contact_name: `${first_name} ${last_name} ${index + 1}`,
      company_name: company,
      website: '',
      contact_type: 'customer',
      status: 'active',
      created: made,
      modified: made,
      contact_persons: [{ ...person, phone: phoneOf(index), mobile: '' }],
      custom: index % 3 === 0 ? { cf_source: 'fair' } : {},
    });
  }
}

/** An id that is not taken, as long as the vendor's. */
export function newId(contacts: Map<string, StoredContact>, index: number): string {
  const id = String(4_600_000_000_000_000n + BigInt(index));
  return contacts.has(id) ? newId(contacts, index + 1) : id;
}

/** No number ends in digits with a meaning for the simulated carriers. */
function phoneOf(index: number): string {
  const [block, line] = [Math.floor(index / 9_900), index % 9_900];
  return `+1646${(200 + block) * 10_000 + 100 + line}`;
}
