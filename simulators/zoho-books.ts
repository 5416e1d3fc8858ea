import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { hasAnyScope, parseAuthorization, createPerCustomer, readJsonObject, type Grant } from './grants.ts';
import type { Vendor, VendorBindings } from './vendor.ts';
import { createContact, deleteContact, replaceContact } from './zoho-books/change-contact.ts';
import { contactDetail } from './zoho-books/contact.ts';
import { ZohoError } from './zoho-books/errors.ts';
import { listContacts } from './zoho-books/list-contacts.ts';
import { addContacts, seedOrganizations, type Organization } from './zoho-books/seed.ts';

const Seed = z.strictObject({ customer: z.string(), organization_id: z.string(), count: z.int().min(1).max(200_000) });

/** The accounting of Zoho: Books API 3 under `/books/v3`, in the data centre that the host names. */
export const zohoBooks: Vendor = {
  name: 'zohobooks',
  createRoutes: () => {
    const organizationsOf = createPerCustomer(seedOrganizations);
    const routes = new Hono<{ Bindings: VendorBindings }>();
    const organizationOf = (c: Context, scope: string): Organization => {
      const grant = requireScope(c, scope);
      const id = c.req.query('organization_id');
      const found = isRightDataCentre(c, grant) ? organizationsOf(grant.customer).find((one) => one.organization_id === id) : undefined;
      if (found === undefined) throw new ZohoError(400, 6041, `This user is not associated with the CompanyID/CompanyName:${id ?? ''}.`);
      return found;
    };

    routes.get('/books/v3/organizations', (c) => {
      const grant = requireScope(c, 'ZohoBooks.settings.READ');
      const organizations = isRightDataCentre(c, grant) ? organizationsOf(grant.customer) : [];
      return c.json({ code: 0, message: 'success', organizations: organizations.map(({ contacts: _contacts, ...shown }) => shown) });
    });
    routes.get('/books/v3/contacts', (c) => {
      const { contacts } = organizationOf(c, 'ZohoBooks.contacts.READ');
      return c.json({ code: 0, message: 'success', ...listContacts(contacts, c.req.query()) });
    });
    routes.post('/books/v3/contacts', async (c) => {
      const { contacts } = organizationOf(c, 'ZohoBooks.contacts.CREATE');
      const contact = createContact(contacts, await readBody(c.req.raw));
      return c.json({ code: 0, message: 'The contact has been added.', contact: contactDetail(contact) }, 201);
    });
    routes.get('/books/v3/contacts/:id', (c) => {
      const { contacts } = organizationOf(c, 'ZohoBooks.contacts.READ');
      const found = contacts.get(c.req.param('id'));
      if (found === undefined) throw ZohoError.noSuchContact();
      return c.json({ code: 0, message: 'success', contact: contactDetail(found) });
    });
    routes.put('/books/v3/contacts/:id', async (c) => {
      const { contacts } = organizationOf(c, 'ZohoBooks.contacts.UPDATE');
      const contact = replaceContact(contacts, c.req.param('id'), await readBody(c.req.raw));
      return c.json({ code: 0, message: 'Contact information has been saved.', contact: contactDetail(contact) });
    });
    routes.delete('/books/v3/contacts/:id', (c) => {
      deleteContact(organizationOf(c, 'ZohoBooks.contacts.DELETE').contacts, c.req.param('id'));
      return c.json({ code: 0, message: 'The contact has been deleted.' });
    });

    /** More contacts in an organization of a customer, all at once. */
    routes.post('/__sim/contacts', async (c) => {
      const { customer, organization_id, count } = Seed.parse(await c.req.json());
      const organization = organizationsOf(customer).find((one) => one.organization_id === organization_id);
      if (organization === undefined) return c.json({ error: `There is no organization ${organization_id}` }, 404);
      addContacts(organization.contacts, count);
      return c.json({ contacts: organization.contacts.size }, 201);
    });
    routes.notFound(() => new ZohoError(404, 5, 'Invalid URL Passed').response);
    routes.onError((error) => {
      if (error instanceof ZohoError) return error.response;
      throw error;
    });
    return routes;
  },
};

function requireScope(c: Context, scope: string): Grant {
  const grant = parseAuthorization(c.req.header('authorization'), 'Zoho-oauthtoken');
  if (grant === 'missing' || grant === 'invalid') throw new ZohoError(401, 14, 'Invalid value passed for authtoken.');
  if (!hasAnyScope(grant, scope, 'ZohoBooks.fullaccess.all', scope.replace(/\w+$/, 'ALL')))
    throw new ZohoError(401, 57, 'You are not authorized to perform this operation');
  return grant;
}

/** An account lives in one data centre; the others do not know it. */
function isRightDataCentre(c: Context, { params }: Grant): boolean {
  const given = /^www\.zohoapis\.(.+)$/.exec(new URL(c.req.url).hostname)?.[1];
  return given === undefined || given === (params?.['extension'] ?? 'com');
}

async function readBody(request: Request): Promise<Record<string, unknown>> {
  const body = await readJsonObject(request);
  if (body === undefined) throw new ZohoError(400, 9, 'Invalid JSON passed');
  return body;
}
