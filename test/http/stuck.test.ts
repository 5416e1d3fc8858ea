import { env, exports } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { deliver, deliverDeadLettersForADay, dropQueueMessages, waitUntilHandled } from '../support/background.ts';
import { insertRow } from '../support/insert-row.ts';
import { chain, createActiveWorkflow, waitForEndedRuns, waitForRunState } from '../support/journeys.ts';
import { newOrganization, type Client } from '../support/organization.ts';
import { recordedClient, rowsRead } from '../support/recorded-database.ts';

afterEach(() => vi.restoreAllMocks());

const onOrder = { type: 'contact_event', config: { event_type: 'ordered' } };

const stuckOf = async (client: Client, query = ''): Promise<any> => {
  const { status, body } = await client.get(`/operations/stuck${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

const retry = (client: Client, item: { retry: string }) => client.post(item.retry);

test('with nothing wrong nothing is stuck, and queues and storage say so', async () => {
  const { client } = await newOrganization({ maxContacts: 50 });
  await client.post('/contacts', { phone: '+14155550100' });
  const body = await stuckOf(client);
  expect(body).toMatchObject({
    stuck: [],
    next_cursor: null,
    storage: { contacts: 1, contact_limit: 50, is_nearly_full: expect.any(Boolean) },
  });
  expect(body.queues.map(({ name, waiting, retry: path }: any) => [name, waiting, path])).toEqual([
    ['events', 0, null],
    ['deliveries', 0, null],
    ['contact_changes', 0, null],
    ['documents', 0, null],
    ['calls', 0, null],
  ]);
});

test('an event that was given up is listed with its reason, and a retry handles it', async () => {
  const { client, id: organizationId } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onOrder });
  const lost = dropQueueMessages();
  const id = (await client.post('/events', { event_type: 'ordered' })).body.event_id as number;
  lost.restore();
  const message = { v: 1, kind: 'event', organization_id: organizationId, id };
  await deliver('events-dead', [message]);
  const [failing] = (await stuckOf(client, '?kind=retrying')).stuck;
  expect(failing).toMatchObject({ id: `retrying:event:${id}`, state: 'retrying', tries: 1, next_try_at: expect.any(String) });
  await deliverDeadLettersForADay('events-dead', organizationId, [message]);
  const { stuck } = await stuckOf(client);
  expect(stuck).toMatchObject([
    { id: `event:${id}`, kind: 'event', state: 'given_up', name: 'ordered', why: expect.stringMatching(/^given_up:/) },
  ]);
  expect((await retry(client, stuck[0])).body).toMatchObject({ id: `event:${id}`, kind: 'event' });
  await waitForEndedRuns(client, workflow);
  await waitUntilHandled(id);
  expect((await stuckOf(client)).stuck).toEqual([]);
  expect((await retry(client, stuck[0])).status).toBe(409);
});

test('a record that fails is tried at once by a retry', async () => {
  const { client, id: organizationId } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onOrder });
  const lost = dropQueueMessages();
  const id = (await client.post('/events', { event_type: 'ordered' })).body.event_id as number;
  lost.restore();
  await deliver('events-dead', [{ v: 1, kind: 'event', organization_id: organizationId, id }]);
  const [failing] = (await stuckOf(client)).stuck;
  expect((await retry(client, failing)).status).toBe(200);
  await waitForEndedRuns(client, workflow);
});

test('a delivery and a firing that were given up go on after a retry', async () => {
  const { client, id: organizationId } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: { type: 'webhook', config: { auth: { type: 'none' } } } });
  const [{ webhook_url: url, id: triggerId }] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;
  const lost = dropQueueMessages();
  await exports.default.fetch(new Request(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }));
  lost.restore();
  const { id } = (await env.DB.prepare('SELECT id FROM webhook_delivery WHERE trigger_id = ?').bind(triggerId).first<{ id: number }>())!;
  await deliverDeadLettersForADay('events-dead', organizationId, [{ v: 1, kind: 'delivery', organization_id: organizationId, id }]);
  const nightly = await createActiveWorkflow(client, {
    trigger: { type: 'schedule', config: { cron: '0 3 * * *', timezone: 'UTC' } },
  });
  const [schedule] = (await client.get(`/automation-workflows/${nightly}/triggers`)).body.triggers;
  await env.DB.prepare(
    `INSERT INTO schedule_fire (trigger_id, scheduled_at, organization_id, handled_at, note, created_at) VALUES (?, 1000, ?, 2, 'given_up: no luck', 2)`,
  )
    .bind(schedule.id, organizationId)
    .run();
  const { stuck } = await stuckOf(client);
  expect(stuck.map((item: any) => [item.id, item.automation_workflow_id])).toEqual([
    [`delivery:${id}`, workflow],
    [`schedule_fire:${schedule.id}:1000`, nightly],
  ]);
  for (const item of stuck) expect((await retry(client, item)).status).toBe(200);
  await waitForEndedRuns(client, workflow);
  await waitForEndedRuns(client, nightly);
  expect((await stuckOf(client)).stuck).toEqual([]);
});

test('a failed run, a held journey and a failing trigger are listed, and each has its way on', async () => {
  const { client } = await newOrganization();
  const failing = await createActiveWorkflow(client, {
    definition: chain({ id: 'ask', type: 'http_request', data: { method: 'GET', url: 'https://127.0.0.1/' } }),
    settings: { retry: { max_attempts: 1 } },
  });
  const { body: run } = await client.post(`/automation-workflows/${failing}/execute`, { context: {} });
  await waitForRunState(client, run.id, 'failed');
  const single = await createActiveWorkflow(client, {
    definition: chain({ id: 'rest', type: 'wait', data: { duration: 'P1D' } }),
    settings: { max_active_runs: 1 },
    trigger: onOrder,
  });
  for (const _ of [1, 2]) await client.post('/events', { event_type: 'ordered' });
  await vi.waitFor(async () => expect((await client.get(`/automation-workflows/${single}/runs?state=queued`)).body.total).toBe(1));
  const { stuck } = await stuckOf(client);
  const byKind = Object.fromEntries(stuck.map((item: any) => [item.kind, item]));
  expect(byKind.run).toMatchObject({ id: `run:${run.id}`, automation_workflow_id: failing, why: expect.any(String) });
  expect(byKind.journey).toMatchObject({
    id: `journey:${single}`,
    state: 'held',
    why: expect.stringMatching(/^1 of its runs wait.*allows 1 at once$/),
  });
  expect((await retry(client, byKind.journey)).status).toBe(200);
  expect((await retry(client, byKind.run)).status).toBe(200);
  await client.patch(`/automation-workflows/${single}`, { status: 'paused' });
  const [paused] = (await stuckOf(client, '?kind=journey')).stuck;
  expect(paused).toMatchObject({ state: 'paused', retry: null, what_to_do: expect.stringContaining('"status": "active"') });
  expect((await client.post(`/operations/stuck/journey:${single}/retry`)).status).toBe(409);
});

test('a trigger that could not start runs is listed until it is saved anew', async () => {
  const { client, id: organizationId } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: { type: 'schedule', config: { cron: '0 3 * * *', timezone: 'UTC' } } });
  const [trigger] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;
  await env.DB.prepare(
    "UPDATE automation_trigger SET last_error = 'given_up: no luck', next_fire_at = NULL WHERE id = ? AND organization_id = ?",
  )
    .bind(trigger.id, organizationId)
    .run();
  const [item] = (await stuckOf(client)).stuck;
  expect(item).toMatchObject({ id: `trigger:${trigger.id}`, state: 'failing', why: 'given_up: no luck', automation_workflow_id: workflow });
  expect((await retry(client, item)).status).toBe(200);
  const [mended] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;
  expect(mended).toMatchObject({ last_error: null, next_fire_at: trigger.next_fire_at });
  expect((await stuckOf(client)).stuck).toEqual([]);
});

test('failed documents, failing tools and disabled receivers are listed', async () => {
  const { client, id: organizationId, userId } = await newOrganization();
  await insertRow('knowledge_document', {
    organization_id: organizationId,
    uuid: crypto.randomUUID(),
    filename: 'prices.pdf',
    status: 'failed',
    error: 'The file is damaged',
    is_active: 1,
    created_by: userId,
    updated_at: 3,
  });
  await insertRow('integration', {
    organization_id: organizationId,
    provider: 'sheet',
    account_id: crypto.randomUUID(),
    is_active: 1,
    last_error: 'mapping_broken',
    updated_at: 2,
  });
  const { body: endpoint } = await client.post('/webhook-endpoints', { url: 'https://receiver.example.com/hook' });
  await env.DB.prepare(
    "UPDATE webhook_endpoint SET status = 'disabled', disabled_at = 1, disabled_reason = 'It failed for 5 days' WHERE id = ?",
  )
    .bind(endpoint.id)
    .run();
  const { stuck } = await stuckOf(client);
  expect(stuck.map(({ kind, state, name, why }: any) => [kind, state, name, why])).toEqual([
    ['document', 'failed', 'prices.pdf', 'The file is damaged'],
    ['integration', 'failing', 'sheet', 'mapping_broken'],
    ['webhook_endpoint', 'disabled', null, 'It failed for 5 days'],
  ]);
  expect((await retry(client, stuck[2])).status).toBe(200);
  expect((await client.get(`/webhook-endpoints/${endpoint.id}`)).body.status).toBe('active');
});

test('pages of several kinds follow each other, and nothing is shown twice or left out', async () => {
  const { client, id: organizationId } = await newOrganization();
  for (let number = 0; number < 7; number++) {
    await insertRow('event', {
      organization_id: organizationId,
      event_type: `e${number}`,
      note: 'given_up: x',
      handled_at: (number * 7) % 10,
      data: '{}',
    });
    await env.DB.prepare(
      'INSERT INTO failed_message (key, organization_id, message, tries, first_failed_at, next_try_at) VALUES (?, ?, ?, 1, ?, 9000000000000)',
    )
      .bind(`event:${organizationId}-${number}`, organizationId, '{"kind":"event"}', (number * 3) % 10)
      .run();
  }
  const seen: string[] = [];
  for (let cursor = ''; ;) {
    const { stuck, next_cursor: next, queues } = await stuckOf(client, `?limit=3${cursor}`);
    expect(queues === null).toBe(cursor !== '');
    seen.push(...stuck.map(({ id }: { id: string }) => id));
    if (next === null) break;
    cursor = `&cursor=${next}`;
  }
  expect(seen).toHaveLength(14);
  expect(new Set(seen).size).toBe(14);
});

/** Does `work` while the minute tick's cursor is right before the organization's events: other tests leave thousands that wait. */
async function fromOwnEvents(organizationId: number, work: () => Promise<void>): Promise<void> {
  const name = 'events_handled';
  const before = await env.DB.prepare('SELECT value FROM progress WHERE name = ?').bind(name).first<{ value: number }>();
  const own = await env.DB.prepare('SELECT min(id) AS id FROM event WHERE organization_id = ?')
    .bind(organizationId)
    .first<{ id: number }>();
  const set = (value: number) =>
    env.DB.prepare('INSERT INTO progress (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2')
      .bind(name, value)
      .run();
  await set(own!.id - 1);
  try {
    await work();
  } finally {
    await set(before?.value ?? 0);
  }
}

test('events that wait are counted, and a retry of the queue sends them again', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onOrder });
  const lost = dropQueueMessages();
  for (const _ of [1, 2, 3]) await client.post('/events', { event_type: 'ordered' });
  lost.restore();
  await fromOwnEvents(id, async () => {
    const { queues } = await stuckOf(client);
    const events = queues.find(({ name }: any) => name === 'events');
    expect(events).toMatchObject({ waiting: 3, oldest_at: expect.any(String), retry: '/operations/stuck/queue:events/retry' });
    expect((await client.post(events.retry)).body).toMatchObject({ kind: 'queue', message: '3 of them are sent again' });
  });
  await waitForEndedRuns(client, workflow, 3);
});

test('what waits is counted behind any number of records of other organizations, and costs no row of theirs', async () => {
  const [own, other] = [await newOrganization(), await newOrganization()];
  const journey = await createActiveWorkflow(own.client, { trigger: { type: 'webhook', config: {} } });
  const trigger = (await own.client.get(`/automation-workflows/${journey}/triggers`)).body.triggers[0].id as number;
  const foreign = await createActiveWorkflow(other.client, { trigger: { type: 'webhook', config: {} } });
  const foreignTrigger = (await other.client.get(`/automation-workflows/${foreign}/triggers`)).body.triggers[0].id as number;
  const now = Date.now();
  const addMany = async (table: 'event' | 'webhook_delivery', count: number) => {
    const numbers = JSON.stringify(Array.from({ length: count }, (_, index) => index));
    const [columns, values] = table === 'event' ? ['event_type, data', "'x', '{}'"] : ['trigger_id, payload', `${foreignTrigger}, '{}'`];
    await env.DB.prepare(
      `INSERT INTO ${table} (organization_id, created_at, handled_at, ${columns}) SELECT ?1, ?2, ?2, ${values} FROM json_each(?3)`,
    )
      .bind(other.id, now, numbers)
      .run();
  };
  const waitingOf = async () => {
    const { client, recording } = recordedClient(own.key);
    const { body } = await client.get('/operations/stuck?limit=1');
    return { queues: body.queues.slice(0, 2).map(({ waiting, is_partial }: any) => [waiting, is_partial]), rows: rowsRead(recording) };
  };
  await addMany('event', 200);
  await addMany('webhook_delivery', 200);
  await waitingOf();
  const empty = await waitingOf();
  await addMany('event', 6000);
  await addMany('webhook_delivery', 6000);
  for (const _ of [1, 2]) {
    await insertRow('event', { organization_id: own.id, event_type: 'x', data: '{}', created_at: now });
    await insertRow('webhook_delivery', { organization_id: own.id, trigger_id: trigger, payload: '{}', created_at: now });
  }
  const behind = await waitingOf();
  await env.DB.batch(
    ['event', 'webhook_delivery'].map((table) =>
      env.DB.prepare(`UPDATE ${table} SET handled_at = 1 WHERE organization_id = ?`).bind(own.id),
    ),
  );
  expect(behind.queues).toEqual([
    [2, false],
    [2, false],
  ]);
  expect(behind.rows - empty.rows).toBeLessThan(200);
});

test('only admins see and retry; bad ids and other organizations get nothing', async () => {
  for (const scope of ['read', 'operate', 'write'] as const) {
    const { client } = await newOrganization({ scopes: [scope] });
    expect((await client.get('/operations/stuck')).status).toBe(403);
    expect((await client.post('/operations/stuck/event:1/retry')).status).toBe(403);
  }
  const [own, other] = [await newOrganization(), await newOrganization()];
  const id = await insertRow('event', { organization_id: own.id, event_type: 'x', note: 'given_up: x', handled_at: 1, data: '{}' });
  expect((await stuckOf(other.client)).stuck).toEqual([]);
  expect((await other.client.post(`/operations/stuck/event:${id}/retry`)).status).toBe(404);
  for (const bad of ['event', 'event:', 'nothing:1', 'event:abc', 'queue:unknown', 'schedule_fire:1', 'delivery:999999999'])
    expect((await own.client.post(`/operations/stuck/${encodeURIComponent(bad)}/retry`)).status, bad).toBe(404);
  expect((await own.client.get('/operations/stuck?kind=nothing')).status).toBe(422);
  expect((await own.client.get('/operations/stuck?cursor=abc')).status).toBe(422);
});

test('the list costs the same however much the organization has that does not stand still', async () => {
  const { client, id: organizationId, key } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onOrder });
  for (const _ of [1, 2])
    await insertRow('event', { organization_id: organizationId, event_type: 'x', note: 'given_up: x', handled_at: 1, data: '{}' });
  // The first page also looks at the rows of the queues, 5,000 at most.
  const { next_cursor: cursor } = await stuckOf(client, '?limit=1');
  const read = async () => {
    const { client: recorded, recording } = recordedClient(key);
    expect((await recorded.get(`/operations/stuck?limit=5&cursor=${cursor}`)).body.stuck).toHaveLength(1);
    return { calls: recording.calls, rows: rowsRead(recording) };
  };
  await read();
  const before = await read();
  expect(before.calls).toBeLessThanOrEqual(3);
  const numbers = JSON.stringify(Array.from({ length: 400 }, (_, index) => index));
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO event (organization_id, event_type, data, created_at, handled_at) SELECT ?1, 'ordered', '{}', 1, 1 FROM json_each(?2)`,
    ).bind(organizationId, numbers),
    env.DB.prepare(
      `INSERT INTO automation_run (organization_id, workflow_id, workflow_version, state, dedup_key, source, created_at, completed_at)
       SELECT ?1, ?3, 1, 'completed', 'fill:' || value, 'event', 1, 1 FROM json_each(?2)`,
    ).bind(organizationId, numbers, workflow),
  ]);
  const after = await read();
  expect(after.calls).toBe(before.calls);
  expect(after.rows).toBeLessThanOrEqual(before.rows + 5);
});
