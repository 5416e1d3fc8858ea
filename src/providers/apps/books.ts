import { z } from 'zod';
import type { AppFailure } from '../broker/broker.ts';
import { booksRegions, type BooksRegion } from '../broker/connection-params.ts';
import { appFailure } from '../broker/app-failure.ts';
import { toContactBody, Contact, toBooksContact, findUnknownField, type BooksContact } from './books-contact.ts';
import { createAppClient, type AppCall, type AppConnection } from './app-client.ts';
import { percentEncoded } from '../../library/text/clean-text.ts';

interface BooksOrganization {
  id: string;
  name: string;
  isDefault: boolean;
}

export interface BooksAccount {
  region: BooksRegion;
  /** Of books, not ours. Everything but `listOrganizations` is about it. */
  organizationId?: string | undefined;
}

/** Fields to set; an empty text clears. None of them: nothing is asked of books. */
type BooksChange = Record<string, string> | ((known: BooksContact) => Record<string, string>);

export interface Books {
  /** Those that are active. */
  listOrganizations(): Promise<{ organizations: BooksOrganization[] } | AppFailure>;
  /**
   * A page of up to 200 contacts, inactive ones too, in the order of their making, so that a change while paging moves none of them.
   * `page` counts from 1. `modifiedSince`: epoch ms, leaves out what has not changed since.
   */
  listContacts(query: {
    page: number;
    modifiedSince?: number | undefined;
  }): Promise<{ contacts: BooksContact[]; hasMore: boolean } | AppFailure>;
  /** Contacts in which the text occurs, such as a phone number or an email address; at most 200. */
  findContacts(text: string): Promise<{ contacts: BooksContact[] } | AppFailure>;
  getContact(id: string): Promise<{ contact: BooksContact } | { missing: true } | AppFailure>;
  /** `duplicate`: another contact has this `contact_name`, which is unique. */
  createContact(fields: Record<string, string>): Promise<{ contact: BooksContact } | { duplicate: true } | AppFailure>;
  /** Changes the fields that are given, or that are chosen by what the contact is now, and nothing else of it. */
  updateContact(id: string, change: BooksChange): Promise<{ contact: BooksContact } | { missing: true } | AppFailure>;
}

const pageSize = '200';
const contactNotFoundCode = '1002';
const duplicateNameCode = '3062';

const Organizations = z.object({
  organizations: z.array(
    z.object({
      organization_id: z.string(),
      name: z.string(),
      is_default_org: z.boolean().default(false),
      is_org_active: z.boolean().default(true),
    }),
  ),
});
const ContactPage = z.object({ contacts: z.array(Contact), page_context: z.object({ has_more_page: z.boolean().default(false) }) });
const OneContact = z.object({ contact: Contact });

/** Zoho Books, API 3 (https://www.zoho.com/books/api/v3/contacts). */
export function books(connection: AppConnection, { region, organizationId }: BooksAccount): Books {
  const ask = createAppClient('books', connection);
  const base = `https://www.zohoapis.${booksRegions.find((known) => known === region) ?? 'com'}/books/v3`;

  async function inOrganization<Data>(call: Omit<AppCall, 'url'> & { path: string }, shape: z.ZodType<Data>) {
    const { path, query, ...request } = call;
    if (organizationId === undefined) return appFailure('rejected', 'books: no organization is selected; select one');
    return ask({ ...request, url: base + path, query: { organization_id: organizationId, ...query } }, shape);
  }
  const read = (id: string) => inOrganization({ method: 'GET', path: contactPath(id) }, OneContact);

  async function list(query: Record<string, string>) {
    const answer = await inOrganization({ method: 'GET', path: '/contacts', query: { per_page: pageSize, ...query } }, ContactPage);
    if ('failure' in answer) return answer;
    const { contacts, page_context } = answer.data;
    return { contacts: contacts.map(toBooksContact), hasMore: page_context.has_more_page };
  }

  return {
    async listOrganizations() {
      const answer = await ask({ method: 'GET', url: `${base}/organizations` }, Organizations);
      if ('failure' in answer) return answer;
      const active = answer.data.organizations.filter((one) => one.is_org_active);
      return { organizations: active.map((one) => ({ id: one.organization_id, name: one.name, isDefault: one.is_default_org })) };
    },

    async listContacts({ page, modifiedSince }) {
      const query = { page: String(page), contact_type: 'customer', filter_by: 'Status.All', sort_column: 'created_time', sort_order: 'A' };
      if (modifiedSince === undefined) return list(query);
      const since = new Date(modifiedSince).toISOString().replace(/\.\d+Z$/, '+0000');
      const found = await list({ ...query, last_modified_time: since });
      if ('failure' in found) return found;
      // The filter is not documented for lists: where it is not heeded, the others are left out here. A sync whose filter is refused reads all.
      return { ...found, contacts: found.contacts.filter(({ modifiedAt }) => modifiedAt === null || modifiedAt >= modifiedSince - 1000) };
    },

    async findContacts(text) {
      const found = await list({ page: '1', search_text: text });
      return 'failure' in found ? found : { contacts: found.contacts };
    },

    async getContact(id) {
      const answer = await read(id);
      if (!('failure' in answer)) return { contact: toBooksContact(answer.data.contact) };
      return answer.code === contactNotFoundCode ? { missing: true } : answer;
    },

    async createContact(fields) {
      const unknown = findUnknownField(fields);
      if (unknown !== undefined) return unknownFieldFailure(unknown);
      const body = { contact_type: 'customer', ...toContactBody({ contact_name: defaultContactName(fields), ...fields }) };
      const answer = await inOrganization({ method: 'POST', path: '/contacts', body }, OneContact);
      if (!('failure' in answer)) return { contact: toBooksContact(answer.data.contact) };
      return answer.code === duplicateNameCode ? { duplicate: true } : answer;
    },

    async updateContact(id, change) {
      const unknownGiven = typeof change === 'function' ? undefined : findUnknownField(change);
      if (unknownGiven !== undefined) return unknownFieldFailure(unknownGiven);
      const known = await read(id);
      if ('failure' in known) return known.code === contactNotFoundCode ? { missing: true } : known;
      const before = toBooksContact(known.data.contact);
      const fields = typeof change === 'function' ? change(before) : change;
      const unknown = findUnknownField(fields);
      if (unknown !== undefined) return unknownFieldFailure(unknown);
      if (Object.keys(fields).length === 0) return { contact: before };
      const body = toContactBody(fields, known.data.contact);
      const answer = await inOrganization({ method: 'PUT', path: contactPath(id), body, isRepeatable: true }, OneContact);
      if (!('failure' in answer)) return { contact: toBooksContact(answer.data.contact) };
      return answer.code === contactNotFoundCode ? { missing: true } : answer;
    },
  };
}

const contactPath = (id: string) => `/contacts/${percentEncoded(id)}`;
const unknownFieldFailure = (field: string) => appFailure('rejected', `books: contacts have no field "${field}"; map it to another one`);

/** Books wants a name for every contact. */
function defaultContactName({
  first_name = '',
  last_name = '',
  company_name = '',
  email = '',
  mobile = '',
  phone = '',
}: Record<string, string>): string {
  return `${first_name} ${last_name}`.trim() || company_name || email || mobile || phone;
}
