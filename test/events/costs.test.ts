import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { deliver, dropQueueMessages, tickAt } from '../support/background.ts';
import { createActiveWorkflow, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { recordedClient, recordedDatabase, rowsRead, rowsWritten, type Recording } from '../support/recorded-database.ts';

afterEach(() => vi.restoreAllMocks());

/** Rows that D1 may write for one event of a known contact until its run starts, the mark that it is handled included. */
const maxRowsWritten = 7;

const onOrder = { trigger: { type: 'contact_event', config: { event_type: 'ordered' } } };

/** Consumes one event. Returns the cost. */
async function handleRecorded(organizationId: number, eventId: number): Promise<Recording> {
  const recording: Recording = { statements: [], calls: 0 };
  const bindings = { ...env, DB: recordedDatabase(env.DB, recording) };
  await deliver('events', [{ v: 1, kind: 'event', organization_id: organizationId, id: eventId }], bindings);
  return recording;
}

test('an event of a known contact writes at most seven rows until its run starts, its mark included', async () => {
  const { client: plain, key, id } = await newOrganization();
  const workflow = await createActiveWorkflow(plain, onOrder);
  const phone = newPhone();
  await plain.post('/contacts', { phone });
  for (const event_type of ['ordered', 'seen']) await plain.post('/events', { event_type, phone, list_name: 'Shoppers' });
  await waitForEndedRuns(plain, workflow, 1);
  dropQueueMessages();
  const { client, recording } = recordedClient(key);
  const spent: Record<string, number> = {};
  for (const [name, body] of Object.entries({
    'nobody listens': { event_type: 'seen', phone },
    'nobody listens, with event_id': { event_type: 'seen', phone, event_id: 'e-1' },
    'nobody listens, with list and data': { event_type: 'seen', phone, event_id: 'e-2', list_name: 'Shoppers', data: { a: 1 } },
    'a journey listens': { event_type: 'ordered', phone },
    'a journey listens, with event_id': { event_type: 'ordered', phone, event_id: 'e-3' },
  })) {
    const before = rowsWritten(recording);
    const { body: accepted } = await client.post('/events', body);
    const accepting = rowsWritten(recording) - before;
    const consumer = await handleRecorded(id, accepted.event_id);
    const inserted = consumer.statements.filter(({ sql }) => /INTO automation_run\b/.test(sql));
    // The run only decides, and is completed where it starts.
    const completed = consumer.statements.filter(({ sql }) => /UPDATE automation_run\b/.test(sql));
    const ofRuns = { ...consumer, statements: [...inserted, ...completed] };
    spent[name] = accepting + rowsWritten(consumer) - rowsWritten(ofRuns);
    expect(inserted.length, name).toBe(name.startsWith('a journey') ? 1 : 0);
  }
  for (const [name, rows] of Object.entries(spent)) expect(rows, name).toBeLessThanOrEqual(maxRowsWritten);
});

test('an event costs one call to accept and three to handle when no journey listens; a repeat writes nothing', async () => {
  const { client: plain, key, id } = await newOrganization();
  const phone = newPhone();
  await plain.post('/events', { event_type: 'seen', phone });
  dropQueueMessages();
  const { client, recording } = recordedClient(key);
  await client.get('/contacts');
  const callsOf = async (body: Record<string, unknown>) => {
    const [calls, written] = [recording.calls, rowsWritten(recording)];
    const answer = await client.post('/events', body);
    return { calls: recording.calls - calls, written: rowsWritten(recording) - written, id: answer.body.event_id };
  };
  const first = await callsOf({ event_type: 'seen', phone, event_id: 'e-1' });
  expect(first.calls).toBe(1);
  expect(await callsOf({ event_type: 'seen', phone, event_id: 'e-1', list_name: 'Late' })).toMatchObject({
    calls: 1,
    written: 0,
    id: first.id,
  });
  const second = await callsOf({ event_type: 'seen', phone });
  await handleRecorded(id, second.id);
  expect((await handleRecorded(id, first.id)).calls).toBe(3);
  expect((await handleRecorded(id, first.id)).calls).toBe(1);
});

const size = 20_000;

/** Fills an organization without going through the service: contacts, and an event of each. */
async function insertEvents(organizationId: number, count: number): Promise<void> {
  const numbers = '(WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?2) SELECT value FROM n)';
  const now = Date.now();
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO contact (organization_id, phone, first_name, last_name, tags, custom_fields, created_at, updated_at)
       SELECT ?1, '+1646' || (2000000 + value), 'Growing', 'Crowd' || (value % 100), '[]', '{}', 1000, 1000 FROM ${numbers}`,
    ).bind(organizationId, count),
    env.DB.prepare(
      `INSERT INTO event (organization_id, event_type, phone, contact_id, data, created_at, handled_at)
       SELECT ?1, 'filled_' || (id % 5), phone, id, '{}', ?2 - 86400000 - id % 1000, ?2 FROM contact WHERE organization_id = ?1 AND phone LIKE '+1646%'`,
    ).bind(organizationId, now),
    env.DB.prepare(
      'INSERT INTO organization_usage (organization_id, contacts_count) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET contacts_count = contacts_count + ?2',
    ).bind(organizationId, count),
    env.DB.prepare(`INSERT OR IGNORE INTO event_type SELECT ?1, 'filled_' || value, 1 FROM ${numbers} WHERE value < 5`).bind(
      organizationId,
      5,
    ),
  ]);
  // The minute tick counts what is new.
  await tickAt(now);
}

/** Makes each request about events once. Returns how many rows each read. */
async function measureReads({ key, id }: { key: string; id: number }): Promise<Record<string, number>> {
  const { client, recording } = recordedClient(key);
  const reads: Record<string, number> = {};
  const measure = async (name: string, call: () => ReturnType<typeof client.get>) => {
    const before = rowsRead(recording);
    const answer = await call();
    expect([name, answer.status]).toEqual([name, expect.toSatisfy((status: number) => status < 300)]);
    reads[name] = rowsRead(recording) - before;
    return answer.body;
  };
  const phone = newPhone();
  const events: number[] = [];
  const post = async (name: string, body: Record<string, unknown>) =>
    events.push((await measure(name, () => client.post('/events', body))).event_id);
  await client.post('/events', { event_type: 'rare_type' });
  const { body: contact } = await client.post('/contacts', { phone, first_name: 'Unmistakable', last_name: 'Quixote' });
  await post('event without contact', { event_type: 'rare_type' });
  await post('event of a known contact', { event_type: 'rare_type', phone });
  await post('event with an id and a list', { event_type: 'rare_type', phone, event_id: `e-${phone}`, list_name: 'Shoppers' });
  await post('event of a new contact', { event_type: 'rare_type', phone: newPhone() });
  const { event_id } = await measure('repeated event', () =>
    client.post('/events', { event_type: 'rare_type', phone, event_id: `e-${phone}` }),
  );
  for (const eventId of events) reads['handled event'] = rowsRead(await handleRecorded(id, eventId));
  reads['handled again'] = rowsRead(await handleRecorded(id, event_id));

  await measure('first page', () => client.get('/events?limit=20'));
  const { next_cursor } = (await client.get('/events?limit=2')).body;
  await measure('next page', () => client.get(`/events?limit=20&cursor=${next_cursor}`));
  await measure('of a type', () => client.get('/events?event_type=rare_type'));
  await measure('of a day', () => client.get(`/events?start_date=${new Date(Date.now() - 3_600_000).toISOString()}`));
  await measure('of a type and a day', () =>
    client.get(`/events?event_type=filled_1&start_date=${new Date(Date.now() - 3_600_000).toISOString()}`),
  );
  await measure('unique of a day', () =>
    client.get(`/events?unique_by_phone=true&start_date=${new Date(Date.now() - 3_600_000).toISOString()}`),
  );
  await measure('search of a name', () => client.get('/events?search=unmistak'));
  await measure('search of a phone', () => client.get(`/events?search=${phone.slice(2)}`));
  await measure('search of a type', () => client.get('/events?search=rare_ty'));
  await measure('search of nothing', () => client.get('/events?search=nothing-like-it'));
  await measure('events of a contact', () => client.get(`/contacts/${contact.id}/events`));
  return reads;
}

test('reading and accepting events reads no more rows among 20,000 than among 100, in the organization and beside it', async () => {
  const lost = dropQueueMessages();
  const small = await newOrganization();
  const large = await newOrganization();
  await insertEvents(small.id, 100);
  const before = await measureReads(small);
  await insertEvents(large.id, size);
  const beside = await measureReads(small);
  const within = await measureReads(large);
  lost.restore();
  const shown = Object.fromEntries(Object.keys(before).map((name) => [name, `${before[name]} / ${beside[name]} / ${within[name]}`]));
  for (const name of Object.keys(before)) {
    expect(beside[name], `${name} beside: ${shown[name]}`).toBeLessThanOrEqual(before[name]! * 1.2 + 25);
    expect(within[name], `${name} within: ${shown[name]}`).toBeLessThanOrEqual(before[name]! * 1.2 + 25);
  }
}, 60_000);

test('the newest event of each phone is found without reading all events of the few phones that have most', async () => {
  const reads: number[] = [];
  for (const count of [100, size]) {
    const { key, id } = await newOrganization();
    await env.DB.prepare(
      `INSERT INTO event (organization_id, event_type, phone, data, created_at, handled_at)
       WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?2)
       SELECT ?1, 'seen', '+164620000' || (10 + value % 10), '{}', 1000 + value, 1 FROM n`,
    )
      .bind(id, count)
      .run();
    const { client, recording } = recordedClient(key);
    const { body } = await client.get('/events?unique_by_phone=true');
    expect(body.total).toBe(10);
    expect(body.events.map(({ created_at }: { created_at: string }) => Date.parse(created_at))).toEqual(
      Array.from({ length: 10 }, (_, index) => 1000 + count - index),
    );
    reads.push(rowsRead(recording));
  }
  expect(reads[1]).toBeLessThanOrEqual(reads[0]! + 25);
});

test('phones are counted right under a filter, wherever among many thousands they stand', async () => {
  const { client, id } = await newOrganization();
  const now = Date.now();
  await env.DB.prepare(
    `INSERT INTO event (organization_id, event_type, phone, data, created_at, handled_at)
     WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 12000)
     SELECT ?1, iif(value > 11990, 'late', 'early'), '+1646' || (2000000 + value), '{}', iif(value > 11900, ?2, ?2 - 864000000), 1 FROM n`,
  )
    .bind(id, now)
    .run();
  const of = async (query: string) => (await client.get(`/events?unique_by_phone=true&limit=1${query}`)).body;
  expect(await of('')).toMatchObject({ total: 10_000, total_capped: true });
  expect((await of(`&start_date=${new Date(now - 60_000).toISOString()}`)).total).toBe(100);
  expect((await of('&event_type=late')).total).toBe(10);
});
