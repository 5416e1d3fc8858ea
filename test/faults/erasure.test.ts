import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { eraseContact } from '../../src/cron/cleanup/erase-contact.ts';
import { applyRetention } from '../../src/cron/retention/apply-retention.ts';
import { Database } from '../../src/database/client.ts';
import { organizationFolders, organizationTables } from '../../src/database/organization-tables.ts';
import { Logger } from '../../src/library/platform/log.ts';
import { dropQueueMessages } from '../support/background.ts';
import { insertRow } from '../support/insert-row.ts';
import { createActiveWorkflow, chain, waitForRunState, runStub } from '../support/journeys.ts';
import { insertCall } from '../calls/listed-calls.ts';
import { newAgent } from '../campaigns/campaign-service.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { recordedDatabase, rowsRead, type Recording } from '../support/recorded-database.ts';
import { storedRun } from '../support/stored-run.ts';

afterEach(() => vi.restoreAllMocks());

const dayMs = 86_400_000;
const long = 'x'.repeat(70_000);

/** All data of an organization in D1 and R2, by place. */
async function everythingOf(organizationId: number): Promise<Map<string, string>> {
  const kept = new Map<string, string>();
  for (const { table, rows } of organizationTables)
    for (const condition of rows) {
      const { results } = await env.DB.prepare(`SELECT * FROM ${table} WHERE ${condition}`).bind(organizationId).all();
      kept.set(table, (kept.get(table) ?? '') + JSON.stringify(results));
    }
  for (const folder of organizationFolders) {
    const { objects } = await env.FILES.list({ prefix: `${folder}${organizationId}/` });
    for (const { key } of objects) kept.set(key, await (await env.FILES.get(key))!.text());
  }
  return kept;
}

const naming = (kept: Map<string, string>, words: string[]) =>
  [...kept].filter(([key, text]) => words.some((word) => key.includes(word) || text.includes(word))).map(([key]) => key);

/** Deletes a contact without its erasure, which the test does page by page. */
async function bury(client: Client, contact: number): Promise<void> {
  const lost = dropQueueMessages();
  expect((await client.delete(`/contacts/${contact}`)).status).toBe(200);
  lost.restore();
}

const contextOf = async (organizationId: number, bindings: Env = env) =>
  (await backgroundContext(bindings, organizationId, () => undefined))!;

/** Runs the erasure of a contact; returns the number of its pages. */
async function erase(organizationId: number, contact: number, bindings: Env = env): Promise<number> {
  const context = await contextOf(organizationId, bindings);
  for (let pages = 1; pages < 100; pages++) {
    const progress = await eraseContact(context, contact);
    if (progress === 'done') return pages;
    if (progress === 'later') await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the erasure does not end');
}

/** All records of a person, each with the person's name and number in it. */
async function leaveTraces(client: Client, organizationId: number, person: { id: number; phone: string; word: string }): Promise<void> {
  const { id, phone, word } = person;
  await client.post('/events', { event_type: 'seen', phone, data: { name: word } });
  await client.post('/events', { event_type: 'seen', phone, data: { name: word, long } });
  const config = { auth: { type: 'none' }, mapping: { phone: 'phone' } };
  const workflow = await createActiveWorkflow(client, {
    definition: chain({
      id: 'keep',
      type: 'set_context',
      data: { assign: { seen: '{{ contact.first_name }} {{ contact.phone }}', long } },
    }),
    settings: { entry_key: '{{ contact.phone }}', reentry: { mode: 'after', after: 'P30D' } },
    trigger: { type: 'manual' },
  });
  const hook = (await client.post(`/automation-workflows/${workflow}/triggers`, { type: 'webhook', config })).body;
  for (const more of [{}, { long }])
    expect((await client.post(`/automation-workflows/webhook/${hook.uuid}`, { phone, name: word, ...more })).status).toBe(202);
  const failing = await createActiveWorkflow(client, {
    definition: chain({ id: 'ask', type: 'http_request', data: { url: 'http://127.0.0.1:1/', method: 'GET' } }),
    settings: { retry: { max_attempts: 1 } },
  });
  const failed = (await client.post(`/automation-workflows/${failing}/execute`, { contact_id: id, context: { name: word, long } })).body;
  await waitForRunState(client, failed.id, 'failed');
  const call = await insertRow('voice_agent_run', {
    organization_id: organizationId,
    contact_id: id,
    phone,
    name: word,
    is_completed: 1,
    initial_context: JSON.stringify({ name: word }),
    result: JSON.stringify({ gathered_context: { extracted_variables: { name: word } }, cost_info: {}, annotations: { summary: word } }),
  });
  for (const name of ['recording', 'transcript.txt', 'transcript.json', 'logs.json'])
    await env.FILES.put(`calls/${organizationId}/${call}/${name}`, word);
  await insertRow('message', { organization_id: organizationId, contact_id: id, recipient: phone, history: '[]', created_at: Date.now() });
}

test('nothing in the database, the bucket or the objects names a deleted contact, and those of others stay', async () => {
  const { client, id: organizationId } = await newOrganization();
  const [gone, stays] = await Promise.all(
    ['Zaphod', 'Trillian'].map(async (word) => {
      const phone = newPhone();
      const { body } = await client.post('/contacts', { phone, first_name: word });
      return { id: body.id as number, phone, word };
    }),
  );
  for (const person of [gone!, stays!]) await leaveTraces(client, organizationId, person);
  await vi.waitFor(
    async () => {
      const open = await env.DB.prepare(
        'SELECT (SELECT count(*) FROM event WHERE organization_id = ?1 AND handled_at IS NULL) + (SELECT count(*) FROM automation_run WHERE organization_id = ?1 AND completed_at IS NULL) AS open',
      )
        .bind(organizationId)
        .first<{ open: number }>();
      expect(open!.open).toBe(0);
    },
    { timeout: 15_000, interval: 50 },
  );
  const before = await everythingOf(organizationId);
  const words = [gone!.word, gone!.phone, gone!.phone.slice(1)];
  const tables = ['contact', 'event', 'webhook_delivery', 'automation_run', 'workflow_entry', 'voice_agent_run', 'message'];
  expect(naming(before, words)).toEqual(expect.arrayContaining(tables));
  for (const folder of ['payloads/', 'runs/', 'calls/'])
    expect(
      naming(before, words).some((key) => key.startsWith(folder)),
      folder,
    ).toBe(true);
  const failed = await env.DB.prepare("SELECT id FROM automation_run WHERE contact_id = ? AND state = 'failed'")
    .bind(gone!.id)
    .first<{ id: number }>();

  await bury(client, gone!.id);
  await erase(organizationId, gone!.id);
  const after = await everythingOf(organizationId);
  expect(naming(after, words)).toEqual([]);
  const others = [stays!.word, stays!.phone.slice(1)];
  expect(naming(after, others).toSorted()).toEqual(naming(before, others).toSorted());
  const isThere = await runInDurableObject(runStub(organizationId, failed!.id), (_object, { storage }) => storedRun(storage));
  expect(isThere).toBeNull();
  expect((await client.get(`/automation-workflows/runs/${failed!.id}`)).body).toMatchObject({
    state: 'failed',
    contact_id: null,
    initial_context: {},
  });
  expect((await client.get('/events')).body.total).toBe(4);
  expect((await client.get(`/contacts/${stays!.id}`)).status).toBe(200);
}, 60_000);

/** An archived event of each of the contacts, in one file. */
async function archivedEvents(organizationId: number, contacts: number[], days: number): Promise<{ id: number; name: string }> {
  const name = `archive/${organizationId}/event/${contacts[0]}-${contacts.at(-1)}.ndjson`;
  const rows = contacts.map((contact) => ({
    id: contact,
    organization_id: organizationId,
    contact_id: contact,
    phone: '+1',
    data: `{"of":${contact}}`,
  }));
  await env.FILES.put(name, rows.map((row) => JSON.stringify(row)).join('\n'));
  const id = await insertRow('archive', { organization_id: organizationId, kind: 'event', name, created_at: Date.now() - days * dayMs });
  for (const contact of contacts) await insertRow('archive_contact', { contact_id: contact, archive_id: id });
  return { id, name };
}

describe('of the archive', () => {
  test('the rows of a deleted contact go with their payloads and histories, and those of others stay', async () => {
    const { client, id } = await newOrganization();
    const [gone, stays] = [
      (await client.post('/contacts', { phone: newPhone() })).body.id,
      (await client.post('/contacts', { phone: newPhone() })).body.id,
    ];
    const payload = `payloads/${id}/contexts/${gone}.json`;
    const history = [`runs/${id}/7/history-0.json`, `payloads/${id}/runs/7-3.json`];
    for (const name of [payload, ...history]) await env.FILES.put(name, '{}');
    const events = await archivedEvents(id, [gone, stays], 1);
    const name = `archive/${id}/automation_run/7-7.ndjson`;
    await env.FILES.put(name, JSON.stringify({ id: 7, contact_id: gone, initial_context: `@r2:70000:${payload}` }));
    const runs = await insertRow('archive', { organization_id: id, kind: 'automation_run', name, created_at: Date.now() - dayMs });
    await insertRow('archive_contact', { contact_id: gone, archive_id: runs });
    await bury(client, gone);
    await erase(id, gone);
    expect(JSON.parse(await (await env.FILES.get(events.name))!.text())).toMatchObject({ contact_id: stays });
    expect(await (await env.FILES.get(name))!.text()).toBe('');
    for (const file of [payload, ...history]) expect([file, await env.FILES.head(file)]).toEqual([file, null]);
    const { results } = await env.DB.prepare('SELECT contact_id FROM archive_contact WHERE archive_id IN (?, ?)')
      .bind(events.id, runs)
      .all();
    expect(results).toEqual([{ contact_id: stays }]);
  });

  test('an erasure waits for a file that may still be uploading', async () => {
    const { client, id } = await newOrganization();
    const { id: gone } = (await client.post('/contacts', { phone: newPhone() })).body;
    const archive = await archivedEvents(id, [gone], 0);
    await bury(client, gone);
    expect(await eraseContact(await contextOf(id), gone)).toBe('later');
    await env.DB.prepare('UPDATE archive SET created_at = created_at - 1000000 WHERE id = ?').bind(archive.id).run();
    expect(await eraseContact(await contextOf(id), gone)).toBe('done');
    expect(await (await env.FILES.get(archive.name))!.text()).toBe('');
  });

  test('two erasures that write one file at once both come true', async () => {
    const { client, id } = await newOrganization();
    const ids = await Promise.all([1, 2, 3].map(async () => (await client.post('/contacts', { phone: newPhone() })).body.id as number));
    const archive = await archivedEvents(id, ids, 1);
    for (const contact of ids.slice(0, 2)) await bury(client, contact);
    let isFirst = true;
    const files = {
      get: async (name: string) => {
        const found = await env.FILES.get(name);
        if (isFirst && name === archive.name) {
          isFirst = false;
          await erase(id, ids[1]!);
        }
        return found;
      },
      put: env.FILES.put.bind(env.FILES),
      list: env.FILES.list.bind(env.FILES),
      delete: env.FILES.delete.bind(env.FILES),
    } as unknown as R2Bucket;
    await erase(id, ids[0]!, { ...env, FILES: files });
    expect(JSON.parse(await (await env.FILES.get(archive.name))!.text())).toMatchObject({ contact_id: ids[2] });
  });

  test('an archive file is listed under the contacts of its rows, so that an erasure finds it', async () => {
    const { client, id } = await newOrganization();
    const { id: gone, phone } = (await client.post('/contacts', { phone: newPhone() })).body;
    const { event_id } = (await client.post('/events', { event_type: 'seen', phone, data: { name: 'Marvin' } })).body;
    await client.post('/events', { event_type: 'seen' });
    await env.DB.batch([
      env.DB.prepare('UPDATE event SET handled_at = 1, created_at = ? WHERE id = ?').bind(Date.now() - 91 * dayMs, event_id),
      env.DB.prepare("INSERT OR REPLACE INTO progress (name, value) VALUES ('event_retained', ?)").bind(event_id - 1),
    ]);
    await applyRetention(env, new Database(env.DB, true), Date.now(), new Logger('error', {}));
    expect(naming(await everythingOf(id), ['Marvin']).every((key) => key.startsWith('archive/'))).toBe(true);
    expect(naming(await everythingOf(id), ['Marvin'])).toHaveLength(1);
    await env.DB.prepare('UPDATE archive SET created_at = 1 WHERE organization_id = ?').bind(id).run();
    await bury(client, gone);
    await erase(id, gone);
    expect(naming(await everythingOf(id), ['Marvin', phone])).toEqual([]);
  });
});

/** Inserts rows about a contact. */
async function fill(organizationId: number, contact: number, count: number): Promise<void> {
  const numbers = '(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?3) SELECT i FROM n)';
  const key = crypto.randomUUID();
  const add = (sql: string) => env.DB.prepare(sql).bind(organizationId, contact, count);
  await env.DB.batch([
    add(
      `INSERT INTO event (organization_id, event_type, phone, contact_id, data, created_at, handled_at) SELECT ?1, 'seen', '+1', ?2, '{"a":1}', i, 1 FROM ${numbers}`,
    ),
    add(`INSERT INTO webhook_delivery (organization_id, trigger_id, delivery_id, contact_id, payload, created_at, handled_at)
         SELECT ?1, ?1, '${key}:' || i, ?2, '{"body":{"a":1}}', i, 1 FROM ${numbers}`),
    add(`INSERT INTO automation_run (organization_id, workflow_id, workflow_version, state, dedup_key, source, contact_id, initial_context, context_changes, completed_at, created_at)
         SELECT ?1, ?1, 1, 'completed', '${key}:' || i, 'run', ?2, '{"a":1}', '{"a":1}', 1, 1 FROM ${numbers}`),
    add(`INSERT INTO message (organization_id, send_key, provider, kind, recipient, contact_id, status, status_rank, history, created_at, updated_at)
         SELECT ?1, '${key}:' || i, 'provider_b', 'text', '+1', ?2, 'sent', 3, '[]', 1, 1 FROM ${numbers}`),
    add(`INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, phone, contact_id, is_completed, initial_context, created_at)
         SELECT ?1, 0, 0, 'call', 'twilio', 'outbound', '${key}:' || i, '+1', ?2, 1, '{"a":1}', 1 FROM ${numbers}`),
  ]);
}

const tracesOf = async (contact: number) =>
  (await env.DB.prepare(
    `SELECT (SELECT count(*) FROM event WHERE contact_id = ?1) + (SELECT count(*) FROM webhook_delivery WHERE contact_id = ?1)
       + (SELECT count(*) FROM automation_run WHERE contact_id = ?1) + (SELECT count(*) FROM message WHERE contact_id = ?1)
       + (SELECT count(*) FROM voice_agent_run WHERE contact_id = ?1) AS traces`,
  )
    .bind(contact)
    .first<{ traces: number }>())!.traces;

test('a deleted contact is found by no word of its calls, and its calls have no number, variables and summary', async () => {
  const { client, id } = await newOrganization();
  const [gone, stays] = [
    (await client.post('/contacts', { phone: newPhone() })).body,
    (await client.post('/contacts', { phone: newPhone() })).body,
  ];
  const agentId = await newAgent(id);
  const listed = { agentId, said: 'parcel', talkSeconds: 5, extracted: { day: 'Monday' } };
  const erased = await insertCall(id, { ...listed, contactId: gone.id, phone: gone.phone });
  const kept = await insertCall(id, { ...listed, contactId: stays.id, phone: stays.phone });
  await bury(client, gone.id);
  await erase(id, gone.id);
  const calls = async (query: string) => (await client.get(`/calls?${query}`)).body.calls;
  expect((await calls('text=parcel')).map((call: { id: number }) => call.id)).toEqual([kept]);
  expect(await calls(`phone=${encodeURIComponent(gone.phone)}`)).toEqual([]);
  expect(await calls('sort=oldest')).toMatchObject([
    {
      id: erased,
      phone: null,
      contact_id: null,
      summary: null,
      extracted_variables: {},
      transcript_url: null,
      talk_seconds: 5,
      answered_by: 'person',
    },
    { id: kept, phone: stays.phone, extracted_variables: { day: 'Monday' } },
  ]);
});

test('an erasure costs what the contact has, whatever the organization has', async () => {
  const spent: { calls: number; statements: number; rows: number }[] = [];
  for (const beside of [10, 10_000]) {
    const { client, id } = await newOrganization();
    const [gone, stays] = [
      (await client.post('/contacts', { phone: newPhone() })).body.id,
      (await client.post('/contacts', { phone: newPhone() })).body.id,
    ];
    await fill(id, stays, beside);
    await fill(id, gone, 5);
    await bury(client, gone);
    const recording: Recording = { statements: [], calls: 0 };
    await erase(id, gone, { ...env, DB: recordedDatabase(env.DB, recording) });
    expect(await tracesOf(gone)).toBe(0);
    expect(await tracesOf(stays)).toBe(5 * beside);
    spent.push({ calls: recording.calls, statements: recording.statements.length, rows: rowsRead(recording) });
  }
  const [small, large] = spent;
  expect(large!.statements).toBe(small!.statements);
  expect(large!.calls).toBe(small!.calls);
  expect(large!.rows).toBeLessThanOrEqual(small!.rows + 20);
  expect(large!.statements).toBeLessThan(40);
}, 60_000);

test('an erasure goes in pages, and goes on where it was left', async () => {
  const { client, id } = await newOrganization();
  const { id: gone } = (await client.post('/contacts', { phone: newPhone() })).body;
  await fill(id, gone, 450);
  await bury(client, gone);
  const context = await contextOf(id);
  const left: number[] = [await tracesOf(gone)];
  for (let progress = 'more'; progress === 'more' && left.length < 60; left.push(await tracesOf(gone)))
    progress = await eraseContact(context, gone);
  expect(left[0]).toBe(5 * 450);
  expect(left.at(-1)).toBe(0);
  expect(left.length).toBeGreaterThan(4);
  expect(left.every((count, index) => index === 0 || count < left[index - 1]! || count === 0)).toBe(true);
}, 60_000);

test('a failing part of an erasure does not hold up the others, and is reported at the end', async () => {
  const { client, id } = await newOrganization();
  const { id: gone } = (await client.post('/contacts', { phone: newPhone() })).body;
  await fill(id, gone, 250);
  await archivedEvents(id, [gone], 1);
  await bury(client, gone);
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const files = {
    get: () => Promise.reject(new Error('R2 is away')),
    list: env.FILES.list.bind(env.FILES),
    delete: env.FILES.delete.bind(env.FILES),
  };
  const context = await contextOf(id, { ...env, FILES: files as unknown as R2Bucket });
  const answers: string[] = [];
  for (let pages = 0; pages < 60 && answers.at(-1) !== 'R2 is away'; pages++)
    answers.push(await eraseContact(context, gone).catch((error: Error) => error.message));
  expect(new Set(answers.slice(0, -1))).toEqual(new Set(['more']));
  expect(answers.at(-1)).toBe('R2 is away');
  expect(await tracesOf(gone)).toBe(0);
  vi.restoreAllMocks();
  await erase(id, gone);
  expect(await env.DB.prepare('SELECT 1 FROM archive_contact WHERE contact_id = ?').bind(gone).first()).toBeNull();
}, 60_000);

test('an organization cannot erase a contact of another one', async () => {
  const [own, other] = [await newOrganization(), await newOrganization()];
  const { id: contact } = (await own.client.post('/contacts', { phone: newPhone() })).body;
  await fill(own.id, contact, 3);
  const archive = await archivedEvents(own.id, [contact], 1);
  await bury(own.client, contact);
  expect(await eraseContact(await contextOf(other.id), contact)).toBe('done');
  expect(await tracesOf(contact)).toBe(15);
  expect(await (await env.FILES.get(archive.name))!.text()).toContain(`"contact_id":${contact}`);
});

test('an event of a deleted contact that was not handled yet starts nothing', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: { type: 'contact_event', config: { event_type: 'ordered' } } });
  const { id: gone, phone } = (await client.post('/contacts', { phone: newPhone() })).body;
  const lost = dropQueueMessages();
  const { event_id } = (await client.post('/events', { event_type: 'ordered', phone })).body;
  lost.restore();
  await bury(client, gone);
  await erase(id, gone);
  expect((await client.get('/events')).body.events).toMatchObject([
    { id: event_id, phone: '', contact_id: null, note: 'The contact was deleted' },
  ]);
  expect((await client.get(`/automation-workflows/${workflow}/runs`)).body.total).toBe(0);
});
