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
  /** An organization of books. All methods but `listOrganizations` need it. */
  organizationId?: string | undefined;
}

/** The fields to set; an empty text clears a field. Without any field no request is sent. */
type BooksChange = Record<string, string> | ((known: BooksContact) => Record<string, string>);

export interface Books {
  /** The active organizations of the account. */
  listOrganizations(): Promise<{ organizations: BooksOrganization[] } | AppFailure>;
  /**
   * A page of up to 200 contacts, also inactive ones, in the order of their creation, so that changes during paging move none. `page`
   * counts from 1. `modifiedSince` (epoch ms): only contacts that were changed later.
   */
  listContacts(query: {
    page: number;
    modifiedSince?: number | undefined;
  }): Promise<{ contacts: BooksContact[]; hasMore: boolean } | AppFailure>;
  /** At most 200 contacts that contain the text, such as a phone number or an e-mail address. */
  findContacts(text: string): Promise<{ contacts: BooksContact[] } | AppFailure>;
  getContact(id: string): Promise<{ contact: BooksContact } | { missing: true } | AppFailure>;
  /** Creates a contact. `duplicate`: another contact has this `contact_name`, which is unique. */
  createContact(fields: Record<string, string>): Promise<{ contact: BooksContact } | { duplicate: true } | AppFailure>;
  /** Changes the given fields, or the fields that the function returns for the current contact. Other fields stay. */
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
      // Zoho does not document this filter for lists. Older contacts of an unfiltered page are removed here; after a refused filter the
      // sync reads all contacts.
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

/** The name of a new contact: books requires one. */
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
