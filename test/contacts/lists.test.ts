import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { removeDeletedListMembers } from '../../src/contacts/lists/members.ts';
import { shard } from '../../src/database/shards.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

const contactIds = async (client: Client, count: number): Promise<number[]> => {
  const contacts = Array.from({ length: count }, () => ({ phone: newPhone() }));
  const { body } = await client.post('/contacts/bulk-upsert', { list_name: 'Everybody', contacts });
  return body.contacts.map((contact: { id: number }) => contact.id);
};

test('a list is created with its defaults, read and found by part of its name', async () => {
  const { client, id } = await newOrganization();
  const { status, body } = await client.post('/contacts/lists', {
    name: ' Spring  Leads ',
    description: 'by hand',
    metadata: { source: 'check' },
    column_schema: [{ key: 'tier' }, { key: 'score', label: 'Points', type: 'number' }],
  });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.any(Number),
    organization_id: id,
    name: 'Spring Leads',
    description: 'by hand',
    metadata: { source: 'check' },
    column_schema: [
      { key: 'tier', label: 'tier', type: 'string' },
      { key: 'score', label: 'Points', type: 'number' },
    ],
    warnings: [],
    contacts_count: 0,
    created_at: expect.stringMatching(/Z$/),
    updated_at: body.created_at,
  });
  expect((await client.post('/contacts/lists', { name: 'Other' })).body).toMatchObject({
    description: null,
    metadata: {},
    column_schema: [],
  });
  expect((await client.get(`/contacts/lists/${body.id}`)).body).toEqual(body);
  expect((await client.get('/contacts/lists?search=LEAD')).body).toMatchObject({ total: 1, lists: [{ id: body.id }] });
  expect((await client.get('/contacts/lists?search=%25')).body.total).toBe(0);
});

test.each([
  [{}, ['body', 'name']],
  [{ name: ' ' }, ['body', 'name']],
  [{ name: 'x'.repeat(201) }, ['body', 'name']],
  [{ name: 'L', metadata: [] }, ['body', 'metadata']],
  [{ name: 'L', column_schema: [{ key: 'a', type: 'money' }] }, ['body', 'column_schema', '0', 'type']],
  [{ name: 'L', column_schema: [{ label: 'no key' }] }, ['body', 'column_schema', '0', 'key']],
  [{ name: 'L', column_schema: [{ key: 'a' }, { key: 'a' }] }, ['body', 'column_schema']],
])('a list that cannot be made is 422 and names the field: %j', async (body, loc) => {
  const { client } = await newOrganization();
  const answer = await client.post('/contacts/lists', body);
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, loc]);
});

test('names are unique without case, are free again after deletion, and belong to one organization', async () => {
  const { client } = await newOrganization();
  const first = (await client.post('/contacts/lists', { name: 'Leads' })).body;
  const second = (await client.post('/contacts/lists', { name: 'Second' })).body;
  const taken = await client.post('/contacts/lists', { name: 'LEADS' });
  expect([taken.status, taken.body.detail]).toEqual([409, expect.stringContaining(`contact list ${first.id}`)]);
  const renamed = await client.put(`/contacts/lists/${second.id}`, { name: 'leads' });
  expect([renamed.status, renamed.body.detail]).toEqual([409, expect.stringContaining(`contact list ${first.id}`)]);
  expect((await client.put(`/contacts/lists/${first.id}`, { name: 'LEADS' })).body.name).toBe('LEADS');
  expect((await client.delete(`/contacts/lists/${first.id}`)).body).toEqual({ status: 'deleted' });
  expect((await client.post('/contacts/lists', { name: 'Leads' })).status).toBe(201);
  const other = await newOrganization();
  expect((await other.client.post('/contacts/lists', { name: 'Leads' })).status).toBe(201);
});

test('PUT keeps absent fields, clears null, and leaves updated_at alone when nothing changes', async () => {
  const { client } = await newOrganization();
  const before = (await client.post('/contacts/lists', { name: 'L', description: 'd', metadata: { a: 1 }, column_schema: [{ key: 'k' }] }))
    .body;
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect((await client.put(`/contacts/lists/${before.id}`, { name: 'L', metadata: { a: 1 } })).body).toEqual(before);
  const after = (await client.put(`/contacts/lists/${before.id}`, { description: null, metadata: { b: 2 } })).body;
  expect(after).toMatchObject({ name: 'L', description: null, metadata: { b: 2 }, column_schema: before.column_schema });
  expect(after.updated_at > before.updated_at).toBe(true);
  expect((await client.put(`/contacts/lists/${before.id}`, { metadata: null, column_schema: null })).body).toMatchObject({
    metadata: {},
    column_schema: [],
  });
});

test('adding contacts names the added ones, the members of before and those that do not exist', async () => {
  const { client } = await newOrganization();
  const stranger = await newOrganization();
  const [theirs] = await contactIds(stranger.client, 1);
  const [a, b, deleted] = await contactIds(client, 3);
  await client.delete(`/contacts/${deleted}`);
  const list = (await client.post('/contacts/lists', { name: 'L' })).body;
  expect((await client.post(`/contacts/lists/${list.id}/contacts`, { contact_ids: [a, a] })).body).toEqual({
    added: 1,
    already_members: 0,
    not_found: [],
  });
  const { status, body } = await client.post(`/contacts/lists/${list.id}/contacts`, {
    contact_ids: [999_999_999, a, b, theirs, deleted, b],
  });
  expect(status).toBe(200);
  expect(body).toEqual({ added: 1, already_members: 1, not_found: [999_999_999, theirs, deleted] });
  expect((await client.get(`/contacts/lists/${list.id}`)).body.contacts_count).toBe(2);
  expect((await client.get(`/contacts/lists/${list.id}/contacts`)).body).toMatchObject({ total: 2, contacts: [{ id: b }, { id: a }] });
});

test.each([
  [{}, ['body', 'contact_ids']],
  [{ contact_ids: 5 }, ['body', 'contact_ids']],
  [{ contact_ids: [1, 'x'] }, ['body', 'contact_ids', '1']],
  [{ contact_ids: [0] }, ['body', 'contact_ids', '0']],
  [{ contact_ids: Array.from({ length: 5001 }, (_, n) => n + 1) }, ['body', 'contact_ids']],
])('contact ids that cannot be read are 422', async (body, loc) => {
  const { client } = await newOrganization();
  const list = (await client.post('/contacts/lists', { name: 'L' })).body;
  const answer = await client.post(`/contacts/lists/${list.id}/contacts`, body);
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, loc]);
});

test('a member is removed once, the contact stays', async () => {
  const { client } = await newOrganization();
  const [id] = await contactIds(client, 1);
  const list = (await client.get('/contacts/lists')).body.lists[0];
  expect((await client.delete(`/contacts/lists/${list.id}/contacts/${id}`)).body).toEqual({ status: 'deleted' });
  const again = await client.delete(`/contacts/lists/${list.id}/contacts/${id}`);
  expect([again.status, again.body.detail]).toEqual([404, `Contact ${id} in this list not found`]);
  expect((await client.get(`/contacts/lists/${list.id}`)).body.contacts_count).toBe(0);
  expect((await client.get(`/contacts/${id}`)).body.lists).toEqual([]);
});

test('a deleted list is gone everywhere at once and its contacts stay', async () => {
  const { client } = await newOrganization();
  const ids = await contactIds(client, 3);
  const list = (await client.get('/contacts/lists')).body.lists[0];
  await client.delete(`/contacts/lists/${list.id}`);
  expect((await client.get('/contacts/lists')).body.total).toBe(0);
  expect((await client.get(`/contacts/${ids[0]}`)).body.lists).toEqual([]);
  expect((await client.get(`/contacts/${ids[0]}/lists`)).body).toMatchObject({ lists: [], total: 0 });
  expect((await client.get('/contacts')).body.total).toBe(3);
  const gone = [
    client.get(`/contacts/lists/${list.id}`),
    client.put(`/contacts/lists/${list.id}`, { name: 'x' }),
    client.delete(`/contacts/lists/${list.id}`),
    client.get(`/contacts/lists/${list.id}/contacts`),
    client.get(`/contacts/lists/${list.id}/contacts?search=abc`),
    client.post(`/contacts/lists/${list.id}/contacts`, { contact_ids: ids }),
    client.delete(`/contacts/lists/${list.id}/contacts/${ids[0]}`),
    client.get(`/contacts?list_id=${list.id}`),
    client.get(`/contacts?list_id=${list.id}&search=abc`),
  ];
  for (const answer of await Promise.all(gone)) expect([answer.status, answer.body.detail]).toEqual([404, 'Contact list not found']);
  // The same name creates another list, without the members of the old one.
  const again = (await client.post('/contacts/upsert', { list_name: 'Everybody', phone: newPhone() })).body;
  expect(again.list_created).toBe(true);
  expect((await client.get(`/contacts/lists/${again.contact_list.id}/contacts`)).body.total).toBe(1);
});

const members = async (listId: number) =>
  (await env.DB.prepare('SELECT count(*) AS n FROM contact_list_member WHERE list_id = ?').bind(listId).first<{ n: number }>())!.n;

test('memberships of a deleted list are removed page by page, and only those', async () => {
  const { client, id: organizationId } = await newOrganization();
  const ids = await contactIds(client, 600);
  const kept = (await client.get('/contacts/lists')).body.lists[0];
  const database = shard(env, 0);
  const [doomed] = await database.all(
    database.prepare<{ id: number }>(
      `INSERT INTO contact_list (organization_id, name, metadata, column_schema, created_at, updated_at, deleted_at) VALUES (?, 'gone', '{}', '[]', 1, 1, 1) RETURNING id`,
      organizationId,
    ),
  );
  await database.all(
    database.prepare('INSERT INTO contact_list_member SELECT ?, value, 1 FROM json_each(?)', doomed!.id, JSON.stringify(ids)),
  );
  const context = (await backgroundContext(env, organizationId, () => undefined))!;
  const otherContext = { ...context, organization: { ...context.organization, id: organizationId + 1 } };
  expect(await removeDeletedListMembers(otherContext, doomed!.id)).toBe(true);
  expect(await members(doomed!.id)).toBe(600);
  expect(await removeDeletedListMembers(context, doomed!.id)).toBe(false);
  expect(await members(doomed!.id)).toBe(100);
  expect(await removeDeletedListMembers(context, doomed!.id)).toBe(true);
  expect(await members(doomed!.id)).toBe(0);
  expect(await removeDeletedListMembers(context, kept.id)).toBe(true);
  expect(await members(kept.id)).toBe(600);
});

test('the lists of a contact come with their counts and when it was added', async () => {
  const { client } = await newOrganization();
  const phone = newPhone();
  for (const list_name of ['A', 'B', 'C']) await client.post('/contacts/upsert', { list_name, phone });
  const { id } = (await client.get('/contacts')).body.contacts[0];
  const first = (await client.get(`/contacts/${id}/lists?limit=2`)).body;
  expect(first).toMatchObject({
    total: 3,
    limit: 2,
    offset: 0,
    lists: [{ name: 'C', contacts_count: 1, added_at: expect.stringMatching(/Z$/) }, { name: 'B' }],
  });
  expect((await client.get(`/contacts/${id}/lists?limit=2&cursor=${first.next_cursor}`)).body).toMatchObject({
    next_cursor: null,
    lists: [{ name: 'A' }],
  });
});

test('lists are paged by offset and by cursor without skipping or repeating', async () => {
  const { client } = await newOrganization();
  for (let n = 0; n < 7; n++) await client.post('/contacts/lists', { name: `L${n}` });
  const names = async (query: string) =>
    (await client.get(`/contacts/lists?${query}`)).body.lists.map((list: { name: string }) => list.name);
  expect([...(await names('limit=3')), ...(await names('limit=3&offset=3')), ...(await names('limit=3&offset=6'))]).toEqual([
    'L6',
    'L5',
    'L4',
    'L3',
    'L2',
    'L1',
    'L0',
  ]);
  const page = (await client.get('/contacts/lists?limit=4')).body;
  await client.post('/contacts/lists', { name: 'later' });
  expect(await names(`limit=4&cursor=${page.next_cursor}`)).toEqual(['L2', 'L1', 'L0']);
});

test('lists of another organization do not exist', async () => {
  const mine = await newOrganization();
  const theirs = await newOrganization();
  const [theirContact] = await contactIds(theirs.client, 1);
  const list = (await theirs.client.get('/contacts/lists')).body.lists[0];
  const [ours] = await contactIds(mine.client, 1);
  const answers = await Promise.all([
    mine.client.get(`/contacts/lists/${list.id}`),
    mine.client.put(`/contacts/lists/${list.id}`, { name: 'x' }),
    mine.client.delete(`/contacts/lists/${list.id}`),
    mine.client.get(`/contacts/lists/${list.id}/contacts`),
    mine.client.post(`/contacts/lists/${list.id}/contacts`, { contact_ids: [ours] }),
    mine.client.delete(`/contacts/lists/${list.id}/contacts/${theirContact}`),
    mine.client.get(`/contacts?list_id=${list.id}`),
  ]);
  for (const answer of answers) expect([answer.status, answer.body.detail]).toEqual([404, 'Contact list not found']);
  expect((await theirs.client.get(`/contacts/lists/${list.id}`)).body).toEqual(list);
  expect((await mine.client.get('/contacts/lists')).body.lists.map((one: { id: number }) => one.id)).not.toContain(list.id);
});

test('a key that may only read cannot change lists', async () => {
  const { client } = await newOrganization({ scopes: ['read'] });
  const answers = await Promise.all([
    client.post('/contacts/lists', { name: 'L' }),
    client.put('/contacts/lists/1', {}),
    client.delete('/contacts/lists/1'),
    client.post('/contacts/lists/1/contacts', { contact_ids: [1] }),
    client.delete('/contacts/lists/1/contacts/1'),
  ]);
  for (const answer of answers) expect(answer.status).toBe(403);
  expect((await client.get('/contacts/lists')).status).toBe(200);
});

test('an id that is no positive integer is 422', async () => {
  const { client } = await newOrganization();
  for (const path of ['/contacts/lists/x', '/contacts/lists/0/contacts'])
    expect((await client.get(path)).body.detail[0].loc).toEqual(['path', 'list_id']);
  expect((await client.delete('/contacts/lists/1/contacts/x')).body.detail[0].loc).toEqual(['path', 'contact_id']);
});
