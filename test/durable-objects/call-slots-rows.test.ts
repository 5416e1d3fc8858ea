import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { slotsSchemaSteps } from '../../durable-objects/call-slots/schema.ts';
import type { AttemptReport, Owner } from '../../src/calls/contract.ts';
import { callingOrganization, carrierLedger, relayCallbacks } from '../support/carrier.ts';
import { knownAttempts } from '../support/call-slots.ts';
import { indexNames, watchStatements, type WatchedStatements } from '../support/watch-statements.ts';

afterEach(() => vi.restoreAllMocks());

const campaign: Owner = { kind: 'campaign', id: 1 };
let block = 500;
const person = (digits: string) => `+1216${++block}${digits}`;

async function setUp() {
  const organization = await callingOrganization();
  const { id, agentId } = organization;
  const reports: AttemptReport[] = [];
  vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation(
    (name) =>
      ({
        applyReports: async (received: AttemptReport[]) => void (name.startsWith(`${id}/`) && reports.push(...structuredClone(received))),
      }) as never,
  );
  const stub = () => env.CALL_SLOTS.getByName(String(id));
  const call = (key: string, phone: string) => ({
    key,
    phone,
    agentId,
    contactId: null,
    initialContext: '{}',
    name: 'A call',
    notAfter: null,
  });
  const request = (calls: ReturnType<typeof call>[], { owner = campaign, maxConcurrency = 5 } = {}) =>
    stub().request(id, { owner, epoch: 0, maxConcurrency, calls });
  const isDone = async (key: string) =>
    reports.some((report) => report.key === key && report.kind === 'ended') &&
    (await runInDurableObject(
      stub(),
      (_object, { storage }) => storage.sql.exec<{ is_open: number }>('SELECT is_open FROM attempt WHERE key = ?', key).one().is_open === 0,
    ));
  const watch = () => runInDurableObject(stub(), (_object, { storage }) => watchStatements(storage));
  return { ...organization, stub, call, request, isDone, watch, reports };
}

const attemptRows = ({ seen }: WatchedStatements) =>
  seen.filter(({ query }) => /\b(attempt|dialled)\b/.test(query)).reduce((sum, { cursor }) => sum + cursor.rowsWritten, 0);

describe('an attempt', () => {
  it('is at most 8 written rows from the request to the completed run, if its line is busy', async () => {
    const { account, request, call, isDone, watch } = await setUp();
    await request([]);
    const watched = await watch();
    const keys = Array.from({ length: 4 }, (_, index) => `campaign:1:${index}:1`);
    await request(keys.map((key) => call(key, person('0001'))));
    await relayCallbacks(account, async () => (await Promise.all(keys.map(isDone))).every(Boolean));
    const rows = attemptRows(watched) / keys.length;
    console.log(`rows written for an attempt whose line is busy: ${rows}`);
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThanOrEqual(8);
  });

  it('whose grant was lost with the memory of the object is granted again', async () => {
    const { account, request, call, isDone, stub } = await setUp();
    const queue = vi.spyOn(env.CALLS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
    const key = 'campaign:1:1:1';
    await request([call(key, person('0001'))]);
    await vi.waitFor(async () => expect((await knownAttempts(stub()))[0]!.state).toBe('granted'), { timeout: 10_000, interval: 20 });
    await runInDurableObject(stub(), (_object, state) => state.abort('the object dies here')).catch(() => undefined);
    // A message of before is of no use now.
    expect(await stub().beginCalls([key])).toEqual([]);
    queue.mockRestore();
    await stub().wakeStalled();
    await relayCallbacks(account, () => isDone(key));
    expect((await carrierLedger(account)).calls).toHaveLength(1);
  });
});

describe('the tables of call slots', () => {
  /** The statements of a call from its request to its end, of a withdrawal, and of an object that starts anew. */
  async function liveOneDay() {
    const slots = await setUp();
    const { account, request, call, isDone, watch, stub, id } = slots;
    await request([]);
    const watched = await watch();
    const key = 'campaign:1:1:1';
    await request([call(key, person('0001'))]);
    await relayCallbacks(account, () => isDone(key));
    await stub().getOwnerStatus(campaign);
    await stub().getCallStatus(key);
    await request([call('campaign:1:2:1', person('0002'))]);
    await stub().withdraw(id, campaign, 1);
    await stub().shutDown();
    await runInDurableObject(stub(), async (object) => {
      const inside = object as unknown as { clock: () => number; store: { attempts: { forget(): void } }; alarm(): Promise<void> };
      inside.store.attempts.forget();
      inside.clock = () => Date.now() + 25 * 3_600_000;
      await stub().wakeStalled();
      await inside.alarm();
    });
    return { ...slots, watched };
  }

  it('have no index that no query uses, and no query reads a table in vain', async () => {
    const { watched, stub } = await liveOneDay();
    const { names, plans } = await runInDurableObject(stub(), (_object, { storage }) => ({
      names: indexNames(storage),
      plans: watched.plans(),
    }));
    const users = Object.fromEntries(
      names.map((name) => [
        name,
        [...new Set(plans.filter(({ step }) => new RegExp(`\\b${name}\\b`).test(step)).map(({ query }) => query))],
      ]),
    );
    const ending = (query: string) => query.replace(/^.* FROM attempt /, '');
    expect(Object.fromEntries(Object.entries(users).map(([name, queries]) => [name, queries.map(ending).toSorted()]))).toEqual({
      attempt_open: ['WHERE is_open = 1'],
      attempt_queued: [
        "WHERE lane = ? AND state = 'queued' AND owner = ?",
        "WHERE lane = ? AND state = 'queued' AND seq > ? ORDER BY seq LIMIT ?",
        "WHERE state = 'queued' AND lane > ? ORDER BY lane LIMIT 1",
        "WHERE state = 'queued' LIMIT 1",
        "WHERE state = 'queued' LIMIT ?",
      ],
    });
    const scans = plans
      .filter(({ query }) => /\b(attempt|dialled)\b/.test(query))
      .filter(({ step }) => step.startsWith('SCAN') || step.includes('TEMP B-TREE'));
    // The open attempts are all read; of what is queued, as much as a limit says.
    const isBounded = (step: string, query: string) =>
      step.includes('attempt_open') || (step.includes('attempt_queued') && query.includes('LIMIT'));
    expect(scans.filter(({ step, query }) => !isBounded(step, query))).toEqual([]);
  });

  it('cost a call the same if many are queued: rows are read by need', async () => {
    const readRows = async (queued: number) => {
      const { account, request, call, isDone, watch, stub } = await setUp();
      // The attempts of a campaign that has as many calls as it may.
      await request([], { owner: { kind: 'campaign', id: 2 }, maxConcurrency: 0 });
      await request([call('campaign:1:0:0', person('0002'))]);
      await vi.waitFor(async () => expect((await knownAttempts(stub()))[0]!.state).not.toBe('queued'), { timeout: 10_000, interval: 20 });
      await runInDurableObject(stub(), (_object, { storage: { sql } }) => {
        const columns = sql
          .exec<{ name: string }>("SELECT name FROM pragma_table_info('attempt')")
          .toArray()
          .map(({ name }) => name);
        const changed: Record<string, string> = {
          key: "'campaign:2:' || n.value || ':1'",
          seq: 'seq + 1000000000 + n.value',
          owner: "'campaign:2'",
          lane: "'campaign:2'",
          phone: "'+1217' || (1000000 + n.value)",
          state: "'queued'",
          is_open: '0',
          level: '0',
          told: '0',
        };
        sql.exec(
          `WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ${queued})
           INSERT INTO attempt (${columns.join(', ')}) SELECT ${columns.map((name) => changed[name] ?? name).join(', ')} FROM attempt CROSS JOIN n
           WHERE key = 'campaign:1:0:0'`,
        );
      });
      const watched = await watch();
      const key = 'campaign:1:1:1';
      await request([call(key, person('0001'))]);
      await relayCallbacks(account, () => isDone(key));
      return watched.seen.filter(({ query }) => /\battempt\b/.test(query)).reduce((sum, { cursor }) => sum + cursor.rowsRead, 0);
    };
    const [few, many] = [await readRows(10), await readRows(20_000)];
    console.log(`rows read for a call: ${few} with 10 queued, ${many} with 20,000`);
    expect(many).toBeLessThan(few + 1000);
  });

  it('forget an attempt a day after its end, and the calls to a person after a month', async () => {
    const { stub, watched } = await liveOneDay();
    expect(watched.seen.length).toBeGreaterThan(0);
    const counted = () =>
      runInDurableObject(stub(), (_object, { storage }) => ({
        attempts: storage.sql.exec<{ n: number }>('SELECT count(*) AS n FROM attempt').one().n,
        dialled: storage.sql.exec<{ n: number }>('SELECT count(*) AS n FROM dialled').one().n,
      }));
    expect(await counted()).toEqual({ attempts: 0, dialled: 1 });
    await runInDurableObject(stub(), async (object) => {
      const inside = object as unknown as { clock: () => number; alarm(): Promise<void> };
      inside.clock = () => Date.now() + 33 * 24 * 3_600_000;
      await stub().wakeStalled();
      await inside.alarm();
    });
    expect(await counted()).toEqual({ attempts: 0, dialled: 0 });
  });

  it('of an earlier version are taken over: queued and live calls go on, and what was reported is not reported again', async () => {
    const { id, stub, request, reports } = await setUp();
    vi.spyOn(env.CALLS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
    await request([]);
    const earlier = (key: string, values: Record<string, SqlStorageValue>) => ({
      key,
      owner: 'campaign:1',
      lane: 'campaign:1',
      epoch: 0,
      phone: person('0002'),
      state: 'queued',
      is_live: 0,
      is_engaged: 0,
      not_before: 0,
      agent_id: 1,
      name: 'A call',
      awaits_verdict: 0,
      has_talk: 0,
      submission: 0,
      requeues: 0,
      has_row: 0,
      looks: 0,
      callbacks: '[]',
      settling: 'none',
      level: 0,
      told: 0,
      ...values,
    });
    const later = Date.now() + 3_600_000;
    const live = { is_live: 1, is_engaged: 1, submission: 1, has_row: 1, run_id: 7, config_id: 1, own_number: '+12125550000', level: 2 };
    const attempts = [
      earlier('campaign:1:1:1', { state: 'granted', is_live: 1, is_engaged: 1, config_id: 1, own_number: '+1', check_at: later }),
      earlier('campaign:1:2:1', { state: 'placed', ...live, call_id: 'CA1', status: 'ringing', told: 2, check_at: later }),
      earlier('campaign:1:3:1', {
        state: 'ended',
        ...live,
        is_live: 0,
        is_engaged: 0,
        outcome: 'busy',
        ended_at: later,
        level: 4,
        told: 2,
      }),
      earlier('campaign:1:4:1', {
        state: 'ended',
        ...live,
        is_live: 0,
        is_engaged: 0,
        outcome: 'busy',
        ended_at: later,
        level: 4,
        told: 4,
      }),
    ];
    await runInDurableObject(stub(), (_object, state) => {
      const { sql } = state.storage;
      for (const table of ['about', 'owner', 'attempt', 'dialled']) sql.exec(`DROP TABLE ${table}`);
      sql.exec(slotsSchemaSteps[0]!);
      sql.exec('INSERT INTO about (organization_id) VALUES (?)', id);
      sql.exec('DELETE FROM schema_step');
      sql.exec('INSERT INTO schema_step (number) VALUES (1)');
      for (const attempt of attempts)
        sql.exec(
          `INSERT INTO attempt (${Object.keys(attempt).join(', ')}) VALUES (${Object.keys(attempt)
            .map(() => '?')
            .join(', ')})`,
          ...Object.values(attempt),
        );
      sql.exec("INSERT INTO dialled (phone, at) VALUES ('+12125550001', 5)");
      return state.storage.sync();
    });
    await runInDurableObject(stub(), (_object, state) => state.abort('a new version')).catch(() => undefined);
    expect((await knownAttempts(stub())).map(({ key, state, callId }) => [key, state, callId])).toEqual([
      ['campaign:1:1:1', 'queued', null],
      ['campaign:1:2:1', 'placed', 'CA1'],
      ['campaign:1:3:1', 'ended', null],
      ['campaign:1:4:1', 'ended', null],
    ]);
    expect(await stub().getOwnerStatus(campaign)).toMatchObject({ queued: 1, live: 1, organizationLive: 1 });
    await stub().wakeStalled();
    await vi.waitFor(async () => expect((await knownAttempts(stub()))[0]!.state).toBe('granted'), { timeout: 10_000, interval: 20 });
    await vi.waitFor(() => expect(reports.map(({ key, kind }) => [key, kind])).toEqual([['campaign:1:3:1', 'ended']]), { timeout: 10_000 });
  });
});
