// @module-tag soak
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { crashAtCall } from '../support/crashing-object.ts';
import { crashBeforeStart, tickAt } from '../support/background.ts';
import { createActiveWorkflow, waitForEndedRuns, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { storedTimers } from '../support/stored-run.ts';

afterEach(() => vi.restoreAllMocks());

const hearing = {
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    {
      id: 'hear',
      type: 'wait_for_event',
      data: { event_types: ['paid'], match: { field: 'data.cart', value: '{{ cart }}' }, timeout: 'PT1H', lookback: 'PT1H' },
    },
    { id: 'say', type: 'emit_event', data: { event_type: 'received', data: { cart: '{{ cart }}' } } },
    { id: 'out', type: 'exit', data: { outcome: 'came {{ steps.hear.event.data.cart }}' } },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'hear' },
    { id: 'b', source: 'hear', target: 'say', source_handle: 'received' },
    { id: 'c', source: 'say', target: 'out' },
  ],
};

const waiters = async (organizationId: number) =>
  (await env.DB.prepare('SELECT * FROM run_waiter WHERE organization_id = ?').bind(organizationId).all()).results;

for (const moment of ['before', 'after'] as const)
  test(`a run that dies ${moment} any of its calls while it falls asleep, wakes or acts takes its event once`, async () => {
    const { client, id } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { definition: hearing });
    const calls = 14;
    const runs: number[] = [];
    await crashBeforeStart(async () => {
      for (let n = 1; n <= calls; n++)
        runs.push((await client.post(`/automation-workflows/${workflow}/execute`, { context: { cart: `c${n}` } })).body.id);
    });
    const deaths = await Promise.all(
      runs.map(async (run, index) => {
        const watch = await crashAtCall(runStub(id, run), index + 1, moment);
        const start = () =>
          runStub(id, run)
            .start(id, run)
            .catch(() => undefined);
        await start();
        // The event comes at any moment of the falling asleep.
        await client.post('/events', { event_type: 'paid', data: { cart: `c${index + 1}` } });
        await vi.waitFor(
          async () => {
            if (watch.died) await start();
            const { body } = await client.get(`/automation-workflows/runs/${run}`);
            expect(body.state, `call ${index + 1}: ${body.current_node_id} ${JSON.stringify(body.error)}`).toBe('completed');
            expect(body.outcome).toBe(`came c${index + 1}`);
          },
          { timeout: 25_000, interval: 50 },
        );
        const { body } = await client.get(`/automation-workflows/runs/${run}/history`);
        expect(body.history.map((record: { node_id: string; status: string }) => `${record.node_id} ${record.status}`)).toEqual(
          ['in', 'hear', 'say', 'out'].map((node) => `${node} completed`),
        );
        return watch.died;
      }),
    );
    expect(deaths.filter(Boolean).length).toBeGreaterThan(6);
    await waitForEndedRuns(client, workflow, calls);
    expect((await client.get('/events?event_type=received')).body.total).toBe(calls);
    await vi.waitFor(async () => expect(await waiters(id)).toEqual([]), { timeout: 10_000 });
  }, 60_000);

test('a thousand runs that wait for one type are woken by a thousand keyed events, each by its own and once', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: hearing, trigger: { type: 'manual', config: {} } });
  const count = 1000;
  const inTurn = async (work: (n: number) => Promise<unknown>) => {
    let next = 0;
    const worker = async () => {
      while (next < count) await work(next++);
    };
    await Promise.all(Array.from({ length: 20 }, worker));
  };
  await inTurn((n) => client.post(`/automation-workflows/${workflow}/execute`, { context: { cart: `k${n}` } }));
  await vi.waitFor(async () => expect((await waiters(id)).length).toBe(count), { timeout: 60_000, interval: 100 });
  await inTurn((n) => client.post('/events', { event_type: 'paid', phone: newPhone(), data: { cart: `k${n}` } }));
  await vi.waitFor(async () => expect((await client.get(`/automation-workflows/${workflow}`)).body.active_runs_count).toBe(0), {
    timeout: 60_000,
    interval: 100,
  });
  const ended = await env.DB.prepare(
    "SELECT outcome, count(*) AS total FROM automation_run WHERE workflow_id = ? AND state = 'completed' GROUP BY outcome HAVING total > 1",
  )
    .bind(workflow)
    .all();
  expect(ended.results).toEqual([]);
  expect((await client.get(`/automation-workflows/${workflow}/runs?state=completed&limit=1`)).body.total).toBe(count);
  expect((await client.get('/events?event_type=received')).body.total).toBe(count);
  expect(await waiters(id)).toEqual([]);
}, 150_000);

test('one event wakes all runs that wait for its value', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: hearing, trigger: { type: 'manual', config: {} } });
  const count = 60;
  await Promise.all(
    Array.from({ length: count }, () => client.post(`/automation-workflows/${workflow}/execute`, { context: { cart: 'shared' } })),
  );
  await vi.waitFor(async () => expect(await waiters(id)).toHaveLength(count), { timeout: 20_000 });
  await client.post('/events', { event_type: 'paid', data: { cart: 'shared' } });
  await vi.waitFor(
    async () =>
      expect((await client.get(`/automation-workflows/${workflow}`)).body).toMatchObject({ runs_count: count, active_runs_count: 0 }),
    { timeout: 20_000 },
  );
});

test('a wait of 400 days keeps, through an eviction, and ends on its day', async () => {
  const { client, id } = await newOrganization();
  const nap = {
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      { id: 'nap', type: 'wait', data: { duration: 'P400D' } },
      { id: 'out', type: 'exit', data: { outcome: 'awake' } },
    ],
    edges: [
      { id: 'a', source: 'in', target: 'nap' },
      { id: 'b', source: 'nap', target: 'out' },
    ],
  };
  const workflow = await createActiveWorkflow(client, { definition: nap, settings: { timeout: 'P2Y' } });
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  const run = await waitForRunState(client, body.id, 'waiting');
  const until = Date.parse(run.context.steps.nap.until);
  expect(until - Date.parse(run.started_at)).toBeGreaterThanOrEqual(400 * 86_400_000);
  const alarm = () => runInDurableObject(runStub(id, body.id), (_object, state) => state.storage.getAlarm());
  const wakesAt = (await alarm())!;
  expect(wakesAt - until).toBeGreaterThanOrEqual(0);
  expect(wakesAt - until).toBeLessThan(20_000);
  await evictDurableObject(runStub(id, body.id));
  expect(await alarm()).toBe(wakesAt);
  expect((await client.get(`/automation-workflows/runs/${body.id}`)).body.state).toBe('waiting');
  const passAt = (moment: number) =>
    runInDurableObject(runStub(id, body.id), async (instance) => {
      const object = instance as unknown as { clock: () => number; alarm(): Promise<void> };
      object.clock = () => moment;
      await object.alarm();
    });
  await passAt(until - 1);
  expect((await client.get(`/automation-workflows/runs/${body.id}`)).body.state).toBe('waiting');
  await passAt(until);
  expect((await waitForRunState(client, body.id, 'completed')).outcome).toBe('awake');
});

test('a sleeping run has one alarm, at its time or shortly after, and costs a tick nothing', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: { ...hearing } });
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: { cart: 'z' } });
  await vi.waitFor(async () => expect(await waiters(id)).toHaveLength(1), { timeout: 10_000 });
  await waitForRunState(client, body.id, 'waiting');
  const state = await runInDurableObject(runStub(id, body.id), async (_object, { storage }) => ({
    alarm: await storage.getAlarm(),
    timers: storedTimers(storage),
  }));
  expect(state.timers).toMatchObject([{ kind: 'advance', due: expect.any(Number) }]);
  const delay = state.alarm! - Number(state.timers[0]!['due']);
  expect(delay).toBeGreaterThanOrEqual(0);
  expect(delay).toBeLessThan(20_000);
  expect(state.alarm! - Date.now()).toBeGreaterThan(3_500_000);
  const awake = vi.spyOn(env.AUTOMATION_RUN, 'getByName');
  await tickAt(Date.now() + 60_000);
  expect(awake.mock.calls.filter(([name]) => name === `${id}/${body.id}`)).toEqual([]);
});
