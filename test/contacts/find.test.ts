import { env } from 'cloudflare:workers';
import { beforeAll, expect, test } from 'vitest';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

interface Shown {
  id: number;
  first_name: string | null;
  last_name: string | null;
  created_at: string;
  updated_at: string;
}

let client: Client;
let listId: number;

beforeAll(async () => {
  const organization = await newOrganization({ defaultCountry: 'DE' });
  client = organization.client;
  const foreign = await newOrganization();
  const contacts = [
    {
      external_id: 'ada',
      phone: '+12125550123',
      email: 'Ada@Example.com',
      first_name: 'Ada',
      last_name: 'Byron',
      company: 'Analytical Engines',
      tags: ['vip', 'press'],
    },
    {
      external_id: 'eve',
      phone: '+4917012345678',
      email: 'eve@sample.org',
      first_name: 'Ève',
      last_name: 'Müller',
      company: '100% "Wolle"',
      tags: ['vip-lounge'],
    },
    { external_id: 'jo', first_name: 'Jo', last_name: 'Smith-Jones', company: 'O’Neil & Söhne', tags: ['x'] },
    { external_id: 'li', first_name: '李', last_name: '小龙', company: null },
    { external_id: 'nameless', company: 'a" OR scope : "b' },
  ];
  await foreign.client.post('/contacts/bulk-upsert', { list_name: 'L', contacts });
  await client.post('/contacts/bulk-upsert', { list_name: 'All', contacts });
  const { contact_list } = (await client.post('/contacts/upsert', { list_name: 'Some', external_id: 'ada' })).body;
  await client.post('/contacts/upsert', { list_name: 'Some', external_id: 'eve' });
  listId = contact_list.id;
});

const found = async (query: Record<string, string | number>) => {
  const { status, body } = await client.get(`/contacts?${new URLSearchParams(query as Record<string, string>)}`);
  if (status !== 200) return body;
  expect(body.total).toBe(body.contacts.length);
  return body.contacts.map((contact: { external_id: string }) => contact.external_id);
};

test.each([
  ['Byron', ['ada']],
  ['byr', ['ada']],
  ['yro', ['ada']],
  ['ada byron', ['ada']],
  ['da By', ['ada']],
  ['Byron Ada', []],
  ['example.com', ['ada']],
  ['a@e', ['ada']],
  ['engines', ['ada']],
  ['5550123', ['ada']],
  ['+1 (212) 555-0123', ['ada']],
  ['212 555', ['ada']],
  ['0170 1234 5678', ['eve']],
  ['0170', ['eve']],
  ['eve', ['eve']],
  ['Ève Mü', ['eve']],
  ['mull', ['eve']],
  ['100%', ['eve']],
  ['"wolle"', ['eve']],
  ['jo', ['jo']],
  ['Jo Sm', ['jo']],
  ['j', ['jo']],
  ['jones', ['jo']],
  ['李', ['li']],
  ['李 小', ['li']],
  ['a', ['nameless', 'ada']],
  ['" OR scope', ['nameless']],
  ['*', []],
  ['NEAR(', []],
  ['no such person', []],
  ['   ', ['nameless', 'li', 'jo', 'eve', 'ada']],
])('search %j finds %j', async (search, expected) => {
  expect(await found({ search })).toEqual(expected);
});

test.each([
  ['vip', ['ada']],
  ['VIP', ['ada']],
  ['x', ['jo']],
  ['vi', []],
  ['"', []],
])('tag %j finds the contacts that have the whole tag', async (tag, expected) => {
  expect(await found({ tag })).toEqual(expected);
});

test('phone, email and external id are found whole, in other spellings too', async () => {
  expect(await found({ phone: '+1 212-555-0123' })).toEqual(['ada']);
  expect(await found({ phone: '0170 12345678' })).toEqual(['eve']);
  expect(await found({ email: 'ADA@example.COM' })).toEqual(['ada']);
  expect(await found({ email: 'ada@example' })).toEqual([]);
  expect(await found({ external_id: 'jo' })).toEqual(['jo']);
  expect(await found({ external_id: 'j' })).toEqual([]);
  const unescaped = await client.get('/contacts?phone=+12125550123');
  expect(unescaped.body.total).toBe(1);
  expect((await client.get('/contacts?phone=abc')).body.detail[0].loc).toEqual(['query', 'phone']);
});

test('filters combine: each narrows the others', async () => {
  expect(await found({ list_id: listId })).toEqual(['eve', 'ada']);
  expect(await found({ list_id: listId, search: 'eve' })).toEqual(['eve']);
  expect(await found({ list_id: listId, search: 'jones' })).toEqual([]);
  expect(await found({ list_id: listId, tag: 'vip' })).toEqual(['ada']);
  expect(await found({ search: 'byron', tag: 'vip-lounge' })).toEqual([]);
  expect(await found({ search: 'byron', tag: 'press' })).toEqual(['ada']);
  expect(await found({ external_id: 'ada', search: 'eve' })).toEqual([]);
  expect(await found({ email: 'ada@example.com', external_id: 'ada', list_id: listId })).toEqual(['ada']);
  expect(await found({ search: 'byron', created_after: '2020-01-01', created_before: '2100-01-01', updated_after: '2020-01-01' })).toEqual([
    'ada',
  ]);
  expect(await found({ search: 'byron', created_before: '2020-01-01' })).toEqual([]);
  expect(await found({ list_id: listId, updated_after: '2100-01-01' })).toEqual([]);
});

test('moments are exclusive and take dates, offsets and timestamps', async () => {
  const { created_at } = (await client.get('/contacts?external_id=ada')).body.contacts[0];
  expect(await found({ created_after: created_at })).toEqual([]);
  expect(await found({ created_before: created_at })).toEqual([]);
  const before = new Date(Date.parse(created_at) - 1).toISOString();
  expect(await found({ created_after: before })).toHaveLength(5);
  expect(await found({ created_after: '2020-01-01', updated_after: before.replace('Z', '+00:00') })).toHaveLength(5);
});

test.each([
  'limit=0',
  'limit=501',
  'limit=x',
  'offset=-1',
  'list_id=x',
  'sort=name',
  'order=up',
  'created_after=soon',
  'updated_after=2026-02-30',
  'cursor=abc',
  `search=${'x'.repeat(201)}`,
])('the query %s is 422 and names the parameter', async (query) => {
  const { status, body } = await client.get(`/contacts?${query}`);
  expect([status, body.detail[0].loc]).toEqual([422, ['query', query.split('=')[0]]]);
});

test('a cursor of another order is refused', async () => {
  const { next_cursor } = (await client.get('/contacts?sort=last_name&order=asc&limit=2')).body;
  expect((await client.get(`/contacts?limit=2&cursor=${next_cursor}`)).body.detail[0].loc).toEqual(['query', 'cursor']);
});

test('members of a list take the same filters', async () => {
  const { body } = await client.get(`/contacts/lists/${listId}/contacts?search=byr&sort=last_name`);
  expect(body).toMatchObject({ total: 1, contacts: [{ external_id: 'ada' }] });
});

// Orders and pages, over contacts among which many have the same moment or name

let crowd: Client;
let crowdListId: number;
const crowdSize = 60;

beforeAll(async () => {
  const organization = await newOrganization();
  crowd = organization.client;
  for (let part = 0; part < 3; part++) {
    const contacts = Array.from({ length: crowdSize / 3 }, (_, n) => ({
      phone: newPhone(),
      first_name: 'Crowd',
      email: n % 5 === 0 ? 'shared@example.com' : null,
      last_name: n % 4 === 0 ? null : `Name${n % 3}`,
    }));
    const { body } = await crowd.post('/contacts/bulk-upsert', { list_name: 'Crowd', contacts });
    crowdListId = (await crowd.get('/contacts/lists')).body.lists[0].id;
    await crowd.put(`/contacts/${body.contacts[part].id}`, { title: 'touched' });
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
});

const byOrder = (sort: 'created_at' | 'updated_at' | 'last_name', order: string) => (one: Shown, other: Shown) => {
  const way = order === 'desc' ? -1 : 1;
  const [a, b] = [one[sort], other[sort]];
  if (a === null || b === null) return a === b ? way * (one.id - other.id) : a === null ? 1 : -1;
  return a === b ? way * (one.id - other.id) : way * (a < b ? -1 : 1);
};

const filters = [
  '',
  'search=crowd',
  'list_id=LIST',
  'email=shared@example.com',
  'created_after=2020-01-01',
  'updated_after=2020-01-01',
  'search=crowd&list_id=LIST',
  'search=crowd&created_after=2020-01-01',
];
const orders = (['created_at', 'updated_at', 'last_name'] as const).flatMap((sort) =>
  ['desc', 'asc'].map((order) => [sort, order] as const),
);

test.each(filters.flatMap((filter) => orders.map(([sort, order]) => [filter, sort, order] as const)))(
  'pages under %j by %s %s hold everybody once, in order, by offset and by cursor',
  async (filter, sort, order) => {
    const query = `${filter.replace('LIST', String(crowdListId))}&sort=${sort}&order=${order}`;
    const whole = (await crowd.get(`/contacts?${query}&limit=500`)).body;
    expect(whole.contacts).toHaveLength(filter.startsWith('email') ? 12 : crowdSize);
    expect(whole).toMatchObject({ total: whole.contacts.length, next_cursor: null });
    expect(whole.contacts).toEqual(whole.contacts.toSorted(byOrder(sort, order)));
    const byOffset: Shown[] = [];
    const byCursor: Shown[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const offset = (await crowd.get(`/contacts?${query}&limit=23&offset=${byOffset.length}`)).body;
      const page: { contacts: Shown[]; total: number; next_cursor: string | null } = (
        await crowd.get(`/contacts?${query}&limit=23${cursor ? `&cursor=${cursor}` : ''}`)
      ).body;
      expect([offset.total, page.total]).toEqual([whole.total, whole.total]);
      byOffset.push(...offset.contacts);
      byCursor.push(...page.contacts);
      cursor = page.next_cursor;
    }
    expect(byOffset).toEqual(whole.contacts);
    expect(byCursor).toEqual(whole.contacts);
    expect((await crowd.get(`/contacts?${query}&offset=1000`)).body).toMatchObject({ contacts: [], total: whole.total, next_cursor: null });
  },
);

test('a contact that is new since does not disturb pages by cursor', async () => {
  const first = (await crowd.get('/contacts?limit=5')).body;
  const { id } = (await crowd.post('/contacts', { phone: newPhone(), first_name: 'Late' })).body;
  const second = (await crowd.get(`/contacts?limit=5&cursor=${first.next_cursor}`)).body;
  const ids = [...first.contacts, ...second.contacts].map((contact: Shown) => contact.id);
  expect(new Set(ids).size).toBe(10);
  await crowd.delete(`/contacts/${id}`);
});

test('beyond 10,000 matches the total stops and says so; an unfiltered total and that of a list are exact', async () => {
  const { client: many, id } = await newOrganization();
  const list = (await many.post('/contacts/lists', { name: 'All' })).body;
  const count = 10_200;
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO contact (organization_id, external_id, first_name, last_name, tags, custom_fields, created_at, updated_at)
       SELECT ?1, 'm' || value, 'Many', 'N' || (value % 7), '[]', '{}', 1000 + value / 100, 5 FROM (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?2) SELECT value FROM n)`,
    ).bind(id, count),
    env.DB.prepare('INSERT INTO contact_list_member SELECT ?, id, 1 FROM contact WHERE organization_id = ?').bind(list.id, id),
    env.DB.prepare('UPDATE contact_list SET contacts_count = ? WHERE id = ?').bind(count, list.id),
    env.DB.prepare('INSERT INTO organization_usage (organization_id, contacts_count) VALUES (?, ?)').bind(id, count),
  ]);
  expect((await many.get('/contacts?limit=1')).body).toMatchObject({ total: count });
  expect((await many.get(`/contacts?limit=1&list_id=${list.id}`)).body).toMatchObject({ total: count });
  for (const query of [
    'search=many',
    'created_after=1970-01-01',
    'search=many&sort=last_name',
    `search=many&list_id=${list.id}`,
    `list_id=${list.id}&sort=updated_at`,
  ])
    expect((await many.get(`/contacts?limit=1&${query}`)).body).toMatchObject({ total: 10_000, total_capped: true });
  expect((await many.get('/contacts?search=m77&limit=1&external_id=m77')).body).toMatchObject({ total: 0 });
  expect((await many.get('/contacts?external_id=m77')).body).toMatchObject({ total: 1 });
});
