import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { shards } from '../../src/database/shards.ts';
import { startDueSyncs } from '../../src/integrations/sync/start-due-syncs.ts';
import { connectIntegration, setAccountStatus, planFault } from '../support/integrations.ts';
import { newPhone } from '../support/organization.ts';
import { recordedDatabase } from '../support/recorded-database.ts';
import { everythingInbound, labs, syncService } from './sync-service.ts';

const firstId = '4600000000000000';
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

async function booksService() {
  const service = await syncService();
  const integration = await service.connectBooks();
  await service.work();
  /** As if everything in our records had happened so long ago. */
  const age = (milliseconds: number) =>
    env.DB.prepare(
      `UPDATE integration_sync SET checkpoint = json_set(checkpoint, '$.began', (checkpoint ->> 'began') - ?) WHERE integration_id = ?`,
    )
      .bind(milliseconds, integration)
      .run();
  const rename = (id: string, company_name: string) => service.atBooks('PUT', `/contacts/${id}`, { company_name });
  return { ...service, integration, age, rename };
}

describe('a poll of books', () => {
  test('reads only what has changed since', async () => {
    const { integration, rename, poll, contacts, links } = await booksService();
    await rename(firstId, 'Renamed');
    expect(await poll(integration)).toMatchObject({ status: 'completed', rows_seen: 1, updated: 1, unchanged: 0 });
    expect((await contacts())[0].company).toBe('Renamed');
    expect(await poll(integration)).toMatchObject({ rows_seen: 1, updated: 0, unchanged: 1 });
    expect(await links()).toHaveLength(450);
  });

  test('reads everything again once a day, after the mapping has changed, and where books will not say what has changed', async () => {
    const { client, integration, poll, age, work, lastSync } = await booksService();
    expect(await poll(integration)).toMatchObject({ rows_seen: 0 });
    await age(25 * hourMs);
    expect(await poll(integration)).toMatchObject({ rows_seen: 450 });
    expect(await poll(integration)).toMatchObject({ rows_seen: 0 });
    const { email: _email, ...fewer } = everythingInbound;
    await client.put(`/integration/${integration}/field-mapping`, { field_mapping: fewer });
    await work();
    expect(await lastSync(integration)).toMatchObject({ rows_seen: 450 });
    await planFault({
      provider: 'zohobooks',
      match: { method: 'GET' },
      times: 1,
      status: 400,
      body: { code: 4, message: 'Invalid value passed for last_modified_time' },
    });
    expect(await poll(integration)).toMatchObject({ status: 'completed', rows_seen: 450, unchanged: 450 });
  });

  test('asks for a little more than the time since, for clocks differ', async () => {
    const { integration, poll, age, rename } = await booksService();
    await rename(firstId, 'Renamed');
    await poll(integration);
    // The change was 4 minutes before the last reading began.
    await age(-4 * minuteMs);
    expect(await poll(integration)).toMatchObject({ rows_seen: 1, unchanged: 1 });
    await age(-20 * minuteMs);
    expect(await poll(integration)).toMatchObject({ rows_seen: 0 });
  });
});

describe('the minute tick', () => {
  test('begins what is due, a quarter of an hour after the last time, and one sync of it', async () => {
    const { id, integration, bindings, messages, lastSync, work } = await booksService();
    const before = (await lastSync(integration)).sync_id;
    const due = async (now: number) => {
      await startDueSyncs(bindings, shards(bindings)[0]!, now, 0);
      const own = messages.filter(({ body }) => body.organization_id === id);
      messages.splice(0, messages.length, ...own);
      return own.length;
    };
    const now = Date.now();
    expect(await due(now + 14 * minuteMs)).toBe(0);
    expect(await due(now + 15 * minuteMs)).toBe(1);
    expect(await due(now + 30 * minuteMs + 1)).toBe(1);
    const { results } = await env.DB.prepare(`SELECT id FROM integration_sync WHERE integration_id = ? AND status = 'running'`)
      .bind(integration)
      .all<any>();
    expect(results).toEqual([{ id: expect.any(Number) }]);
    expect(results[0].id).toBeGreaterThan(before);
    await env.DB.prepare('UPDATE integration_sync SET lease_until = 1 WHERE integration_id = ?').bind(integration).run();
    await work();
    expect(await lastSync(integration)).toMatchObject({ status: 'completed', rows_seen: 0 });
  });

  test('leaves alone what is not active, and what has nothing to read', async () => {
    const { id, client, bindings, messages } = await syncService();
    const { id: integration } = await connectIntegration(client, 'books');
    await client.post(`/integration/${integration}/books/organization`, { organization_id: labs });
    await startDueSyncs(bindings, shards(bindings)[0]!, Date.now() + hourMs, 0);
    expect(messages.filter(({ body }) => body.organization_id === id)).toEqual([]);
  });
});

describe('one sync at a time', () => {
  test('many ask for one, and it is one', async () => {
    const { client, integration, work, lastSync, messages } = await booksService();
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.post(`/integration/${integration}/resync`)));
    expect(new Set(answers.map(({ body }) => body.sync_id)).size).toBe(1);
    expect(messages).toHaveLength(5);
    await work();
    expect(await lastSync(integration)).toMatchObject({ sync_id: answers[0]!.body.sync_id, status: 'completed', rows_seen: 450 });
  });

  test('messages of it that come at once are worked off once', async () => {
    const { connectBooks, messages, deliver, work, lastSync, contacts } = await syncService();
    const id = await connectBooks();
    const all = messages.splice(0, messages.length);
    await Promise.all([...all, ...all].map((message) => deliver({ ...message })));
    await work();
    expect(await lastSync(id)).toMatchObject({ status: 'completed', rows_seen: 450, created: 450, unchanged: 0 });
    expect(await contacts()).toHaveLength(450);
  });

  test('whoever was too slow and lost it to another writes nothing more', async () => {
    const { connectBooks, bindings, messages, step, deliver, lastSync, contacts } = await syncService();
    const id = await connectBooks();
    const message = { ...messages[0]! };
    messages.length = 0;
    messages.push(message);
    let pages = 0;
    const DB = recordedDatabase(env.DB, { statements: [], calls: 0 }, async (statements) => {
      if (!statements.some((sql) => /INSERT INTO integration_contact/.test(sql)) || ++pages !== 2) return;
      await env.DB.prepare('UPDATE integration_sync SET lease_until = 1 WHERE integration_id = ?').bind(id).run();
      await deliver({ ...message });
    });
    await step({ ...bindings, DB });
    expect(await lastSync(id)).toMatchObject({ status: 'completed', rows_seen: 450, created: 450, updated: 0, unchanged: 0 });
    expect(await contacts()).toHaveLength(450);
  });

  test('whoever was too slow does not write a page that another has written', async () => {
    const { connectBooks, bindings, messages, step, deliver, work, lastSync } = await syncService();
    const id = await connectBooks();
    messages.splice(1);
    const message = { ...messages[0]! };
    let pages = 0;
    const quick = recordedDatabase(env.DB, { statements: [], calls: 0 }, async (statements) => {
      if (statements.some((sql) => /INSERT INTO integration_contact/.test(sql))) await planFault({ ...rateLimit, times: 1 });
    });
    const slow = recordedDatabase(env.DB, { statements: [], calls: 0 }, async (statements) => {
      if (!statements.some((sql) => /INSERT INTO integration_contact/.test(sql)) || ++pages !== 2) return;
      await env.DB.prepare('UPDATE integration_sync SET lease_until = 1 WHERE integration_id = ?').bind(id).run();
      await deliver({ ...message }, { ...bindings, DB: quick });
    });
    await step({ ...bindings, DB: slow });
    expect(await lastSync(id)).toMatchObject({ status: 'running', created: 400, unchanged: 0 });
    await work();
    expect(await lastSync(id)).toMatchObject({ status: 'completed', rows_seen: 450, created: 450, unchanged: 0 });
  });

  test.each([
    ['changed', { title: 'Boss', tags: ['vip'] }],
    ['deleted', null],
  ])('a contact that is %s between a page and its reading loses nothing', async (_how, change) => {
    const { client, connectBooks, bindings, step, lastSync, contacts } = await syncService();
    const { body } = await client.post('/contacts', { phone: '+16462000100', title: 'Chief' });
    const id = await connectBooks(everythingInbound, labs);
    const write = () => (change ? client.put(`/contacts/${body.id}`, change) : client.delete(`/contacts/${body.id}`));
    await step({ ...bindings, DB: whenFirst('INSERT INTO integration_contact', write) });
    expect(await lastSync(id)).toMatchObject({ status: 'completed', rows_seen: 5, created: change ? 4 : 5, updated: change ? 1 : 0 });
    const found = (await contacts()).find(({ phone }) => phone === '+16462000100');
    expect(found).toMatchObject({ first_name: 'Amara', company: 'Northwind', ...(change ?? { title: null }) });
  });

  test('a contact that is made between a page and its reading is found', async () => {
    const { client, connectBooks, bindings, step, lastSync, contacts } = await syncService();
    const id = await connectBooks(everythingInbound, labs);
    const write = () => client.post('/contacts', { phone: '+16462000101', title: 'Between' });
    await step({ ...bindings, DB: whenFirst('INSERT INTO integration_contact', write) });
    expect(await lastSync(id)).toMatchObject({ status: 'completed', created: 4, updated: 1 });
    expect((await contacts())[0]).toMatchObject({ title: 'Between', first_name: 'Bruno' });
  });
});

test.each(['INSERT INTO integration_contact', 'UPDATE integration SET last_error'])(
  'a mapping that is changed just before "%s" is the one that everything is read by in the end',
  async (statement) => {
    const { client, connectBooks, bindings, messages, step, work, lastSync, contacts } = await syncService();
    const id = await connectBooks(everythingInbound, labs);
    const syncId = messages[0]!.body.id;
    const field_mapping = { ...everythingInbound, 'custom_fields.site': { external_field: 'company_name', direction: 'inbound' } };
    const write = async () => expect((await client.put(`/integration/${id}/field-mapping`, { field_mapping })).status).toBe(200);
    await step({ ...bindings, DB: whenFirst(statement, write) });
    await work();
    expect(await lastSync(id)).toMatchObject({ sync_id: syncId, status: 'completed', rows_seen: 5 });
    expect((await contacts()).every(({ company, custom_fields }) => custom_fields.site === company)).toBe(true);
  },
);

/** A database before whose first call with such a statement something happens. */
function whenFirst(statement: string, work: () => Promise<unknown>): D1Database {
  let isDone = false;
  return recordedDatabase(env.DB, { statements: [], calls: 0 }, async (statements) => {
    if (isDone || !statements.some((sql) => sql.includes(statement))) return;
    isDone = true;
    await work();
  });
}

const rateLimit = {
  provider: 'zohobooks',
  match: { method: 'GET' },
  status: 429,
  headers: { 'retry-after': '90' },
  body: { code: 45, message: 'Too many requests' },
};

describe('trouble', () => {
  test('that passes is waited for as long as the provider asks, and said meanwhile', async () => {
    const { client, connectBooks, step, work, lastSync } = await syncService();
    await client.post('/contacts', { phone: newPhone() });
    const id = await connectBooks();
    await planFault({ ...rateLimit, times: 1 });
    expect(await step()).toBe(90);
    expect(await lastSync(id)).toMatchObject({
      status: 'running',
      reason: expect.stringMatching(/rate limited.*in 90 seconds/),
      finished_at: null,
    });
    await work();
    expect(await lastSync(id)).toMatchObject({ status: 'completed', reason: null, rows_seen: 450 });
  });

  test('in the middle keeps what was read, and does not use up tries', async () => {
    const { connectBooks, bindings, messages, step, lastSync, work } = await syncService();
    const id = await connectBooks();
    messages.splice(1);
    let isPlanned = false;
    const DB = recordedDatabase(env.DB, { statements: [], calls: 0 }, async (statements) => {
      if (isPlanned || !statements.some((sql) => /INSERT INTO integration_contact/.test(sql))) return;
      isPlanned = true;
      await planFault({ ...rateLimit, times: 1 });
    });
    expect(await step({ ...bindings, DB })).toBeNull();
    expect(messages).toMatchObject([{ queue: 'syncs', tries: 0, delaySeconds: 90 }]);
    expect(await lastSync(id)).toMatchObject({ status: 'running', created: 200, reason: expect.stringContaining('rate limited') });
    await work();
    expect(await lastSync(id)).toMatchObject({ status: 'completed', created: 450, unchanged: 0, reason: null });
  });

  test('that does not pass fails the sync with its reason, and the next poll tries again', async () => {
    const { connectBooks, work, lastSync, integrationOf, poll } = await syncService();
    const id = await connectBooks();
    await planFault({ ...rateLimit, times: 9 });
    await work();
    const reason = expect.stringMatching(
      /^books: rate limited.*; given up after repeated failures\. It is tried again within 15 minutes, or at once by a resync$/,
    );
    expect(await lastSync(id)).toMatchObject({ status: 'failed', reason, finished_at: expect.any(String) });
    expect(await integrationOf(id)).toMatchObject({ is_active: true, last_error: reason });
    expect(await poll(id)).toMatchObject({ status: 'completed', created: 450 });
    expect((await integrationOf(id)).last_error).toBeNull();
  });

  test('with the grant ends the sync, makes the integration inactive, and is over when it is connected again', async () => {
    const { client, connectBooks, work, lastSync, integrationOf, poll } = await syncService();
    const id = await connectBooks();
    const { integration_id: account } = await integrationOf(id);
    await setAccountStatus(account, 'EXPIRED');
    await work();
    expect(await lastSync(id)).toMatchObject({ status: 'failed', reason: expect.stringContaining('connect it again'), rows_seen: 0 });
    expect(await integrationOf(id)).toMatchObject({ is_active: false, last_error: expect.stringContaining('connect it again') });
    expect(await connectIntegration(client, 'books')).toMatchObject({ id, is_active: true });
    expect(await poll(id)).toMatchObject({ status: 'completed', created: 450 });
  });

  test('with the scopes is said as insufficient_permissions', async () => {
    const { client, work, lastSync, integrationOf } = await syncService();
    const { id } = await connectIntegration(client, 'books', { scopes: 'ZohoBooks.settings.READ' });
    await client.post(`/integration/${id}/books/organization`, { organization_id: labs });
    await client.put(`/integration/${id}/field-mapping`, { field_mapping: everythingInbound });
    await work();
    expect(await lastSync(id)).toMatchObject({ status: 'failed', reason: expect.stringMatching(/^insufficient_permissions: /) });
    expect(await integrationOf(id)).toMatchObject({ is_active: true });
  });
});
