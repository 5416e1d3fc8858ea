import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { runInvocation } from '../../src/database/query-budget.ts';
import { idsPerShard } from '../../src/database/shard-anchors.ts';
import { shardBindings, shards } from '../../src/database/shards.ts';
import { tickAt } from '../support/background.ts';
import { chain, createActiveWorkflow, waitForEndedRuns } from '../support/journeys.ts';
import { Client, newOrganization, newPhone } from '../support/organization.ts';
import { recordedDatabase, type Recording } from '../support/recorded-database.ts';

afterEach(() => vi.restoreAllMocks());

const [first, second] = shardBindings(env).map(({ binding }) => binding) as [D1Database, D1Database];
const app = createApp();

/** Ways into a service whose calls to each database are recorded; nothing about organizations is in its caches. */
function recordedService(changes: Record<string, string> = {}) {
  const recordings: [Recording, Recording] = [
    { statements: [], calls: 0 },
    { statements: [], calls: 0 },
  ];
  const bindings = {
    ...env,
    ...changes,
    DB: recordedDatabase(first, recordings[0]),
    DB_1: recordedDatabase(second, recordings[1]),
  } as Env;
  const send = (request: Request) => runInvocation(async () => app.fetch(request, bindings, createExecutionContext()));
  return { send, recordings, bindings };
}

/** Whether a recording has read nothing but accounts. */
const isOnlyCatalog = ({ statements }: Recording) =>
  statements.every(({ sql }) => /\b(?:organization|api_key|session|membership|user|progress)\b/i.test(sql));

const countOf = async (database: D1Database, table: string, organizationId: number) =>
  (await database
    .prepare(`SELECT count(*) AS rows FROM ${table} WHERE organization_id = ?`)
    .bind(organizationId)
    .first<{ rows: number }>())!.rows;

describe('two databases', () => {
  test('are both bound, and new organizations are on the second', async () => {
    expect(shardBindings(env).map(({ name }) => name)).toEqual(['DB', 'DB_1']);
    const visitor = new Client(undefined);
    const email = `${crypto.randomUUID()}@example.com`;
    const signedUp = await visitor.post('/auth/signup', { email, password: 'kestrel-over-the-marsh-41', organization_name: 'Acme' });
    expect(signedUp.status, JSON.stringify(signedUp.body)).toBe(200);
    const row = await first.prepare('SELECT id, shard FROM organization ORDER BY id DESC LIMIT 1').first<{ id: number; shard: number }>();
    expect(row!.shard).toBe(1);
    const client = new Client(undefined);
    const key = await client.post('/user/api-keys', { name: 'k' }, { Authorization: `Bearer ${signedUp.body.token}` });
    expect([200, 201], JSON.stringify(key.body)).toContain(key.status);
    const created = await new Client(key.body.api_key).post('/contacts', { phone: newPhone(), first_name: 'Ada' });
    expect(created.body.id).toBeGreaterThan(idsPerShard);
    expect([await countOf(first, 'contact', row!.id), await countOf(second, 'contact', row!.id)]).toEqual([0, 1]);
  });

  test('never give the same id, and each organization sees its own rows alone', async () => {
    const [old, young] = [await newOrganization({ shard: 0 }), await newOrganization({ shard: 1 })];
    const phone = newPhone();
    const made = async (client: Client) => {
      const workflow = await createActiveWorkflow(client, { definition: chain() });
      const agentless = [
        (await client.post('/contacts', { phone, first_name: 'Ada' })).body.id,
        (await client.post('/contacts/lists', { name: 'People' })).body.id,
        (await client.post('/events', { event_type: 'came', phone, data: {} })).body.event_id,
        (await client.post('/suppressions', { phone: newPhone(), reason: 'asked' })).body.id,
        workflow,
        (await client.post(`/automation-workflows/${workflow}/runs`, {})).body.id,
      ];
      return agentless.filter((id) => id !== undefined).map(Number);
    };
    const [ofOld, ofYoung] = [await made(old.client), await made(young.client)];
    expect(ofOld.length).toBeGreaterThanOrEqual(4);
    expect(ofOld.filter((id) => id >= idsPerShard)).toEqual([]);
    expect(ofYoung.filter((id) => id <= idsPerShard || id >= 2 * idsPerShard)).toEqual([]);
    for (const [mine, theirs] of [
      [old, ofYoung],
      [young, ofOld],
    ] as const) {
      expect((await mine.client.get(`/contacts/${theirs[0]}`)).status).toBe(404);
      expect((await mine.client.get('/contacts?search=Ada')).body.contacts).toHaveLength(1);
    }
  });
});

describe('a new organization', () => {
  const withSizes = async (sizes: [number, number], work: () => Promise<void>) => {
    const set = (database: D1Database, bytes: number) =>
      database
        .prepare("INSERT INTO progress (name, value) VALUES ('database_bytes', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
        .bind(bytes)
        .run();
    await Promise.all([set(first, sizes[0]), set(second, sizes[1])]);
    try {
      await work();
    } finally {
      await Promise.all([set(first, 0), set(second, 0)]);
    }
  };
  const signUp = async () => {
    const { send } = recordedService({ FIRST_OPEN_SHARD: '0' });
    const answer = await new Client(undefined, send).post('/auth/signup', {
      email: `${crypto.randomUUID()}@example.com`,
      password: 'kestrel-over-the-marsh-41',
      organization_name: 'Acme',
    });
    const row = await first.prepare('SELECT shard FROM organization ORDER BY id DESC LIMIT 1').first<{ shard: number }>();
    return { status: answer.status, shard: row!.shard };
  };
  const full = 6_000_000_000;

  test('goes to the first database that has room, and nowhere when none has', async () => {
    await withSizes([1, 1], async () => expect(await signUp()).toMatchObject({ status: 200, shard: 0 }));
    await withSizes([full, 1], async () => expect(await signUp()).toMatchObject({ status: 200, shard: 1 }));
    await withSizes([full, full], async () => expect((await signUp()).status).toBe(409));
  });
});

describe('what comes from outside', () => {
  test('a webhook asks the catalog and the database of its organization, and no other', async () => {
    for (const shard of [0, 1]) {
      const { client, id } = await newOrganization({ shard });
      const workflow = await createActiveWorkflow(client, { definition: chain() });
      const trigger = await client.post(`/automation-workflows/${workflow}/triggers`, { type: 'webhook', config: {} });
      const { send, recordings } = recordedService();
      const answer = await send(new Request(trigger.body.webhook_url, { method: 'POST', body: '{}' }));
      expect(answer.status).toBe(202);
      expect(recordings[shard]!.calls).toBeGreaterThan(0);
      expect(await countOf([first, second][shard]!, 'webhook_delivery', id)).toBe(1);
      if (shard === 0) expect(recordings[1].calls).toBe(0);
      else expect(isOnlyCatalog(recordings[0]), JSON.stringify(recordings[0].statements)).toBe(true);
      await waitForEndedRuns(client, workflow);
    }
  });

  test('a callback of a carrier does the same', async () => {
    for (const shard of [0, 1]) {
      const { client, id } = await newOrganization({ shard });
      const config = await client.post('/organizations/telephony-configs', {
        name: 'Main',
        provider: 'twilio',
        config: { account_sid: `AC${'1'.repeat(32)}`, auth_token: 'a'.repeat(32), from_numbers: ['+15005550006'] },
      });
      const { send, recordings } = recordedService();
      const url = `https://service.test/api/v1/telephony/${id}/${config.body.id ?? 1}/inbound`;
      const answer = await send(new Request(url, { method: 'POST', body: new URLSearchParams({ CallSid: 'CA1' }) }));
      expect([401, 403, 404], await answer.text()).toContain(answer.status);
      if (shard === 0) expect(recordings[1].calls).toBe(0);
      else {
        expect(recordings[1].calls).toBeGreaterThan(0);
        expect(isOnlyCatalog(recordings[0]), JSON.stringify(recordings[0].statements)).toBe(true);
      }
    }
  });
});

test('the minute tick works on both databases, and their first rows outlive every retention', async () => {
  const organizations = [await newOrganization({ shard: 0 }), await newOrganization({ shard: 1 })];
  vi.spyOn(env.EVENTS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
  const send = vi.spyOn(env.EVENTS_QUEUE, 'send').mockResolvedValue(undefined as never);
  const events = await Promise.all(
    organizations.map(async ({ client }) => (await client.post('/events', { event_type: 'lost', data: {} })).body.event_id as number),
  );
  send.mockRestore();
  vi.restoreAllMocks();
  await tickAt(Date.now() + 60_000);
  const isHandled = async (database: D1Database, id: number) =>
    (await database.prepare('SELECT handled_at FROM event WHERE id = ?').bind(id).first<{ handled_at: number | null }>())!.handled_at !==
    null;
  await vi.waitFor(async () => expect([await isHandled(first, events[0]!), await isHandled(second, events[1]!)]).toEqual([true, true]), {
    timeout: 15_000,
    interval: 50,
  });

  const anchors = async () =>
    (await shards(env)[1]!.all(shards(env)[1]!.prepare<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")))
      .map(({ name }) => name)
      .filter((name) =>
        ['event', 'webhook_delivery', 'message', 'automation_run', 'voice_agent_run', 'contact', 'archive', 'suppression'].includes(name),
      );
  const years = Date.now() + 20 * 365 * 86_400_000;
  for (let ticks = 0; ticks < 3; ticks++) await tickAt(years + ticks * 60_000);
  for (const table of await anchors())
    expect(await second.prepare(`SELECT id FROM ${table} WHERE id = ?`).bind(idsPerShard).first(), table).toEqual({ id: idsPerShard });
});
