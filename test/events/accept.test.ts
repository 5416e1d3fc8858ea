import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { createActiveWorkflow, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, newPhone } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const on = (event_type: string) => ({ trigger: { type: 'contact_event', config: { event_type } } });
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test('an event answers its ids, creates its contact tagged event on the list, and is listed with every field', async () => {
  const { client } = await newOrganization();
  const phone = newPhone();
  const accepted = await client.post('/events', {
    event_type: 'cart_added',
    phone,
    list_name: 'Shoppers',
    data: { sku: 'K-200', deep: { a: [1] } },
    colour: 'ignored',
  });
  expect(accepted).toMatchObject({
    status: 201,
    body: { event_id: expect.any(Number), contact_id: expect.any(Number), triggered_workflows: 0 },
  });
  expect(Object.keys(accepted.body).toSorted()).toEqual(['contact_id', 'event_id', 'triggered_workflows']);
  expect((await client.get(`/contacts/${accepted.body.contact_id}`)).body).toMatchObject({
    phone,
    tags: ['event'],
    lists: [{ name: 'Shoppers' }],
  });
  const { body } = await client.get('/events/');
  expect(body.events).toEqual([
    {
      id: accepted.body.event_id,
      event_type: 'cart_added',
      phone,
      contact_id: accepted.body.contact_id,
      contact_name: '',
      event_data: { sku: 'K-200', deep: { a: [1] } },
      occurred_at: null,
      note: null,
      created_at: timestamp,
    },
  ]);
});

test('a known contact is resolved however its number is spelled, keeps its tags, and joins the list once', async () => {
  const { client } = await newOrganization();
  const phone = newPhone();
  const known = (await client.post('/contacts', { phone, first_name: 'Ada', last_name: 'Lovelace', tags: ['vip'] })).body;
  const spellings = [phone, `(${phone.slice(2, 5)}) ${phone.slice(5, 8)}-${phone.slice(8)}`, `001${phone.slice(2)}`, ` ${phone.slice(2)} `];
  for (const spelling of spellings) {
    const { body } = await client.post('/events', { event_type: 'seen', phone: spelling, list_name: 'shoppers' });
    expect(body.contact_id, spelling).toBe(known.id);
  }
  expect((await client.get(`/contacts/${known.id}`)).body).toMatchObject({ tags: ['vip'], updated_at: known.updated_at });
  expect((await client.get('/contacts/lists')).body.lists).toMatchObject([{ name: 'shoppers', contacts_count: 1 }]);
  for (const event of (await client.get('/events')).body.events) expect(event).toMatchObject({ phone, contact_name: 'Ada Lovelace' });
});

test('without a phone there is no contact, and the name in the data is shown', async () => {
  const { client } = await newOrganization();
  for (const phone of [undefined, null, '', '   ']) {
    const accepted = await client.post('/events', { event_type: 'seen', phone, list_name: 'Nobody', data: { name: 'Eve' } });
    expect(accepted).toMatchObject({ status: 201, body: { contact_id: null } });
  }
  for (const event of (await client.get('/events')).body.events)
    expect(event).toMatchObject({ phone: '', contact_id: null, contact_name: 'Eve' });
  expect((await client.get('/contacts/lists')).body.total).toBe(0);
});

test('a phone that is none is kept as received, without a contact, and the event still starts journeys', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, on('seen'));
  const wrong = ['N/A', '9.18E+11', '000', '12', '+1212345601012345678', 'call me', `+12123456010 ext. 5`];
  for (const phone of wrong)
    expect((await client.post('/events', { event_type: 'seen', phone, list_name: 'Nobody' })).body.contact_id, phone).toBeNull();
  expect((await client.get('/events')).body.events.map(({ phone }: { phone: string }) => phone)).toEqual(wrong.toReversed());
  for (const run of await waitForEndedRuns(client, workflow, wrong.length)) expect(run.contact_id).toBeNull();
  expect((await client.get('/contacts')).body.total).toBe(0);
});

test('at the contact limit new people stay unlinked while known ones are resolved; all start journeys', async () => {
  const { client } = await newOrganization({ maxContacts: 2 });
  const workflow = await createActiveWorkflow(client, on('seen'));
  const phones = [newPhone(), newPhone(), newPhone()];
  const ids = [];
  for (const phone of phones)
    ids.push((await client.post('/events', { event_type: 'seen', phone, list_name: 'Shoppers' })).body.contact_id);
  expect(ids).toEqual([expect.any(Number), expect.any(Number), null]);
  expect((await client.post('/events', { event_type: 'seen', phone: phones[0] })).body.contact_id).toBe(ids[0]);
  expect((await client.get('/events')).body.events[1]).toMatchObject({ phone: phones[2], contact_id: null });
  expect((await client.get('/contacts/lists')).body.lists).toMatchObject([{ contacts_count: 2 }]);
  await waitForEndedRuns(client, workflow, 4);
  await client.delete(`/contacts/${ids[0]}`);
  expect((await client.post('/events', { event_type: 'seen', phone: phones[2] })).body.contact_id).toEqual(expect.any(Number));
});

test('twenty events of one new person at once make one contact, one list and one membership', async () => {
  const { client } = await newOrganization();
  const phone = newPhone();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => client.post('/events', { event_type: 'seen', phone, list_name: 'Shoppers' })),
  );
  expect(new Set(answers.map(({ body }) => body.contact_id)).size).toBe(1);
  expect(new Set(answers.map(({ body }) => body.event_id)).size).toBe(20);
  expect((await client.get('/contacts')).body.total).toBe(1);
  expect((await client.get('/contacts/lists')).body).toMatchObject({ total: 1, lists: [{ contacts_count: 1 }] });
});

test("a sender's event id that repeats answers the first event and changes nothing, one after the other and at once", async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, on('ordered'));
  const phone = newPhone();
  const first = await client.post('/events', { event_type: 'ordered', event_id: 'order-1', phone, data: { total: 1 } });
  const repeated = await client.post('/events', {
    event_type: 'ordered',
    event_id: 'order-1',
    phone: newPhone(),
    list_name: 'Late',
    data: { total: 2 },
  });
  expect(repeated).toMatchObject({ status: 201, body: first.body });
  const together = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      client.post('/events', { event_type: 'ordered', event_id: 'order-2', phone: newPhone(), data: { index } }),
    ),
  );
  expect(new Set(together.map(({ body }) => `${body.event_id} ${body.contact_id}`)).size).toBe(1);
  await waitForEndedRuns(client, workflow, 2);
  expect((await client.get('/events')).body).toMatchObject({ total: 2, events: [{}, { event_data: { total: 1 } }] });
  expect((await client.get('/contacts')).body.total).toBe(2);
  expect((await client.get('/contacts/lists')).body.total).toBe(0);
  const other = await newOrganization();
  expect((await other.client.post('/events', { event_type: 'ordered', event_id: 'order-1' })).body.event_id).not.toBe(first.body.event_id);
});

test('on this path the Idempotency-Key is the event id', async () => {
  const { client } = await newOrganization();
  const send = (key: string, body: Record<string, unknown> = {}) =>
    client.post('/events', { event_type: 'ordered', ...body }, { 'Idempotency-Key': key });
  const first = await send('k-1');
  expect((await send('k-1')).body).toEqual(first.body);
  expect((await client.post('/events', { event_type: 'ordered', event_id: 'k-1' })).body).toEqual(first.body);
  expect((await send('k-2', { event_id: 'k-1' })).body).toEqual(first.body);
  expect((await send('k-2')).body.event_id).not.toBe(first.body.event_id);
});

test('occurred_at is kept as the moment it names', async () => {
  const { client } = await newOrganization();
  await client.post('/events', { event_type: 'ordered', occurred_at: '2026-11-20T10:15:30+02:00' });
  expect((await client.get('/events')).body.events[0].occurred_at).toBe('2026-11-20T08:15:30.000Z');
  for (const occurred_at of ['yesterday', '2026-11-20', 1_795_000_000]) {
    const refused = await client.post('/events', { event_type: 'ordered', occurred_at });
    expect(refused.status).toBe(422);
    expect(refused.body.detail[0].loc).toEqual(['body', 'occurred_at']);
  }
});

test('wrong bodies are refused by name, and nothing is stored', async () => {
  const { client } = await newOrganization();
  const cases: [unknown, number, string?][] = [
    [{}, 422, 'event_type'],
    [{ event_type: '' }, 422, 'event_type'],
    [{ event_type: '  ' }, 422, 'event_type'],
    [{ event_type: 7 }, 422, 'event_type'],
    [{ event_type: 'x'.repeat(256) }, 422, 'event_type'],
    [{ event_type: 'x', phone: 12_125_550_123 }, 422, 'phone'],
    [{ event_type: 'x', phone: '1'.repeat(101) }, 422, 'phone'],
    [{ event_type: 'x', list_name: 'x'.repeat(201) }, 422, 'list_name'],
    [{ event_type: 'x', data: [] }, 422, 'data'],
    [{ event_type: 'x', data: 'text' }, 422, 'data'],
    [{ event_type: 'x', event_id: '' }, 422, 'event_id'],
    [{ event_type: 'x', event_id: 'x'.repeat(256) }, 422, 'event_id'],
    [{ event_type: 'x', data: { text: 'x'.repeat(256 * 1024) } }, 422, 'data'],
    [{ event_type: 'x', data: { text: '你'.repeat(90_000) } }, 422, 'data'],
    [{ event_type: 'x', data: { text: 'x'.repeat(1024 * 1024) } }, 413],
    ['{"event_type":', 422],
    [`{"event_type":"x","data":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`, 422],
  ];
  for (const [body, status, field] of cases) {
    const answer = await client.post('/events', body);
    expect(answer.status, JSON.stringify(body).slice(0, 80)).toBe(status);
    if (field) expect(answer.body.detail[0].loc).toEqual(['body', field]);
  }
  expect((await client.post('/events', 'event_type=x', { 'Content-Type': 'application/x-www-form-urlencoded' })).status).toBe(415);
  expect((await client.get('/events')).body.total).toBe(0);
});

test('an event type of a hundred characters and data of 256 KiB are just allowed', async () => {
  const { client } = await newOrganization();
  const text = 'x'.repeat(256 * 1024 - '{"text":""}'.length);
  expect((await client.post('/events', { event_type: 'x'.repeat(100), data: { text } })).status).toBe(201);
  expect((await client.get('/events')).body.events[0].event_data.text).toBe(text);
});

test('keys that mean something to the language are data like any other', async () => {
  const { client } = await newOrganization();
  const text = '{"event_type":"x","data":{"__proto__":{"a":1},"constructor":"c","toString":"t","id":6012345678901234567}}';
  expect((await client.post('/events', text)).status).toBe(201);
  const { event_data } = (await client.get('/events')).body.events[0];
  expect(event_data).toMatchObject({ constructor: 'c', toString: 't', id: '6012345678901234567' });
  expect(({} as Record<string, unknown>)['a']).toBeUndefined();
});

test('a deleted contact leaves its events behind, without its name', async () => {
  const { client } = await newOrganization();
  const phone = newPhone();
  const contact = (await client.post('/contacts', { phone, first_name: 'Ada' })).body;
  await client.post('/events', { event_type: 'seen', phone });
  await client.delete(`/contacts/${contact.id}`);
  expect((await client.get('/events')).body.events[0]).toMatchObject({ contact_id: null, contact_name: '' });
  const again = await client.post('/events', { event_type: 'seen', phone });
  expect(again.body.contact_id).not.toBe(contact.id);
});

test('a message that is lost does not lose the answer', async () => {
  vi.spyOn(env.EVENTS_QUEUE, 'send').mockRejectedValue(new Error('the queue is away') as never);
  const { client } = await newOrganization();
  expect((await client.post('/events', { event_type: 'seen' })).status).toBe(201);
});
