import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { Client, newOrganization, newPhone } from '../support/organization.ts';

const contactKeys = [
  'id',
  'organization_id',
  'external_id',
  'phone',
  'email',
  'first_name',
  'last_name',
  'company',
  'title',
  'tags',
  'custom_fields',
  'created_at',
  'updated_at',
].toSorted();
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const locs = (answer: { body: { detail: { loc: string[] }[] } }) => answer.body.detail.map((issue) => issue.loc);

test('a contact is created with the sent fields, its phone in E.164', async () => {
  const { client, id } = await newOrganization();
  const { status, body } = await client.post('/contacts', {
    phone: '(212) 555-0123',
    email: 'ada@example.com',
    first_name: ' Ada ',
    last_name: 'Byron',
    company: 'Engines',
    title: 'Countess',
    external_id: 1042,
    tags: ['vip', 'vip', 'press'],
    custom_fields: { tier: 'gold', nested: { a: [1] } },
    unknown: 'ignored',
  });
  expect(status).toBe(201);
  expect(Object.keys(body).toSorted()).toEqual(contactKeys);
  expect(body).toMatchObject({
    organization_id: id,
    phone: '+12125550123',
    email: 'ada@example.com',
    first_name: 'Ada',
    external_id: '1042',
    tags: ['vip', 'press'],
    custom_fields: { tier: 'gold', nested: { a: [1] } },
  });
  expect(body.created_at).toMatch(timestamp);
  expect(body.updated_at).toBe(body.created_at);
  expect((await client.get(`/contacts/${body.id}`)).body).toEqual({ ...body, lists: [] });
});

test('a contact with only an e-mail address, or only an external id, is enough', async () => {
  const { client } = await newOrganization();
  expect((await client.post('/contacts', { email: 'only@example.com' })).body).toMatchObject({ phone: null, tags: [], custom_fields: {} });
  expect((await client.post('/contacts', { external_id: 'x' })).status).toBe(201);
});

test('a contact without phone, email and external id is refused, also when they are blank', async () => {
  const { client } = await newOrganization();
  for (const body of [{ first_name: 'Nobody' }, {}, { phone: '', email: ' ', external_id: null, first_name: 'x' }]) {
    const answer = await client.post('/contacts', body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0].type).toBe('no_key');
  }
});

test.each([
  [{ phone: '9.18E+11' }, ['body', 'phone']],
  [{ phone: 'N/A' }, ['body', 'phone']],
  [{ phone: {} }, ['body', 'phone']],
  [{ email: 'nobody' }, ['body', 'email']],
  [{ email: 7 }, ['body', 'email']],
  [{ email: 'a@example.com', tags: 'vip' }, ['body', 'tags']],
  [{ email: 'a@example.com', tags: ['ok', 5] }, ['body', 'tags', '1']],
  [{ email: 'a@example.com', custom_fields: [] }, ['body', 'custom_fields']],
  [{ email: 'a@example.com', custom_fields: { ['k'.repeat(101)]: 1 } }, ['body', 'custom_fields']],
  [{ email: 'a@example.com', custom_fields: { k: 'v'.repeat(40_000) } }, ['body', 'custom_fields']],
  [
    { email: 'a@example.com', custom_fields: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`k${i}`, i])) },
    ['body', 'custom_fields'],
  ],
  [{ email: 'a@example.com', first_name: 'x'.repeat(201) }, ['body', 'first_name']],
])('a field that cannot be used is named: %j', async (body, loc) => {
  const { client } = await newOrganization();
  const answer = await client.post('/contacts', body);
  expect(answer.status).toBe(422);
  expect(locs(answer)[0]!.slice(0, loc.length)).toEqual(loc);
});

test('malformed JSON is 422, another content type 415', async () => {
  const { client } = await newOrganization();
  expect((await client.post('/contacts', '{"phone":')).status).toBe(422);
  expect((await client.post('/contacts', 'phone=1', { 'Content-Type': 'text/csv' })).status).toBe(415);
});

test('a taken phone or external id is 409 and names the contact that has it', async () => {
  const { client } = await newOrganization();
  const first = (await client.post('/contacts', { phone: '+12125550123', external_id: 'crm-1' })).body;
  for (const body of [{ phone: '1-212-555-0123' }, { external_id: 'crm-1' }, { phone: newPhone(), external_id: 'crm-1' }]) {
    const answer = await client.post('/contacts', body);
    expect(answer.status).toBe(409);
    expect(answer.body.detail).toContain(`contact ${first.id}`);
  }
  expect((await client.get('/contacts')).body.total).toBe(1);
});

test('of many requests that create one person at once, one succeeds and the others learn its id', async () => {
  const { client } = await newOrganization();
  const phone = newPhone();
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.post('/contacts', { phone })));
  const created = answers.filter((answer) => answer.status === 201);
  expect(created).toHaveLength(1);
  for (const answer of answers.filter((one) => one.status !== 201))
    expect([answer.status, answer.body.detail]).toEqual([409, expect.stringContaining(`contact ${created[0]!.body.id};`)]);
});

test('the plan limit is exact, also for many at once, and deleting makes room', async () => {
  const { client } = await newOrganization({ maxContacts: 3 });
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.post('/contacts', { phone: newPhone() })));
  expect(answers.filter((answer) => answer.status === 201)).toHaveLength(3);
  const refused = answers.filter((answer) => answer.status !== 201);
  for (const answer of refused)
    expect([answer.status, answer.body]).toEqual([
      403,
      { detail: 'contact_limit_reached', message: expect.stringMatching(/\b3 contacts/) },
    ]);
  const taken = answers.find((answer) => answer.status === 201)!.body;
  expect((await client.post('/contacts', { phone: taken.phone })).status).toBe(409);
  await client.delete(`/contacts/${taken.id}`);
  expect((await client.post('/contacts', { phone: newPhone() })).status).toBe(201);
  expect((await client.post('/contacts', { phone: newPhone() })).status).toBe(403);
});

test('PUT keeps absent fields, clears null, merges custom fields key by key and replaces tags', async () => {
  const { client } = await newOrganization();
  const before = (
    await client.post('/contacts', {
      phone: newPhone(),
      first_name: 'Ada',
      title: 'Countess',
      tags: ['a', 'b'],
      custom_fields: { tier: 'gold', color: 'red', deep: { x: 1, y: 2 } },
    })
  ).body;
  const { status, body } = await client.put(`/contacts/${before.id}`, {
    company: 'Engines',
    title: null,
    tags: ['c'],
    custom_fields: { color: null, size: 4, deep: { z: 3 } },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ first_name: 'Ada', company: 'Engines', title: null, tags: ['c'] });
  expect(body.custom_fields).toEqual({ tier: 'gold', deep: { z: 3 }, size: 4 });
  expect((await client.put(`/contacts/${before.id}`, { tags: null, custom_fields: null })).body).toMatchObject({
    tags: [],
    custom_fields: {},
  });
});

test('a PUT that changes nothing leaves updated_at alone', async () => {
  const { client } = await newOrganization();
  const sent = { phone: newPhone(), first_name: 'Ada', tags: ['a'], custom_fields: { tier: 'gold' } };
  const before = (await client.post('/contacts', sent)).body;
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect((await client.put(`/contacts/${before.id}`, sent)).body).toEqual(before);
  expect((await client.put(`/contacts/${before.id}`, {})).body).toEqual(before);
  expect((await client.put(`/contacts/${before.id}`, { first_name: 'Eda' })).body.updated_at > before.updated_at).toBe(true);
});

test('PUT never leaves a contact without any key, and never takes the key of another', async () => {
  const { client } = await newOrganization();
  const ada = (await client.post('/contacts', { phone: newPhone(), external_id: 'ada' })).body;
  const eve = (await client.post('/contacts', { phone: newPhone(), external_id: 'eve' })).body;
  const keyless = await client.put(`/contacts/${ada.id}`, { phone: null, external_id: '' });
  expect([keyless.status, keyless.body.detail[0].type]).toEqual([422, 'no_key']);
  expect((await client.put(`/contacts/${ada.id}`, { phone: null, email: 'ada@example.com' })).body).toMatchObject({
    phone: null,
    external_id: 'ada',
  });
  const taken = await client.put(`/contacts/${ada.id}`, { phone: eve.phone });
  expect([taken.status, taken.body.detail]).toEqual([409, expect.stringContaining(`contact ${eve.id}`)]);
  expect((await client.put(`/contacts/${ada.id}`, { phone: 'abc' })).body.detail[0].loc).toEqual(['body', 'phone']);
});

test('writers that change different fields at once lose nothing', async () => {
  const { client } = await newOrganization();
  const { id } = (await client.post('/contacts', { phone: newPhone() })).body;
  const answers = await Promise.all([0, 1, 2, 3].map((n) => client.put(`/contacts/${id}`, { custom_fields: { [`k${n}`]: n } })));
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
  expect((await client.get(`/contacts/${id}`)).body.custom_fields).toEqual({ k0: 0, k1: 1, k2: 2, k3: 3 });
});

test('DELETE erases personal data, frees the keys and takes the contact off its lists', async () => {
  const { client, id: organizationId } = await newOrganization();
  const phone = newPhone();
  const upserted = (
    await client.post('/contacts/upsert', {
      list_name: 'L',
      phone,
      external_id: 'e1',
      email: 'e@example.com',
      first_name: 'Erased',
      tier: 'gold',
      tags: ['t'],
    })
  ).body;
  const { id } = upserted.contact;
  expect(await client.delete(`/contacts/${id}`)).toMatchObject({ status: 200, body: { status: 'deleted' } });
  const row = await env.DB.prepare('SELECT * FROM contact WHERE id = ?').bind(id).first();
  expect(row).toMatchObject({
    external_id: null,
    phone: null,
    email: null,
    first_name: null,
    last_name: null,
    company: null,
    title: null,
    tags: '[]',
    custom_fields: '{}',
  });
  expect((await client.get(`/contacts/lists/${upserted.contact_list.id}`)).body.contacts_count).toBe(0);
  expect((await client.get('/contacts?search=Erased')).body.total).toBe(0);
  expect((await client.get('/contacts')).body.total).toBe(0);
  const gone = [
    client.get(`/contacts/${id}`),
    client.put(`/contacts/${id}`, { first_name: 'x' }),
    client.delete(`/contacts/${id}`),
    client.get(`/contacts/${id}/lists`),
    client.get(`/contacts/${id}/events`),
    client.get(`/contacts/${id}/calls`),
  ];
  for (const answer of await Promise.all(gone)) expect([answer.status, answer.body.detail]).toEqual([404, 'Contact not found']);
  const again = (await client.post('/contacts', { phone, external_id: 'e1' })).body;
  expect(again.id).not.toBe(id);
  expect(
    await env.DB.prepare('SELECT contacts_count FROM organization_usage WHERE organization_id = ?').bind(organizationId).first(),
  ).toEqual({ contacts_count: 1 });
});

test('two requests that delete a contact at once count it once', async () => {
  const { client } = await newOrganization();
  await client.post('/contacts', { phone: newPhone() });
  const { id } = (await client.post('/contacts', { phone: newPhone() })).body;
  const statuses = (await Promise.all([client.delete(`/contacts/${id}`), client.delete(`/contacts/${id}`)])).map((answer) => answer.status);
  expect(statuses.toSorted()).toEqual([200, 404]);
  expect((await client.get('/contacts')).body.total).toBe(1);
});

test('contacts of another organization do not exist', async () => {
  const mine = await newOrganization();
  const theirs = await newOrganization();
  const { id } = (await theirs.client.post('/contacts', { phone: newPhone(), first_name: 'Hidden' })).body;
  const answers = await Promise.all([
    mine.client.get(`/contacts/${id}`),
    mine.client.put(`/contacts/${id}`, { first_name: 'x' }),
    mine.client.delete(`/contacts/${id}`),
    mine.client.get(`/contacts/${id}/lists`),
    mine.client.get(`/contacts/${id}/events`),
    mine.client.get(`/contacts/${id}/calls`),
  ]);
  for (const answer of answers) expect([answer.status, answer.body.detail]).toEqual([404, 'Contact not found']);
  expect((await mine.client.get('/contacts?search=Hidden')).body.contacts).toEqual([]);
  expect((await theirs.client.get(`/contacts/${id}`)).body.first_name).toBe('Hidden');
});

test('a key that may only read cannot write, no key is 401', async () => {
  const { client } = await newOrganization({ scopes: ['read'] });
  expect((await client.get('/contacts')).status).toBe(200);
  const writes = await Promise.all([
    client.post('/contacts', { phone: newPhone() }),
    client.put('/contacts/1', {}),
    client.delete('/contacts/1'),
    client.post('/contacts/upsert', {}),
    client.post('/contacts/bulk-upsert', {}),
  ]);
  for (const answer of writes) expect(answer.status).toBe(403);
  expect((await new Client(undefined).get('/contacts')).status).toBe(401);
});

test('an id that is no positive integer is 422 in every path', async () => {
  const { client } = await newOrganization();
  for (const path of ['/contacts/abc', '/contacts/0', '/contacts/-1', '/contacts/1.5/lists', '/contacts/x/events', '/contacts/x/calls'])
    expect(locs(await client.get(path))).toEqual([['path', 'contact_id']]);
});

test('the calls of a contact without calls are an empty page', async () => {
  const { client } = await newOrganization();
  const { id } = (await client.post('/contacts', { phone: newPhone() })).body;
  expect((await client.get(`/contacts/${id}/calls?limit=7`)).body).toEqual({ calls: [], total: 0, limit: 7, offset: 0, next_cursor: null });
});

test('the events of a contact are its own, newest first', async () => {
  const { client } = await newOrganization();
  const phone = newPhone();
  const { id } = (await client.post('/contacts', { phone, first_name: 'Ada', last_name: 'Byron' })).body;
  for (const event_type of ['viewed', 'bought']) await client.post('/events', { event_type, phone, data: { n: 1 } });
  await client.post('/events', { event_type: 'viewed', phone: newPhone() });
  const page = (await client.get(`/contacts/${id}/events?limit=1`)).body;
  expect(page).toMatchObject({
    total: 2,
    events: [{ event_type: 'bought', phone, contact_id: id, contact_name: 'Ada Byron', event_data: { n: 1 } }],
  });
  const rest = (await client.get(`/contacts/${id}/events?limit=1&cursor=${page.next_cursor}`)).body;
  expect(rest).toMatchObject({ next_cursor: null, events: [{ event_type: 'viewed' }] });
});

test('custom-field-keys names standard columns, then every custom key with the type first seen', async () => {
  const { client } = await newOrganization();
  await client.post('/contacts', {
    phone: newPhone(),
    custom_fields: { tier: 'gold', score: 4, is_member: true, joined: '2026-01-31', gone: null },
  });
  await client.post('/contacts/upsert', { list_name: 'L', phone: newPhone(), loyaltyPoints: 'many', score: 'text now' });
  const { id } = (await client.post('/contacts', { phone: newPhone() })).body;
  await client.put(`/contacts/${id}`, { custom_fields: { visits: [] } });
  const { keys } = (await client.get('/contacts/custom-field-keys')).body;
  expect(keys.slice(0, 8).map((key: { key: string }) => key.key)).toEqual([
    'phone',
    'email',
    'external_id',
    'first_name',
    'last_name',
    'company',
    'title',
    'tags',
  ]);
  expect(keys.slice(8)).toEqual([
    { key: 'is_member', label: 'Is member', type: 'boolean', standard: false },
    { key: 'joined', label: 'Joined', type: 'date', standard: false },
    { key: 'loyaltyPoints', label: 'Loyalty points', type: 'string', standard: false },
    { key: 'score', label: 'Score', type: 'number', standard: false },
    { key: 'tier', label: 'Tier', type: 'string', standard: false },
    { key: 'visits', label: 'Visits', type: 'array', standard: false },
  ]);
  const other = await newOrganization();
  expect((await other.client.get('/contacts/custom-field-keys')).body.keys).toHaveLength(8);
});

test('characters that databases trip over are stored or dropped, never an error', async () => {
  const { client } = await newOrganization();
  const answer = await client.post('/contacts', {
    email: 'odd@example.com',
    first_name: 'a\u0000b',
    last_name: '\ud800x',
    company: "Robert'); DROP TABLE contact;--",
    custom_fields: { 'nul\u0000': '\u0000', lone: '\udfff', ['__proto__x']: 1 },
    tags: ['"quoted"', 'ü'],
  });
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({ first_name: 'ab', company: "Robert'); DROP TABLE contact;--", tags: ['"quoted"', 'ü'] });
  expect((await client.get(`/contacts/${answer.body.id}`)).body).toEqual({ ...answer.body, lists: [] });
  const hostile = '{"list_name":"L","external_id":"p","__proto__":{"polluted":true},"custom_fields":{"__proto__":{"a":1}}}';
  expect((await client.post('/contacts/upsert', hostile)).status).toBe(200);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
