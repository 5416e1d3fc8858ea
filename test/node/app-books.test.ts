import { describe, expect, test } from 'vitest';
import { books } from '../../src/providers/apps/books.ts';
import { booksFields } from '../../src/providers/apps/books-contact.ts';
import { fakeConnection, owner, startWorld, success } from './broker-world.ts';

const account = { region: 'com', organizationId: '10234695' } as const;
const firstId = '4600000000000000';

async function start(more: { scopes?: string } = {}) {
  const world = await startWorld();
  const connection = await world.connect('books', more);
  const at = (path: string, init: RequestInit = {}) => world.at(`/zohobooks/books/v3${path}`, init, 'Zoho-oauthtoken');
  return { ...world, connection, at, ...books(connection, account) };
}

describe('organizations', () => {
  test('are listed, the default one marked', async () => {
    const { listOrganizations } = await start();
    expect(await listOrganizations()).toEqual({
      organizations: [
        { id: '10234695', name: 'Acme', isDefault: true },
        { id: '10234696', name: 'Acme Labs', isDefault: false },
      ],
    });
  });

  test('that are not active are left out, and the field for it may be missing', async () => {
    const { connection } = fakeConnection(() => ({
      data: {
        code: 0,
        organizations: [
          { organization_id: '1', name: 'A', is_org_active: false },
          { organization_id: '2', name: 'B' },
        ],
      },
    }));
    expect(await books(connection, { region: 'com' }).listOrganizations()).toEqual({
      organizations: [{ id: '2', name: 'B', isDefault: false }],
    });
  });

  test('that are gone, or in another data centre, are said to be so by the provider', async () => {
    const { connection } = await start();
    expect(await books(connection, { region: 'com', organizationId: '999' }).listContacts({ page: 1 })).toEqual({
      failure: 'rejected',
      code: '6041',
      message: 'books: This user is not associated with the CompanyID/CompanyName:999.',
    });
    expect(await books(connection, { ...account, region: 'in' }).listContacts({ page: 1 })).toMatchObject({ failure: 'rejected' });
  });

  test('none of which is selected are said to be missing before anything is asked', async () => {
    const { connection, asked } = fakeConnection(() => ({}));
    expect(await books(connection, { region: 'com' }).listContacts({ page: 1 })).toMatchObject({
      failure: 'rejected',
      message: expect.stringContaining('select one'),
    });
    expect(asked).toEqual([]);
  });

  test.each([
    ['com.au', 'https://www.zohoapis.com.au/books/v3/organizations'],
    ['in', 'https://www.zohoapis.in/books/v3/organizations'],
    ['evil.test/', 'https://www.zohoapis.com/books/v3/organizations'],
  ])('of the region %s are asked at its own host', async (region, url) => {
    const { connection, asked } = fakeConnection(() => ({ data: { code: 0, organizations: [] } }));
    await books(connection, { region: region as 'com' }).listOrganizations();
    expect(asked[0]!.url).toBe(url);
  });
});

describe('contacts', () => {
  test('come in pages of 200, each once, with their fields flat', async () => {
    const { listContacts } = await start();
    const pages = [];
    for (let page = 1, hasMore = true; hasMore; page++) {
      const answer = await success(listContacts({ page }));
      pages.push(answer.contacts);
      hasMore = answer.hasMore;
    }
    expect(pages.map(({ length }) => length)).toEqual([200, 200, 50]);
    expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(450);
    expect(pages[0]![0]).toEqual({
      id: firstId,
      fields: {
        contact_name: 'Amara Adeyemi 1',
        company_name: 'Northwind',
        first_name: 'Amara',
        last_name: 'Adeyemi',
        email: 'amara.adeyemi.0@books.example.com',
        phone: '+16462000100',
        cf_source: 'fair',
      },
      isActive: true,
      modifiedAt: Date.parse('2026-10-01T08:00:00Z'),
    });
  });

  test('that change while the pages are read do not push others out of them', async () => {
    const { listContacts, updateContact } = await start();
    const first = await success(listContacts({ page: 1 }));
    await success(updateContact(first.contacts[0]!.id, { company_name: 'Changed' }));
    const second = await success(listContacts({ page: 2 }));
    expect(second.contacts[0]!.id).toBe(String(BigInt(firstId) + 200n));
  });

  test('can be only those that changed since a moment', async () => {
    const { listContacts, updateContact, received } = await start();
    const since = Date.now() - 1_000;
    expect(await listContacts({ page: 1, modifiedSince: since })).toEqual({ contacts: [], hasMore: false });
    await success(updateContact(firstId, { company_name: 'New & Co' }));
    const { contacts } = await success(listContacts({ page: 1, modifiedSince: since }));
    expect(contacts.map(({ id, fields }) => [id, fields['company_name']])).toEqual([[firstId, 'New & Co']]);
    expect((await received('zohobooks', '/books/v3/contacts')).at(-1)!.query['last_modified_time']).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:]{8}\+0000$/,
    );
  });

  test('can be only those that changed since a moment, also where the provider does not heed it', async () => {
    const contact = (id: string, time: string) => ({ contact_id: id, contact_name: id, last_modified_time: time });
    const page = {
      code: 0,
      contacts: [contact('old', '2026-01-01T10:00:00+0530'), contact('new', '2026-03-01T10:00:00+0530'), { contact_id: 'odd' }],
      page_context: { has_more_page: true },
    };
    const { connection, asked } = fakeConnection(() => ({ data: page }));
    const { listContacts } = books(connection, { region: 'com', organizationId: '1' });
    const found = await success(listContacts({ page: 1, modifiedSince: Date.parse('2026-02-01T00:00:00Z') }));
    expect([found.contacts.map(({ id }) => id), found.hasMore]).toEqual([['new', 'odd'], true]);
    expect(asked).toHaveLength(1);
  });

  test('of a data centre are reached also where the connection has the older address of books', async () => {
    const { connect, post, received } = await startWorld();
    await post('/composio/__sim/toolkits/zoho_books', { base_url: 'https://books.zoho.{extension}/api/v3' });
    const { listOrganizations } = books(await connect('books', { params: { region: 'uk' } }), { region: 'uk' });
    expect((await success(listOrganizations())).organizations.length).toBeGreaterThan(0);
    expect((await received('zohobooks')).map(({ path }) => path)).toEqual(['/books/v3/organizations']);
  });

  test('are found by their number', async () => {
    const { findContacts } = await start();
    const { contacts } = await success(findContacts('+16462000107'));
    expect(contacts.map(({ fields }) => fields['email'])).toEqual(['hiroshi.haddad.7@books.example.com']);
    expect(await findContacts('nobody at all')).toEqual({ contacts: [] });
  });

  test('that are read one by one have the fields of their primary person, or are missing', async () => {
    const { getContact } = await start();
    expect(await getContact(firstId)).toMatchObject({ contact: { fields: { phone: '+16462000100', cf_source: 'fair' } } });
    expect(await getContact('1')).toEqual({ missing: true });
  });

  test('that the grant does not cover are forbidden', async () => {
    const { listContacts, createContact } = await start({ scopes: 'ZohoBooks.settings.READ' });
    const forbidden = { failure: 'insufficient_permissions', code: '57', message: 'You are not authorized to perform this operation' };
    expect(await listContacts({ page: 1 })).toEqual(forbidden);
    expect(await createContact({ contact_name: 'A' })).toEqual(forbidden);
  });
});

describe('a new contact', () => {
  test('is created with one person and its custom fields', async () => {
    const { createContact, received } = await start();
    const fields = { first_name: 'Zoe', last_name: 'Quill', mobile: '+14155552671', company_name: 'Quill', cf_region: 'West' };
    const { contact } = (await success(createContact(fields))) as { contact: { id: string; fields: object } };
    expect(contact.fields).toEqual({ contact_name: 'Zoe Quill', ...fields });
    expect((await received('zohobooks'))[0]!.body).toEqual({
      contact_type: 'customer',
      contact_name: 'Zoe Quill',
      company_name: 'Quill',
      contact_persons: [{ first_name: 'Zoe', last_name: 'Quill', mobile: '+14155552671', is_primary_contact: true }],
      custom_fields: [{ api_name: 'cf_region', value: 'West' }],
    });
  });

  test.each([
    [{ company_name: 'Only', phone: '+1' }, 'Only'],
    [{ email: 'a@example.com', phone: '+1' }, 'a@example.com'],
    [{ phone: '+14155550123' }, '+14155550123'],
    [{ contact_name: 'Given', first_name: 'Zoe' }, 'Given'],
  ])('of %j is called %s', async (fields, name) => {
    const { createContact } = await start();
    expect(await success(createContact(fields))).toMatchObject({ contact: { fields: { contact_name: name } } });
  });

  test('whose name is taken is a duplicate', async () => {
    const { createContact } = await start();
    expect(await createContact({ contact_name: 'amara adeyemi 1' })).toEqual({ duplicate: true });
  });

  test('is never created twice, and an unknown outcome is said to be one', async () => {
    const { createContact, plan, received } = await start();
    await plan({ provider: 'zohobooks', match: { method: 'POST' }, drop_response: true });
    expect(await createContact({ contact_name: 'Once' })).toMatchObject({ failure: 'unavailable', outcomeUnknown: true });
    expect(await received('zohobooks')).toHaveLength(1);
  });

  test('with a field that books does not have is refused before anything is asked', async () => {
    const { connection, asked } = fakeConnection(() => ({}));
    const { createContact, updateContact } = books(connection, account);
    for (const outcome of [createContact({ favourite: 'x' }), updateContact('1', { favourite: 'x' })])
      expect(await outcome).toEqual({ failure: 'rejected', message: 'books: contacts have no field "favourite"; map it to another one' });
    expect(asked).toEqual([]);
  });

  test('with a custom field that this organization does not have is refused by the provider', async () => {
    const { createContact } = await start();
    expect(await createContact({ contact_name: 'A', cf_unknown: '1' })).toEqual({
      failure: 'rejected',
      code: '4',
      message: 'books: Invalid value passed for cf_unknown',
    });
  });
});

describe('a change', () => {
  test('of the primary person leaves the other persons of the contact and all other fields alone', async () => {
    const { updateContact, at, received } = await start();
    const query = `?organization_id=${account.organizationId}`;
    const read = async () => ((await (await at(`/contacts/${firstId}${query}`)).json()) as { contact: any }).contact;
    const [primary] = (await read()).contact_persons;
    const other = { first_name: 'Second', phone: '+16460000002' };
    await at(`/contacts/${firstId}${query}`, { method: 'PUT', body: JSON.stringify({ contact_persons: [primary, other] }) });
    const before = await read();

    await success(updateContact(firstId, { phone: '+14155552671', cf_region: 'East' }));
    const after = await read();
    expect(after.contact_persons).toEqual([{ ...primary, phone: '+14155552671' }, before.contact_persons[1]]);
    const { contact_persons: sent } = (await received('zohobooks')).at(-2)!.body;
    expect(sent).toEqual([
      expect.objectContaining({ email: primary.email, phone: '+14155552671', is_primary_contact: true }),
      expect.objectContaining({ first_name: 'Second', phone: '+16460000002', is_primary_contact: false }),
    ]);
    expect(after).toMatchObject({ company_name: before.company_name, contact_name: before.contact_name });
    expect(after.custom_field_hash).toMatchObject({ cf_source: 'fair', cf_region: 'East' });
  });

  test('of fields of the contact alone sends no persons', async () => {
    const { updateContact, received } = await start();
    await success(updateContact(firstId, { company_name: 'Other' }));
    expect((await received('zohobooks')).at(-1)!.body).toEqual({ company_name: 'Other' });
  });

  test('can be chosen by what the contact is now, and is none when there is nothing to change', async () => {
    const { updateContact, received } = await start();
    const { contact } = (await success(updateContact(firstId, ({ fields }) => ({ website: `of ${fields['first_name']}` })))) as {
      contact: { fields: Record<string, string> };
    };
    expect(contact.fields['website']).toBe('of Amara');
    const before = (await received('zohobooks')).length;
    expect(await success(updateContact(firstId, () => ({})))).toMatchObject({ contact: { id: firstId, fields: { website: 'of Amara' } } });
    expect((await received('zohobooks')).slice(before).map(({ method }) => method)).toEqual(['GET']);
    expect(await updateContact(firstId, () => ({ favourite: 'x' }))).toMatchObject({ failure: 'rejected' });
  });

  test('can empty a field', async () => {
    const { updateContact } = await start();
    const { contact } = (await success(updateContact(firstId, { email: '' }))) as { contact: { fields: object } };
    expect(contact.fields).not.toHaveProperty('email');
  });

  test('of a contact that is gone says so', async () => {
    const { updateContact, at } = await start();
    expect(await updateContact('1', { phone: '+1' })).toEqual({ missing: true });
    await at(`/contacts/${firstId}?organization_id=${account.organizationId}`, { method: 'DELETE' });
    expect(await updateContact(firstId, { phone: '+1' })).toEqual({ missing: true });
  });

  test('is tried again when its answer is lost, since twice is once', async () => {
    const { updateContact, plan, waits } = await start();
    await plan({ provider: 'zohobooks', match: { method: 'PUT' }, drop_response: true });
    expect(await updateContact(firstId, { phone: '+14155552671' })).toMatchObject({ contact: { fields: { phone: '+14155552671' } } });
    expect(waits).toEqual([250]);
  });
});

describe('limits', () => {
  const block = { code: 44, message: 'For security reasons you have been blocked for some time.' };

  test('of a minute are handed on with the wait, a minute where none is named, an hour at the most', async () => {
    const { listContacts, plan, received } = await start();
    await plan({ provider: 'zohobooks', status: 429, body: block });
    expect(await listContacts({ page: 1 })).toMatchObject({ failure: 'rate_limited', code: '44', retryAfterSeconds: 60 });
    await plan({ provider: 'zohobooks', status: 429, body: block, headers: { 'retry-after': '999999' } });
    expect(await listContacts({ page: 1 })).toMatchObject({ failure: 'rate_limited', retryAfterSeconds: 3600 });
    expect(await received('zohobooks')).toHaveLength(2);
  });

  test('may be waited for longer by who can wait', async () => {
    const { connection, plan, waits } = await start();
    await plan({ provider: 'zohobooks', status: 429, body: block });
    const { listContacts } = books({ ...connection, maxWaitMs: 60_000 }, account);
    expect(await success(listContacts({ page: 3 }))).toMatchObject({ hasMore: false });
    expect(waits).toEqual([60_000]);
  });
});

test('ten thousand contacts are read in fifty pages, none lost and none twice', async () => {
  const { listContacts, post } = await start();
  await post('/zohobooks/__sim/contacts', { customer: owner, organization_id: account.organizationId, count: 9_550 });
  const ids = new Set<string>();
  const phones = new Set<string>();
  for (let page = 1; page <= 50; page++) {
    const { contacts, hasMore } = await success(listContacts({ page }));
    for (const { id, fields } of contacts) {
      ids.add(id);
      phones.add(fields['phone']!);
    }
    expect(hasMore).toBe(page < 50);
  }
  expect([ids.size, phones.size]).toEqual([10_000, 10_000]);
});

test('every field that is offered can be written and is read back', async () => {
  const { createContact } = await start();
  const fields = Object.fromEntries(booksFields.map((field) => [field, field === 'email' ? 'a@example.com' : `my ${field}`]));
  expect(await success(createContact(fields))).toMatchObject({ contact: { fields } });
});
