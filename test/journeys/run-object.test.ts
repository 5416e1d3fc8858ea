// @module-tag soak
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { tick } from '../../src/cron/tick.ts';
import { createActiveWorkflow, chain, waitForEndedRuns, waitForRunState, runStub } from '../support/journeys.ts';
import { crashBeforeStart } from '../support/background.ts';
import { crashAtCall, evictWhenReached, type CrashPoint, type CrashWatch } from '../support/crashing-object.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';
import { realFetch } from '../support/real-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const acting = (hook: string) =>
  chain(
    { id: 'first', type: 'set_context', data: { assign: { greeting: 'Hello {{ contact.first_name }}' } } },
    { id: 'contact', type: 'update_contact', data: { set: { title: '{{ greeting }}' }, add_tags: ['greeted'] } },
    { id: 'call', type: 'http_request', data: { method: 'POST', url: hook, body: { run: '{{ run.id }}' } } },
    { id: 'emit', type: 'emit_event', data: { event_type: 'greeted', data: { run: '{{ run.id }}' } } },
    { id: 'list', type: 'list_membership', data: { add: ['Greeted'] } },
  );

/** A run whose row is written but whose object was never started, as a caller leaves it that dies there. */
async function unstartedRun(definition: unknown) {
  const { client, id } = await newOrganization();
  const contact = await client.post('/contacts', { phone: newPhone(), first_name: 'Ada' });
  const workflow = await createActiveWorkflow(client, { definition });
  const { body: run } = await crashBeforeStart(() =>
    client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id: contact.body.id }),
  );
  return { client, organizationId: id, workflow, runId: run.id as number, contactId: contact.body.id as number };
}

/** The customer's endpoint: which keys each address was called with. */
function receiver(watches: Map<string, CrashWatch>) {
  const calls = new Map<string, (string | null)[]>();
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit);
    if (!request.url.startsWith('https://shop.example.com/')) return realFetch(request);
    const answer = async () => {
      calls.set(request.url, [...(calls.get(request.url) ?? []), request.headers.get('idempotency-key')]);
      return Response.json({ ok: true });
    };
    const watch = watches.get(request.url);
    return watch && !watch.died ? watch.watched(answer) : answer();
  });
  return calls;
}

/** More than an undisturbed run makes, so that the last cases are undisturbed ones. */
const callsOfARun = 22;

for (const moment of ['before', 'after', 'during'] as CrashPoint[])
  test(`an object that dies before or after any of its calls, or is evicted during it (here: ${moment}), goes on where it was: every act happens, none twice under two keys`, async () => {
    const cases = [];
    for (let n = 1; n <= callsOfARun; n++) {
      const hook = `https://shop.example.com/${moment}/${n}`;
      cases.push({ n, hook, ...(await unstartedRun(acting(hook))) });
    }
    const watches = new Map<string, CrashWatch>();
    const calls = receiver(watches);
    await Promise.all(
      cases.map(async ({ n, hook, client, organizationId, workflow, runId, contactId }) => {
        const watch = await crashAtCall(runStub(organizationId, runId), n, moment);
        watches.set(hook, watch);
        const start = () => runStub(organizationId, runId).start(organizationId, runId);
        const started = start().catch(() => undefined);
        if (moment === 'during') await evictWhenReached(watch, runStub(organizationId, runId));
        await started;
        await vi.waitFor(
          async () => {
            if (watch.died) await start();
            const { body } = await client.get(`/automation-workflows/runs/${runId}`);
            expect(body.state, `call ${n}: ${JSON.stringify(body.error)}`).toBe('completed');
          },
          { timeout: 25_000, interval: 100 },
        );
        const [run] = await waitForEndedRuns(client, workflow, 1);
        expect(run).toMatchObject({ outcome: 'done', context: { greeting: 'Hello Ada' } });
        expect(new Set(calls.get(hook)).size).toBe(1);
        expect(calls.get(hook)!.length).toBeLessThanOrEqual(2);
        expect((await client.get(`/contacts/${contactId}`)).body).toMatchObject({ title: 'Hello Ada', tags: ['greeted'] });
        expect((await client.get('/events?event_type=greeted')).body.total).toBe(1);
        expect((await client.get('/contacts/lists')).body.lists).toMatchObject([{ name: 'Greeted', contacts_count: 1 }]);
        const { body } = await client.get(`/automation-workflows/runs/${runId}/history`);
        expect(body.history.map((entry: { node_id: string; status: string }) => `${entry.node_id} ${entry.status}`)).toEqual(
          ['in', 'first', 'contact', 'call', 'emit', 'list', 'out'].map((node) => `${node} completed`),
        );
        expect((await client.get(`/automation-workflows/${workflow}`)).body).toMatchObject({ runs_count: 1, active_runs_count: 0 });
      }),
    );
    const deaths = cases.map(({ hook }) => watches.get(hook)!.died);
    expect(deaths.filter(Boolean).length).toBeGreaterThan(8);
    expect(deaths.at(-1)).toBe(false);
  }, 60_000);

test('a sleeping run survives eviction and wakes', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'PT2S' } }) });
  const { body: run } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  await waitForRunState(client, run.id, 'waiting');
  await evictDurableObject(runStub(id, run.id));
  await waitForRunState(client, run.id, 'completed');
});

test('the minute tick continues a run whose alarm is lost', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'PT1S' } }) });
  const { body: run } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  await waitForRunState(client, run.id, 'waiting');
  await runInDurableObject(runStub(id, run.id), (_instance, state) => state.storage.deleteAlarm());
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect((await client.get(`/automation-workflows/runs/${run.id}`)).body.state).toBe('waiting');
  await tick(env, Date.now() + 180_000, { waitUntil: () => undefined });
  await waitForRunState(client, run.id, 'completed');
});

test('an object that wakes with pending work and no alarm sets the alarm', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'PT1S' } }) });
  const { body: run } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  await waitForRunState(client, run.id, 'waiting');
  await runInDurableObject(runStub(id, run.id), (_instance, state) => state.storage.deleteAlarm());
  await evictDurableObject(runStub(id, run.id));
  await waitForRunState(client, run.id, 'completed');
});

test('a repeated alarm changes nothing', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } }) });
  const { body: run } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  await waitForRunState(client, run.id, 'waiting');
  await runDurableObjectAlarm(runStub(id, run.id));
  await runDurableObjectAlarm(runStub(id, run.id));
  const { body } = await client.get(`/automation-workflows/runs/${run.id}/history`);
  expect(body.history.map((entry: { node_id: string; status: string }) => `${entry.node_id} ${entry.status}`)).toEqual([
    'in completed',
    'nap waiting',
  ]);
});

test('stop ends a sleeping run at once, nothing follows, and stopping again is 409', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P7D' } }) });
  const { body: run } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  await waitForRunState(client, run.id, 'waiting');
  const stopped = await client.post(`/automation-workflows/runs/${run.id}/stop`);
  expect(stopped).toMatchObject({ status: 200, body: { state: 'cancelled' } });
  expect((await client.post(`/automation-workflows/runs/${run.id}/stop`)).status).toBe(409);
  expect((await client.get(`/automation-workflows/${workflow}`)).body.active_runs_count).toBe(0);
  await vi.waitFor(async () => expect(await runStub(id, run.id).snapshot()).toBeNull());
  expect(await runStub(id, run.id).start(id, run.id)).toBe('ended');
  const { body } = await client.get(`/automation-workflows/runs/${run.id}/history`);
  expect(body.history.at(-1)).toMatchObject({ node_id: 'nap', status: 'skipped' });
});

test('a run that is stopped during a request stays stopped, and its record shows the answer', async () => {
  const { client } = await newOrganization();
  let isReleased = false;
  const asked = stubFetch('https://slow.example.com/', async () => {
    while (!isReleased) await new Promise((resolve) => setTimeout(resolve, 5));
    return Response.json({ late: true });
  });
  const workflow = await createActiveWorkflow(client, {
    definition: chain({ id: 'call', type: 'http_request', data: { method: 'GET', url: 'https://slow.example.com/' } }),
  });
  const { body: run } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  await vi.waitFor(() => expect(asked).not.toEqual([]));
  const stopped = await client.post(`/automation-workflows/runs/${run.id}/stop`);
  expect(stopped.body.state).toBe('cancelled');
  isReleased = true;
  await waitForRunState(client, run.id, 'cancelled');
  expect((await client.get(`/automation-workflows/runs/${run.id}`)).body.outcome).toBeNull();
});

test('a run whose object was not started can be stopped, and cannot be started afterwards', async () => {
  const { client, organizationId: id, runId } = await unstartedRun(chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } }));
  const stopped = await client.post(`/automation-workflows/runs/${runId}/stop`);
  expect(stopped).toMatchObject({ status: 200, body: { state: 'cancelled' } });
  expect(await runStub(id, runId).start(id, runId)).toBe('ended');
});

test('a look-up of a run that does not exist leaves no object behind', async () => {
  const { id } = await newOrganization();
  expect(await runStub(id, 999_999_999).snapshot()).toBeNull();
  expect(await runStub(id, 999_999_999).start(id, 999_999_999)).toBe('unknown');
  await runInDurableObject(runStub(id, 999_999_999), (_instance, state) => {
    expect(
      state.storage.sql
        .exec('SELECT name FROM sqlite_master')
        .toArray()
        .filter((row) => !String(row.name).startsWith('_cf')),
    ).toEqual([]);
  });
});

test('a failing provider is retried with backoff, and in the end the run fails with the reason', async () => {
  const { client } = await newOrganization();
  stubFetch('https://busy.example.com/', () => new Response('busy', { status: 503 }));
  const workflow = await createActiveWorkflow(client, {
    definition: chain({ id: 'call', type: 'http_request', data: { method: 'GET', url: 'https://busy.example.com/' } }),
    settings: { retry: { max_attempts: 3, initial_delay_seconds: 0.05, factor: 2 } },
  });
  const { body: run } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  const failed = await waitForRunState(client, run.id, 'failed');
  expect(failed.error).toMatchObject({ node_id: 'call', type: 'http_status', attempt: 3 });
  const { body } = await client.get(`/automation-workflows/runs/${run.id}/history`);
  expect(body.history.slice(1).map((entry: { status: string; attempt: number }) => [entry.status, entry.attempt])).toEqual([
    ['retrying', 1],
    ['retrying', 2],
    ['failed', 3],
  ]);
});

test('an error edge is taken if there is one, and on_error continue goes on without one', async () => {
  const { client } = await newOrganization();
  stubFetch('https://gone.example.com/', () => new Response('no', { status: 404 }));
  const call = { id: 'call', type: 'http_request', data: { method: 'GET', url: 'https://gone.example.com/' } };
  const handled = chain(call);
  handled.nodes.push({ id: 'sorry', type: 'exit', data: { outcome: 'handled {{ steps.call.error.type }}' } });
  handled.edges.push({ id: 'x', source: 'call', target: 'sorry', source_handle: 'error' } as (typeof handled.edges)[number]);
  const withHandle = await createActiveWorkflow(client, { definition: handled });
  const going = await createActiveWorkflow(client, { definition: chain(call), settings: { on_error: 'continue' } });
  for (const workflow of [withHandle, going]) await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  expect((await waitForEndedRuns(client, withHandle))[0]).toMatchObject({ state: 'completed', outcome: 'handled http_status' });
  expect((await waitForEndedRuns(client, going))[0]).toMatchObject({ state: 'completed', outcome: 'done' });
});

test('a run is given up when its timeout is over, also while it sleeps', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {
    definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } }),
    settings: { timeout: 'PT1S' },
  });
  const { body: run } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  expect((await waitForRunState(client, run.id, 'failed')).error).toMatchObject({ node_id: 'nap', type: 'timeout' });
});

test('a run keeps the version with which it began', async () => {
  const { client } = await newOrganization();
  const first = chain({ id: 'nap', type: 'wait', data: { duration: 'PT1S' } });
  const workflow = await createActiveWorkflow(client, { definition: first });
  const { body: run } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  const edited = { ...first, nodes: first.nodes.map((node) => (node.id === 'out' ? { ...node, data: { outcome: 'second' } } : node)) };
  expect((await client.patch(`/automation-workflows/${workflow}`, { definition: edited })).body.version).toBe(2);
  expect(await waitForRunState(client, run.id, 'completed')).toMatchObject({ outcome: 'done', workflow_version: 1 });
  expect(
    (await client.get(`/automation-workflows/${workflow}/versions`)).body.versions.map((one: { version: number }) => one.version),
  ).toEqual([2, 1]);
});
