import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { tickAt } from '../support/background.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

const post = async (client: Client, body: Record<string, unknown>) => (await client.post('/events', body)).body.event_id as number;
const setCreated = (id: number, moment: string) =>
  env.DB.prepare('UPDATE event SET created_at = ? WHERE id = ?').bind(Date.parse(moment), id).run();

interface Page {
  status: number;
  ids: number[];
  total: number;
  next_cursor: string | null;
  [key: string]: unknown;
}

async function list(client: Client, query: Record<string, string | number> = {}): Promise<Page> {
  const { status, body } = await client.get(
    `/events?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()}`,
  );
  return { status, ...body, ids: body.events?.map(({ id }: { id: number }) => id) };
}

test('events are filtered by their type, newest first, and pages meet by offset and by cursor', async () => {
  const { client } = await newOrganization();
  const ids: number[] = [];
  for (let count = 0; count < 6; count++) ids.unshift(await post(client, { event_type: count % 3 ? 'seen' : 'ordered' }));
  expect(await list(client)).toMatchObject({ ids, total: 6, limit: 50, offset: 0, next_cursor: null });
  expect(await list(client, { event_type: 'ordered' })).toMatchObject({ ids: [ids[2], ids[5]], total: 2 });
  expect(await list(client, { event_type: 'order' })).toMatchObject({ ids: [], total: 0 });
  expect(await list(client, { limit: 2, offset: 2 })).toMatchObject({ ids: ids.slice(2, 4), total: 6 });
  const first = await list(client, { limit: 4 });
  await post(client, { event_type: 'seen' });
  expect(await list(client, { limit: 4, cursor: first.next_cursor! })).toMatchObject({ ids: ids.slice(4), next_cursor: null });
  for (const wrong of [
    { limit: 0 },
    { limit: 501 },
    { offset: -1 },
    { cursor: 'x' },
    { cursor: btoa('[null,5]') },
    { cursor: btoa('["a",5]') },
    { unique_by_phone: 'perhaps' },
  ])
    expect((await list(client, wrong as unknown as Record<string, string>)).status, JSON.stringify(wrong)).toBe(422);
  expect((await list(client, { limit: 500 })).status).toBe(200);
});

test('both ends of a range are inside it, a bare date is its whole day in UTC, and other text is refused', async () => {
  const { client } = await newOrganization();
  const moments = [
    '2026-11-01T23:59:59.999Z',
    '2026-11-02T00:00:00.000Z',
    '2026-11-02T12:30:00.000Z',
    '2026-11-02T23:59:59.999Z',
    '2026-11-03T00:00:00.000Z',
  ];
  const ids: number[] = [];
  for (const moment of moments) {
    const id = await post(client, { event_type: 'seen' });
    await setCreated(id, moment);
    ids.push(id);
  }
  const between = async (start_date: string, end_date: string) => {
    const { ids: found, total } = await list(client, { ...(start_date && { start_date }), ...(end_date && { end_date }) });
    expect(total).toBe(found.length);
    return found.map((id) => ids.indexOf(id)).toSorted();
  };
  expect(await between('2026-11-02', '2026-11-02')).toEqual([1, 2, 3]);
  expect(await between('2026-11-02', '')).toEqual([1, 2, 3, 4]);
  expect(await between('', '2026-11-01')).toEqual([0]);
  expect(await between('2026-11-02T12:30:00Z', '2026-11-02T12:30:00.000Z')).toEqual([2]);
  expect(await between('2026-11-02T14:30:00+02:00', '2026-11-03')).toEqual([2, 3, 4]);
  expect(await between('2026-11-03', '2026-11-02')).toEqual([]);
  for (const start_date of ['yesterday', '2026-13-01', '2026-02-31', '20261102', '2026-11-02 12:30', '1795000000', '']) {
    const { status } = await list(client, { start_date });
    expect(status, start_date).toBe(422);
  }
});

test('search finds part of a phone, of a name or of a type, without case, and combines with the filters', async () => {
  const { client } = await newOrganization();
  const other = await newOrganization();
  const phone = newPhone();
  await client.post('/contacts', { phone, first_name: 'Zoë', last_name: 'van den Berg' });
  await client.post('/contacts', { phone: newPhone(), first_name: 'Ada' });
  const [zoe1, zoe2] = [await post(client, { event_type: 'cart_added', phone }), await post(client, { event_type: 'order_placed', phone })];
  const raw = await post(client, { event_type: 'cart_added', phone: '12ab34' });
  const anonymous = await post(client, { event_type: 'order_placed' });
  await post(other.client, { event_type: 'cart_added', phone });
  const search = async (text: string, more: Record<string, string | number> = {}) => {
    const { ids, total } = await list(client, { search: text, ...more });
    expect(total).toBe(ids.length);
    return ids;
  };
  for (const part of [
    phone,
    phone.slice(-7),
    phone.slice(2, 9),
    `(${phone.slice(2, 5)}) ${phone.slice(5, 8)}-${phone.slice(8)}`,
    'zoë',
    'ZOE',
    'van den',
    'berg',
  ])
    expect(await search(part), part).toEqual([zoe2, zoe1]);
  expect(await search('CART')).toEqual([raw, zoe1]);
  expect(await search('_placed')).toEqual([anonymous, zoe2]);
  expect(await search('12ab')).toEqual([raw]);
  expect(await search('nothing like it')).toEqual([]);
  expect(await search('%')).toEqual([]);
  expect(await search('"')).toEqual([]);
  expect(await search('zoë', { event_type: 'cart_added' })).toEqual([zoe1]);
  expect(await search('zoë', { unique_by_phone: 'true' })).toEqual([zoe2]);
  expect(await search('zoë', { end_date: '2020-01-01' })).toEqual([]);
  const page = await list(client, { search: 'zoë', limit: 1 });
  expect(page).toMatchObject({ ids: [zoe2], total: 2 });
  expect(await list(client, { search: 'zoë', limit: 1, cursor: page.next_cursor! })).toMatchObject({ ids: [zoe1], next_cursor: null });
  expect(await list(client, { search: 'zoë', limit: 1, offset: 1 })).toMatchObject({ ids: [zoe1], total: 2 });
  expect((await list(client, { search: '' })).total).toBe(4);
});

test('a search finds every type that fits, however many there are', async () => {
  const { client } = await newOrganization();
  for (let count = 0; count < 25; count++) await post(client, { event_type: `order_${count}` });
  expect((await list(client, { search: 'order_' })).total).toBe(25);
});

test('unique_by_phone shows the newest event of each phone under the filters, and counts as many', async () => {
  const { client } = await newOrganization();
  const [a, b] = [newPhone(), newPhone()];
  const events = [
    { event_type: 'seen', phone: a },
    { event_type: 'ordered', phone: b },
    { event_type: 'seen', phone: b },
    { event_type: 'ordered', phone: a },
    { event_type: 'ordered', phone: 'N/A' },
    { event_type: 'ordered' },
    { event_type: 'ordered', phone: 'N/A' },
  ];
  const ids: number[] = [];
  for (const event of events) ids.push(await post(client, event));
  const unique = (more: Record<string, string | number> = {}) => list(client, { unique_by_phone: 'true', ...more });
  expect(await unique()).toMatchObject({ ids: [ids[6], ids[3], ids[2]], total: 3 });
  expect(await unique({ event_type: 'ordered' })).toMatchObject({ ids: [ids[6], ids[3], ids[1]], total: 3 });
  expect(await unique({ event_type: 'seen' })).toMatchObject({ ids: [ids[2], ids[0]], total: 2 });
  const page = await unique({ limit: 2 });
  expect(page).toMatchObject({ ids: [ids[6], ids[3]], total: 3 });
  expect(await unique({ limit: 2, cursor: page.next_cursor! })).toMatchObject({ ids: [ids[2]], next_cursor: null });
  expect(await unique({ limit: 1, offset: 2 })).toMatchObject({ ids: [ids[2]], total: 3 });
  expect((await list(client, { unique_by_phone: 'false' })).total).toBe(7);
});

test('events of one moment are distinguished by their ids, on every page', async () => {
  const { client } = await newOrganization();
  const ids: number[] = [];
  for (let count = 0; count < 5; count++) {
    const id = await post(client, { event_type: 'seen', phone: newPhone() });
    await setCreated(id, '2026-11-02T12:00:00Z');
    ids.unshift(id);
  }
  for (const more of [{}, { unique_by_phone: 'true' }, { search: 'seen' }] as Record<string, string>[]) {
    const seen: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = await list(client, { limit: 2, ...more, ...(cursor && { cursor }) });
      seen.push(...page.ids);
      cursor = page.next_cursor;
    }
    expect(seen, JSON.stringify(more)).toEqual(ids);
  }
});

test('the total without filters is exact at every moment: before a tick has counted, after it, and between two', async () => {
  const { client, id: organizationId } = await newOrganization();
  const totals: number[] = [];
  const note = async () => totals.push((await list(client)).total);
  for (let count = 0; count < 3; count++) await post(client, { event_type: 'seen' });
  await note();
  await tickAt(Date.now());
  await note();
  await post(client, { event_type: 'seen' });
  await note();
  await Promise.all([tickAt(Date.now()), tickAt(Date.now())]);
  await note();
  await post(client, { event_type: 'seen' });
  await note();
  expect(totals).toEqual([3, 3, 4, 4, 5]);
  const counted = await env.DB.prepare('SELECT events_count FROM organization_usage WHERE organization_id = ?')
    .bind(organizationId)
    .first();
  expect(counted).toEqual({ events_count: 4 });
});

test('a tick whose time is ahead of the clock hides no event from the total', async () => {
  const { client } = await newOrganization();
  await post(client, { event_type: 'seen' });
  await tickAt(Date.now() + 3 * 3_600_000);
  await post(client, { event_type: 'seen' });
  expect((await list(client)).total).toBe(2);
});

test('large data are shown whole in the list', async () => {
  const { client } = await newOrganization();
  const text = 'é'.repeat(60_000);
  await post(client, { event_type: 'imported', data: { text } });
  await post(client, { event_type: 'imported', data: { text: 'small' } });
  const { body } = await client.get('/events');
  expect(body.events.map(({ event_data }: { event_data: { text: string } }) => event_data.text)).toEqual(['small', text]);
});

test('another organization sees none of it, and a key that only reads may list but not post', async () => {
  const { client } = await newOrganization();
  const other = await newOrganization({ scopes: ['read'] });
  const phone = newPhone();
  await post(client, { event_type: 'seen', phone });
  expect(await list(other.client)).toMatchObject({ ids: [], total: 0 });
  expect(await list(other.client, { search: phone })).toMatchObject({ ids: [], total: 0 });
  expect(await list(other.client, { event_type: 'seen', unique_by_phone: 'true' })).toMatchObject({ ids: [], total: 0 });
  expect((await other.client.post('/events', { event_type: 'seen' })).status).toBe(403);
});
