import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { SharedProjections } from '../../src/automation-workflows/runs/engine/shared-projections.ts';
import type { RunProjection } from '../../src/automation-workflows/runs/store.ts';
import { deliver } from '../support/background.ts';
import { faultyDatabase, type DatabaseFault } from '../support/faulty-database.ts';
import { chain, createActiveWorkflow, waitForEndedRuns, waitForRunState } from '../support/journeys.ts';
import { newOrganization, type Client } from '../support/organization.ts';
import { ownRows } from '../support/own-rows.ts';
import { recordedDatabase, type Recording } from '../support/recorded-database.ts';

afterEach(() => vi.restoreAllMocks());

const onOrder = { type: 'contact_event', config: { event_types: ['ordered'] } };
const waitsForPayment = {
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    {
      id: 'pay',
      type: 'wait_for_event',
      data: { event_types: ['paid'], match: { field: 'data.order', value: '{{ event.data.order }}' }, timeout: 'P1D' },
    },
    { id: 'out', type: 'exit', data: { outcome: 'done' } },
    { id: 'late', type: 'exit', data: { outcome: 'late' } },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'pay' },
    { id: 'b', source: 'pay', target: 'out', source_handle: 'received' },
    { id: 'c', source: 'pay', target: 'late', source_handle: 'timeout' },
  ],
};
/** Has an effect, so that the run needs an object. */
const say = { id: 'say', type: 'emit_event', data: { event_type: 'said' } };
const writesRuns = (sql: string) => sql.startsWith('UPDATE automation_run');

/** Sends events whose messages the test delivers itself. */
async function sendEvents(client: Client, organizationId: number, type: string, count: number): Promise<unknown[]> {
  vi.spyOn(env.EVENTS_QUEUE, 'send').mockResolvedValue(undefined as never);
  const ids = [];
  for (let order = 0; order < count; order += 1)
    ids.push((await client.post('/events', { event_type: type, data: { order } })).body.event_id as number);
  return ids.map((id) => ({ v: 1, kind: 'event', organization_id: organizationId, id }));
}

/** The database of the shard of new organizations, under the name by which `bindings` have it. */
const withDatabase = (replace: (real: D1Database) => D1Database): Env =>
  new Proxy(env, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      return value === ownRows ? replace(ownRows) : value;
    },
  });

/** The writes wait for every run of their batch, however slow the machine is: their 50 ms are a minute. */
function waitForSlowRuns(): void {
  const realSetTimeout = globalThis.setTimeout;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms?: number) =>
    realSetTimeout(work, ms === 50 ? 60_000 : ms)) as typeof setTimeout);
}

async function newContext(bindings: Env = env) {
  const organization = await newOrganization();
  const context = (await backgroundContext(bindings, organization.id, () => undefined))!;
  return { ...organization, context };
}

const ended: RunProjection = {
  state: 'completed',
  currentNodeId: 'out',
  outcome: 'done',
  error: null,
  contextChanges: null,
  trail: '{"nodes":["in"]}',
  history: null,
  hold: null,
  voiceCallRunId: null,
  revision: 1,
  wakeAt: null,
  startedAt: 1,
  completedAt: 2,
  leftWaits: [],
  exitEventId: null,
};

/** A run that sleeps, whose row the test then writes in the name of its object. */
async function sleepingRun(client: Client): Promise<number> {
  const workflow = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P7D' } }) });
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  await waitForRunState(client, body.id, 'waiting');
  return body.id;
}

const stateOf = (id: number) => ownRows.prepare('SELECT state FROM automation_run WHERE id = ?').bind(id).first('state');

test('the runs that a batch of events starts are written by few statements, each with its own outcome', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {
    definition: chain(say, { id: 'set', type: 'set_context', data: { assign: { order: '{{ event.data.order }}' } } }),
    trigger: onOrder,
  });
  const messages = await sendEvents(client, id, 'ordered', 20);
  waitForSlowRuns();
  const recording: Recording = { statements: [], calls: 0 };
  await deliver(
    'events',
    messages,
    withDatabase((real) => recordedDatabase(real, recording)),
  );

  const runs = await waitForEndedRuns(client, workflow, 20);
  expect(new Set(runs.map(({ state }) => state))).toEqual(new Set(['completed']));
  const orders = await Promise.all(runs.map(async (run) => (await client.get(`/automation-workflows/runs/${run.id}`)).body.context.order));
  expect(orders.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 20 }, (_, order) => order));
  expect(recording.statements.filter(({ sql }) => writesRuns(sql))).toHaveLength(1);
});

test('runs that one batch of events wakes are written together, and their waits go', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: waitsForPayment, trigger: onOrder });
  await deliver('events', await sendEvents(client, id, 'ordered', 10));
  const waiters = () =>
    ownRows.prepare('SELECT count(*) AS count FROM run_waiter WHERE organization_id = ?').bind(id).first<number>('count');
  await vi.waitFor(async () => expect(await waiters()).toBe(10), { timeout: 10_000, interval: 20 });

  const recording: Recording = { statements: [], calls: 0 };
  const messages = await sendEvents(client, id, 'paid', 10);
  waitForSlowRuns();
  await deliver(
    'events',
    messages,
    withDatabase((real) => recordedDatabase(real, recording)),
  );
  const runs = await waitForEndedRuns(client, workflow, 10);
  expect(runs.map(({ outcome }) => outcome)).toEqual(runs.map(() => 'done'));
  await vi.waitFor(async () => expect(await waiters()).toBe(0), { timeout: 10_000, interval: 20 });
  expect(recording.statements.filter(({ sql }) => writesRuns(sql))).toHaveLength(1);
});

test.each(['refused', 'lost'] as const)('each run writes its own row when the write of all is %s', async (fault) => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: chain(say), trigger: onOrder });
  const messages = await sendEvents(client, id, 'ordered', 8);
  let faults = 0;
  const troubling = (sql: string): DatabaseFault => (writesRuns(sql) ? ((faults += 1), fault) : null);
  await deliver(
    'events',
    messages,
    withDatabase((real) => faultyDatabase(real, troubling)),
  );
  const runs = await waitForEndedRuns(client, workflow, 8);
  expect(runs.map(({ state, outcome }) => `${state} ${outcome}`)).toEqual(runs.map(() => 'completed done'));
  expect(faults).toBeGreaterThan(0);
  const { results } = await ownRows
    .prepare('SELECT revision, history FROM automation_run WHERE organization_id = ?')
    .bind(id)
    .all<{ revision: number; history: string | null }>();
  for (const { revision, history } of results) {
    expect(revision).toBe(1);
    expect(history).not.toBeNull();
  }
});

test('rows that come together are one call, and each run gets its own answer', async () => {
  const recording: Recording = { statements: [], calls: 0 };
  const { client, context } = await newContext(withDatabase((real) => recordedDatabase(real, recording)));
  const [first, second, third] = [await sleepingRun(client), await sleepingRun(client), await sleepingRun(client)];
  await ownRows.prepare("UPDATE automation_run SET state = 'cancelled', completed_at = 1, revision = 1 WHERE id = ?").bind(third).run();
  const together = new SharedProjections(context, [first, second, third]);
  recording.calls = 0;
  const answers = await Promise.all([
    together.writerOf(first)({ ...ended, revision: 90 }),
    together.writerOf(second)({ ...ended, revision: 90, state: 'failed', outcome: null }),
    together.writerOf(third)({ ...ended, revision: 90 }),
  ]);
  expect(answers.map((answer) => answer?.isAccepted)).toEqual([true, true, false]);
  expect(answers.map((answer) => answer?.workflowStatus)).toEqual(['active', 'active', 'active']);
  expect(recording.calls).toBe(1);
  expect([await stateOf(first), await stateOf(second), await stateOf(third)]).toEqual(['completed', 'failed', 'cancelled']);
});

test('a live run whose row another has ended at the same revision is told so, and an ended one is not', async () => {
  const { client, context } = await newContext();
  const run = await sleepingRun(client);
  await ownRows.prepare("UPDATE automation_run SET state = 'completed', completed_at = 1, revision = 90 WHERE id = ?").bind(run).run();
  const write = async (projection: RunProjection) => {
    const together = new SharedProjections(context, [run]);
    return together.writerOf(run)({ ...projection, revision: 90 });
  };
  expect(await write({ ...ended, state: 'waiting', completedAt: null })).toMatchObject({ isAccepted: false });
  expect(await write(ended)).toMatchObject({ isAccepted: true });
});

test('a run that does not come holds the others for a moment, and is told that it is too late', async () => {
  const { client, context } = await newContext();
  const [first, second] = [await sleepingRun(client), await sleepingRun(client)];
  const together = new SharedProjections(context, [first, second]);
  const written = together.writerOf(first)({ ...ended, revision: 90 });
  await together.close();
  expect(await written).toMatchObject({ isAccepted: true });
  expect(await together.writerOf(second)({ ...ended, revision: 90 })).toBeNull();
  expect(await stateOf(second)).toBe('waiting');
});

test('a run that leaves lets the others be written', async () => {
  const { client, context } = await newContext();
  const [first, second] = [await sleepingRun(client), await sleepingRun(client)];
  const together = new SharedProjections(context, [first, second]);
  const written = together.writerOf(first)({ ...ended, revision: 90 });
  expect(await together.writerOf(second)(null)).toBeNull();
  expect(await written).toMatchObject({ isAccepted: true });
  await together.close();
});

test("another organization's run is not written", async () => {
  const theirs = await newOrganization();
  const id = await sleepingRun(theirs.client);
  const { context } = await newContext();
  const together = new SharedProjections(context, [id]);
  expect(await together.writerOf(id)({ ...ended, revision: 90 })).toBeNull();
  expect(await stateOf(id)).toBe('waiting');
});
