import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { crashBeforeStart } from '../support/background.ts';
import { crashAtCall } from '../support/crashing-object.ts';
import { createActiveWorkflow, chain, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { realFetch } from '../support/real-fetch.ts';
import { storedTimers } from '../support/stored-run.ts';

afterEach(() => vi.restoreAllMocks());

const once = { max_attempts: 1 };
const calling = (more: object = {}) =>
  chain(
    { id: 'before', type: 'emit_event', data: { event_type: 'begun' } },
    { id: 'call', type: 'http_request', data: { url: 'https://shop.example.com/orders', ...more } },
    { id: 'after', type: 'set_context', data: { assign: { answered: '{{ steps.call.status }}' } } },
  );

/** The shop's endpoint: answers with the statuses in turn, then with 200; which keys it was called with. */
function shop(...statuses: number[]): (string | null)[] {
  const keys: (string | null)[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit);
    if (!request.url.startsWith('https://shop.example.com/')) return realFetch(request);
    keys.push(request.headers.get('idempotency-key'));
    return Response.json({ ok: true }, { status: statuses.shift() ?? 200 });
  });
  return keys;
}

async function failedRun(client: Client, definition: unknown, settings: object = {}, contact_id?: number) {
  const workflow = await createActiveWorkflow(client, { definition, settings: { retry: once, ...settings } });
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id });
  await waitForRunState(client, body.id, 'failed');
  return { workflow, run: body.id as number };
}

const retry = (client: Client, run: number, body?: object) => client.post(`/automation-workflows/runs/${run}/retry`, body);
const nodesOf = async (client: Client, run: number) =>
  (await client.get(`/automation-workflows/runs/${run}/history`)).body.history.map(
    (record: { node_id: string; status: string; attempt: number }) => `${record.node_id} ${record.status} ${record.attempt}`,
  );

test('a retried run goes on from the failed node, as a new attempt with its own key, and repeats no earlier node', async () => {
  const { client, id } = await newOrganization();
  const keys = shop(500);
  const { workflow, run } = await failedRun(client, calling());
  expect((await client.get(`/automation-workflows/${workflow}`)).body.active_runs_count).toBe(0);
  const answer = await retry(client, run);
  expect(answer).toMatchObject({ status: 200, body: { id: run, error: null, completed_at: null } });
  expect(await waitForRunState(client, run, 'completed')).toMatchObject({ outcome: 'done', error: null, context: { answered: 200 } });
  expect(keys).toEqual([`${run}:call:1:1`, `${run}:call:1:2`]);
  expect(await nodesOf(client, run)).toEqual([
    'in completed 1',
    'before completed 1',
    'call failed 1',
    'call completed 2',
    'after completed 1',
    'out completed 1',
  ]);
  expect((await client.get('/events?event_type=begun')).body.total).toBe(1);
  expect((await client.get(`/automation-workflows/${workflow}`)).body).toMatchObject({ runs_count: 1, active_runs_count: 0 });
  await vi.waitFor(async () => expect(await runStub(id, run).history({ limit: 1, offset: 0 })).toBeNull());
  expect(await nodesOf(client, run)).toHaveLength(6);
});

test('a retry has the whole retry policy again', async () => {
  const { client } = await newOrganization();
  const keys = shop(500, 500, 500);
  const { run } = await failedRun(client, calling(), { retry: { max_attempts: 2, initial_delay_seconds: 0 } });
  expect(keys).toHaveLength(2);
  await retry(client, run);
  await waitForRunState(client, run, 'completed');
  expect(keys).toHaveLength(4);
});

test('only a failed run can be retried, and a second retry is told that the run goes on', async () => {
  const { client } = await newOrganization();
  shop(500);
  const nap = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } }) });
  const { body } = await client.post(`/automation-workflows/${nap}/execute`, { context: {} });
  await waitForRunState(client, body.id, 'waiting');
  expect(await retry(client, body.id)).toMatchObject({
    status: 409,
    body: { detail: 'The run is waiting; only a failed run can be retried' },
  });
  await client.post(`/automation-workflows/runs/${body.id}/stop`);
  expect(await retry(client, body.id)).toMatchObject({
    status: 409,
    body: { detail: 'The run is cancelled; only a failed run can be retried' },
  });
  const { run } = await failedRun(
    client,
    chain(
      { id: 'call', type: 'http_request', data: { url: 'https://shop.example.com/x' } },
      { id: 'nap', type: 'wait', data: { duration: 'P1D' } },
    ),
  );
  const answers = await Promise.all([retry(client, run), retry(client, run), retry(client, run)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  await waitForRunState(client, run, 'waiting');
  expect(await retry(client, 987_654_321)).toMatchObject({ status: 404 });
  expect(await retry(client, run, { version: 'newest' })).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'version'] }] } });
});

test("another organization's run is not found, and a read key may not retry", async () => {
  const [mine, theirs] = [await newOrganization(), await newOrganization()];
  shop(500);
  const { run } = await failedRun(mine.client, calling());
  expect((await retry(theirs.client, run)).status).toBe(404);
  const reader = await newOrganization({ scopes: ['read'] });
  expect((await retry(reader.client, run)).status).toBe(403);
  expect((await mine.client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('failed');
});

test("a retry on the run's own version repeats the old node, and on the current version runs the corrected node", async () => {
  const { client } = await newOrganization();
  const keys = shop();
  const wrong = calling({ url: '{{ missing }}' });
  const { workflow, run } = await failedRun(client, wrong);
  await client.patch(`/automation-workflows/${workflow}`, { definition: calling() });
  await retry(client, run, { version: 'run' });
  expect(await waitForRunState(client, run, 'failed')).toMatchObject({
    workflow_version: 1,
    error: { type: 'invalid_request', attempt: 2 },
  });
  await retry(client, run, { version: 'current' });
  expect(await waitForRunState(client, run, 'completed')).toMatchObject({ workflow_version: 2 });
  expect(keys).toEqual([`${run}:call:1:3`]);
});

test('a retry on the current version needs the failed node in it', async () => {
  const { client } = await newOrganization();
  shop(500);
  const { workflow, run } = await failedRun(client, calling());
  await client.patch(`/automation-workflows/${workflow}`, { definition: chain() });
  expect(await retry(client, run, { version: 'current' })).toMatchObject({
    status: 409,
    body: { detail: `Node "call", where the run failed, is not in version 2; retry on the run's own version` },
  });
  expect((await client.get(`/automation-workflows/runs/${run}`)).body).toMatchObject({ state: 'failed', workflow_version: 1 });
});

test('of retries at once on different versions one happens, and the others are refused without effect', async () => {
  const { client, id } = await newOrganization();
  const keys = shop(500);
  const definition = chain(
    { id: 'call', type: 'http_request', data: { url: 'https://shop.example.com/x' } },
    { id: 'nap', type: 'wait', data: { duration: 'P1D' } },
  );
  const { workflow, run } = await failedRun(client, definition);
  await client.patch(`/automation-workflows/${workflow}`, { definition: { ...definition, edges: definition.edges.toReversed() } });
  const answers = await Promise.all([
    retry(client, run, { version: 'run' }),
    retry(client, run, { version: 'current' }),
    retry(client, run),
  ]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  await waitForRunState(client, run, 'waiting');
  // An hour later nothing of the refused ones is left to be done.
  const timers = await runInDurableObject(runStub(id, run), async (instance, state) => {
    const object = instance as unknown as { clock: () => number; alarm(): Promise<void> };
    const real = object.clock;
    object.clock = () => real() + 3_600_000;
    await object.alarm();
    object.clock = real;
    return storedTimers(state.storage);
  });
  expect(timers).toMatchObject([{ kind: 'advance' }]);
  expect(keys).toHaveLength(2);
});

test('a retry needs an active workflow, and on the current version a valid graph with the same type of node', async () => {
  const { client } = await newOrganization();
  shop(500, 500);
  const first = await failedRun(client, calling());
  const at = `/automation-workflows/${first.workflow}`;
  const other = chain({ id: 'call', type: 'wait', data: { duration: 'PT1S' } });
  await client.patch(at, { definition: other });
  expect((await retry(client, first.run, { version: 'current' })).body.detail).toContain('is a wait in version 2 and was a http_request');
  await client.delete(at);
  await client.patch(at, { status: 'draft' });
  await client.patch(at, { definition: { nodes: [{ id: 'call', type: 'fax' }], edges: [] } });
  for (const version of ['run', 'current'])
    expect(await retry(client, first.run, { version })).toMatchObject({
      status: 409,
      body: { detail: 'The workflow is draft; activate it, then retry' },
    });
  expect((await client.get(`/automation-workflows/runs/${first.run}`)).body.state).toBe('failed');
});

test('a run that never began cannot be retried', async () => {
  const { client } = await newOrganization();
  const schema = { type: 'object', required: ['total'] };
  const workflow = await createActiveWorkflow(client, {
    context_schema: schema,
    trigger: { type: 'contact_event', config: { event_types: ['x'] } },
  });
  await client.post('/events', { event_type: 'x', data: {} });
  const run = await vi.waitFor(async () => {
    const { body } = await client.get(`/automation-workflows/${workflow}/runs?state=failed`);
    expect(body.total).toBe(1);
    return body.runs[0].id;
  });
  expect(await retry(client, run)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('never began') } });
});

test('a retry obeys one_live_run_per_key, max_active_runs and archiving, and names the reason', async () => {
  const { client } = await newOrganization();
  shop(500);
  const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
  const definition = chain(
    { id: 'call', type: 'http_request', data: { url: 'https://shop.example.com/x' } },
    { id: 'nap', type: 'wait', data: { duration: 'P1D' } },
  );
  const { workflow, run } = await failedRun(client, definition, { one_live_run_per_key: true, max_active_runs: 1 }, contact);
  const { body: other } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id: contact });
  expect(await retry(client, run)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('max_active_runs') } });
  await client.patch(`/automation-workflows/${workflow}`, { settings: { max_active_runs: null } });
  expect(await retry(client, run)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('one_live_run_per_key') } });
  expect((await client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('failed');
  await client.post(`/automation-workflows/runs/${other.id}/stop`);
  await client.delete(`/automation-workflows/${workflow}`);
  expect(await retry(client, run)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('archived') } });
});

test('a retry of a run that reached its timeout gives it the whole timeout again', { tags: 'soak' }, async () => {
  const { client } = await newOrganization();
  const definition = chain({ id: 'nap', type: 'wait', data: { duration: 'PT2S' } });
  const workflow = await createActiveWorkflow(client, { definition, settings: { timeout: 'PT1S' } });
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  expect((await waitForRunState(client, body.id, 'failed')).error).toMatchObject({ type: 'timeout', node_id: 'nap' });
  await client.patch(`/automation-workflows/${workflow}`, { settings: { timeout: 'PT10S' } });
  await retry(client, body.id);
  await waitForRunState(client, body.id, 'completed');
});

for (const n of [1, 2, 3])
  for (const moment of ['before', 'after'] as const)
    test(`a retry that dies ${moment} its call ${n} is completed, once`, async () => {
      const { client, id } = await newOrganization();
      const keys = shop(500);
      const { workflow, run } = await failedRun(client, calling());
      const stub = () => runStub(id, run);
      await vi.waitFor(async () =>
        expect(
          await runInDurableObject(stub(), (_object, state) =>
            storedTimers(state.storage).filter(({ kind, due }) => kind === 'finish' && due > Date.now() + 1e6),
          ),
        ).toHaveLength(1),
      );
      await crashAtCall(stub(), n, moment);
      await retry(client, run).catch(() => undefined);
      await vi.waitFor(
        async () => {
          await runInDurableObject(stub(), async (instance) => {
            const object = instance as unknown as { clock: () => number; alarm(): Promise<void> };
            const real = object.clock;
            object.clock = () => real() + 60_000;
            await object.alarm();
          }).catch(() => undefined);
          const { body } = await client.get(`/automation-workflows/runs/${run}`);
          if (body.state === 'failed') await retry(client, run);
          expect(body.state).toBe('completed');
        },
        { timeout: 20_000, interval: 50 },
      );
      expect(keys).toEqual([`${run}:call:1:1`, `${run}:call:1:2`]);
      expect((await client.get(`/automation-workflows/${workflow}`)).body).toMatchObject({ runs_count: 1, active_runs_count: 0 });
    });

test('run.failed fires for each failure, run.completed for the end', async () => {
  const { client } = await newOrganization();
  shop(500, 500);
  const listener = await createActiveWorkflow(client, { trigger: { type: 'event', config: { event: 'run.failed' } } });
  const { run } = await failedRun(client, calling());
  const total = (count: number) =>
    vi.waitFor(async () => expect((await client.get(`/automation-workflows/${listener}`)).body.runs_count).toBe(count));
  await total(1);
  await retry(client, run);
  await total(2);
});

test('a request that must not be repeated ends as unknown when its answer is lost, too', async () => {
  const { client } = await newOrganization();
  let calls = 0;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit);
    if (!request.url.startsWith('https://shop.example.com/')) return realFetch(request);
    calls++;
    throw new TypeError('Network connection lost.');
  });
  const workflow = await createActiveWorkflow(client, { definition: calling({ after_crash: 'unknown' }) });
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  expect((await waitForRunState(client, body.id, 'failed')).error).toMatchObject({ type: 'unknown', attempt: 1 });
  expect(calls).toBe(1);
});

test(
  'a request that must not be repeated ends as unknown after a crash between sending and storing, and a person retries it',
  { tags: 'soak' },
  async () => {
    const { client, id } = await newOrganization();
    const keys = shop();
    const definition = calling({ after_crash: 'unknown' });
    const workflow = await createActiveWorkflow(client, { definition, settings: { retry: once } });
    const { body } = await crashBeforeStart(() => client.post(`/automation-workflows/${workflow}/execute`, { context: {} }));
    await runInDurableObject(runStub(id, body.id), (_instance, state) => {
      const called = vi.mocked(globalThis.fetch).getMockImplementation()!;
      vi.mocked(globalThis.fetch).mockImplementation(async (input, init) => {
        const answer = await called(input, init);
        if (keys.length > 1) return answer;
        // A real request leaves only once the earlier writes are stored; this simulated one never leaves the test's process.
        await state.storage.sync();
        state.abort('the object dies here');
        throw new Error('the object died');
      });
    });
    const start = () =>
      runStub(id, body.id)
        .start(id, body.id)
        .catch(() => undefined);
    await vi.waitFor(
      async () => {
        await start();
        expect((await client.get(`/automation-workflows/runs/${body.id}`)).body.state).toBe('failed');
      },
      { timeout: 15_000, interval: 50 },
    );
    const { error } = (await client.get(`/automation-workflows/runs/${body.id}`)).body;
    expect(error).toMatchObject({ node_id: 'call', type: 'unknown', message: expect.stringContaining('not done again') });
    expect(keys).toEqual([`${body.id}:call:1:1`]);
    await retry(client, body.id);
    await waitForRunState(client, body.id, 'completed');
    expect(keys).toEqual([`${body.id}:call:1:1`, `${body.id}:call:1:2`]);
  },
);

test('a failure is published once, also when the failed run is archived a month later', async () => {
  const { client, id } = await newOrganization();
  shop(500);
  const { run } = await failedRun(client, calling());
  // Published, with nothing left to do for a month.
  await vi.waitFor(() =>
    runInDurableObject(runStub(id, run), (_instance, { storage }) => {
      const timer = storedTimers(storage).find(({ kind }) => kind === 'finish');
      expect(timer?.due).toBeGreaterThan(Date.now() + 86_400_000);
    }),
  );
  const late = await createActiveWorkflow(client, { trigger: { type: 'event', config: { event: 'run.failed' } } });
  await vi.waitFor(
    async () => {
      await runInDurableObject(runStub(id, run), async (instance) => {
        const object = instance as unknown as { clock: () => number; alarm(): Promise<void> };
        object.clock = () => Date.now() + 31 * 86_400_000;
        await object.alarm();
      });
      expect(await runStub(id, run).history({ limit: 1, offset: 0 })).toBeNull();
    },
    { timeout: 10_000, interval: 50 },
  );
  expect((await client.get(`/automation-workflows/${late}`)).body.runs_count).toBe(0);
  expect((await nodesOf(client, run)).length).toBeGreaterThan(1);
});
