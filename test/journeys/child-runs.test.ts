import { evictDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { crashBeforeStart } from '../support/background.ts';
import { crashAtCall } from '../support/crashing-object.ts';
import { createActiveWorkflow, chain, waitForEndedRuns, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

/** A parent that starts a child. Each handle leads to an exit with its own outcome. */
const asking = (data: object) => ({
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'ask', type: 'run_workflow', data },
    { id: 'good', type: 'exit', data: { outcome: 'good {{ steps.ask.variables.answer }}' } },
    { id: 'bad', type: 'exit', data: { outcome: 'bad {{ steps.ask.state }} {{ steps.ask.error.type }}' } },
    { id: 'on', type: 'exit', data: { outcome: 'on' } },
    { id: 'refused', type: 'exit', data: { outcome: 'refused' } },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'ask' },
    { id: 'b', source: 'ask', target: 'good', source_handle: 'completed' },
    { id: 'c', source: 'ask', target: 'bad', source_handle: 'failed' },
    { id: 'd', source: 'ask', target: 'on' },
    { id: 'e', source: 'ask', target: 'refused', source_handle: 'error' },
  ],
});

const answering = chain(
  { id: 'nap', type: 'wait', data: { duration: 'PT0.2S' } },
  { id: 'answer', type: 'set_context', data: { assign: { answer: '{{ question | times: 2 }}' } } },
);

const execute = async (client: Client, workflow: number, input: object = {}) =>
  (await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, ...input })).body.id as number;

test('a run that waits for a child goes on when the child has ended, with its variables and the same contact', async () => {
  const { client } = await newOrganization();
  const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
  const child = await createActiveWorkflow(client, { definition: answering });
  const parent = await createActiveWorkflow(client, {
    definition: asking({ workflow_id: child, context: { question: '{{ number }}' }, wait: true }),
  });
  const run = await execute(client, parent, { contact_id: contact, context: { number: 21 } });
  expect((await waitForRunState(client, run, 'waiting')).current_node_id).toBe('ask');
  const ended = await waitForRunState(client, run, 'completed');
  expect(ended.outcome).toBe('good 42');
  const [answer] = await waitForEndedRuns(client, child);
  expect(answer).toMatchObject({ contact_id: contact, initial_context: { question: 21 }, state: 'completed' });
  expect(ended.context.steps.ask).toMatchObject({ run_id: answer.id, state: 'completed', outcome: 'done', variables: { answer: 42 } });
});

test('without wait the run goes on at once, and the child runs independently', async () => {
  const { client } = await newOrganization();
  const child = await createActiveWorkflow(client, { definition: answering });
  const parent = await createActiveWorkflow(client, { definition: asking({ workflow_id: child, context: { question: 1 } }) });
  expect((await waitForRunState(client, await execute(client, parent), 'completed')).outcome).toBe('on');
  await waitForEndedRuns(client, child);
});

test('a child that fails, is cancelled or does not fit its schema leads along failed', async () => {
  const { client } = await newOrganization();
  const failing = await createActiveWorkflow(client, {
    definition: chain({ id: 'call', type: 'http_request', data: { url: '{{ missing }}' } }),
  });
  const napping = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } }) });
  const strict = await createActiveWorkflow(client, { context_schema: { type: 'object', required: ['name'] } });
  const outcomeOf = async (workflow_id: number, meanwhile?: (run: number) => Promise<unknown>) => {
    const parent = await createActiveWorkflow(client, { definition: asking({ workflow_id, wait: true }) });
    const run = await execute(client, parent);
    await meanwhile?.(run);
    return (await waitForRunState(client, run, 'completed')).outcome;
  };
  expect(await outcomeOf(failing)).toBe('bad failed invalid_request');
  expect(await outcomeOf(strict)).toBe('bad failed context_invalid');
  const stop = async () => {
    const child = await vi.waitFor(async () => {
      const { body } = await client.get(`/automation-workflows/${napping}/runs?state=waiting`);
      expect(body.total).toBe(1);
      return body.runs[0].id;
    });
    await client.post(`/automation-workflows/runs/${child}/stop`);
  };
  expect((await outcomeOf(napping, stop))?.trim()).toBe('bad cancelled');
});

test('a queued child that is stopped notifies its parent, too', async () => {
  const { client } = await newOrganization();
  const child = await createActiveWorkflow(client, {
    definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } }),
    settings: { max_active_runs: 1 },
  });
  await execute(client, child);
  const parent = await createActiveWorkflow(client, { definition: asking({ workflow_id: child, wait: true }) });
  const run = await execute(client, parent);
  await waitForRunState(client, run, 'waiting');
  const { body } = await client.get(`/automation-workflows/${child}/runs?state=queued`);
  await client.post(`/automation-workflows/runs/${body.runs[0].id}/stop`);
  expect((await waitForRunState(client, run, 'completed')).outcome).toBe('bad cancelled ');
});

test('a child that a rule keeps out, or whose workflow is not active, is a refusal', async () => {
  const { client } = await newOrganization();
  const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
  const child = await createActiveWorkflow(client, { settings: { reentry: { mode: 'never' } } });
  const parent = await createActiveWorkflow(client, { definition: asking({ workflow_id: child, wait: true }) });
  await waitForRunState(client, await execute(client, parent, { contact_id: contact }), 'completed');
  const second = await waitForRunState(client, await execute(client, parent, { contact_id: contact }), 'completed');
  expect(second).toMatchObject({
    outcome: 'refused',
    context: { steps: { ask: { error: { type: 'conflict', message: expect.stringContaining('once only') } } } },
  });
  await client.patch(`/automation-workflows/${child}`, { status: 'paused' });
  expect((await waitForRunState(client, await execute(client, parent), 'completed')).context.steps.ask.error.message).toContain(
    'The workflow is paused',
  );
});

test('a workflow that starts itself stops at the depth limit, with the reason', async () => {
  const { client } = await newOrganization();
  const created = await client.post('/automation-workflows/', { name: 'Snake' });
  const definition = asking({ workflow_id: created.body.id, wait: true });
  await client.patch(`/automation-workflows/${created.body.id}`, { definition });
  expect((await client.patch(`/automation-workflows/${created.body.id}`, { status: 'active' })).status).toBe(200);
  await execute(client, created.body.id);
  const runs = await waitForEndedRuns(client, created.body.id, 9);
  expect(runs[0]).toMatchObject({
    outcome: 'refused',
    context: { steps: { ask: { error: { message: expect.stringContaining('8 deep') } } } },
  });
});

test('a workflow of another organization is unknown when the graph goes active, and an archived one, too', async () => {
  const [mine, theirs] = [await newOrganization(), await newOrganization()];
  const foreign = await createActiveWorkflow(theirs.client, {});
  const { body } = await mine.client.post('/automation-workflows/', { name: 'Asking', definition: asking({ workflow_id: foreign }) });
  const loc = ['body', 'definition', 'nodes', 'ask', 'data', 'workflow_id'];
  expect(await mine.client.patch(`/automation-workflows/${body.id}`, { status: 'active' })).toMatchObject({
    status: 422,
    body: { detail: [{ loc, type: 'not_found' }] },
  });
  expect((await mine.client.post(`/automation-workflows/${body.id}/validate`, {})).body).toMatchObject({ valid: false, errors: [{ loc }] });
});

test("a dry run shows the child's start and goes on as if the child had completed", async () => {
  const { client } = await newOrganization();
  const child = await createActiveWorkflow(client, {});
  const parent = await createActiveWorkflow(client, { definition: asking({ workflow_id: child, context: { a: '{{ b }}' }, wait: true }) });
  const { body } = await client.post(`/automation-workflows/${parent}/test`, { context: { b: 5 } });
  expect(body.history[1]).toMatchObject({
    status: 'simulated',
    output: { request: { workflow_id: child, context: { a: 5 }, wait: true } },
  });
  expect(body.outcome.trim()).toBe('good');
  expect((await client.get(`/automation-workflows/${child}`)).body.runs_count).toBe(0);
});

for (const moment of ['before', 'after'] as const)
  test(
    `a parent that dies ${moment} any of its calls starts its child once and is notified of its end`,
    { tags: 'soak', timeout: 60_000 },
    async () => {
      const { client, id } = await newOrganization();
      const child = await createActiveWorkflow(client, { definition: answering });
      const parent = await createActiveWorkflow(client, {
        definition: asking({ workflow_id: child, context: { question: 4 }, wait: true }),
      });
      const calls = 12;
      const runs: number[] = [];
      await crashBeforeStart(async () => {
        for (let n = 1; n <= calls; n++) runs.push(await execute(client, parent));
      });
      const dead = await Promise.all(
        runs.map(async (run, index) => {
          const watch = await crashAtCall(runStub(id, run), index + 1, moment);
          const start = () =>
            runStub(id, run)
              .start(id, run)
              .catch(() => undefined);
          await start();
          await vi.waitFor(
            async () => {
              if (watch.died) await start();
              const { body } = await client.get(`/automation-workflows/runs/${run}`);
              expect(body.state, `call ${index + 1}: ${JSON.stringify(body.error)}`).toBe('completed');
              expect(body.outcome).toBe('good 8');
            },
            { timeout: 25_000, interval: 50 },
          );
          return watch.died;
        }),
      );
      expect(dead.filter(Boolean).length).toBeGreaterThan(6);
      await waitForEndedRuns(client, child, calls);
    },
  );

test('an evicted parent is woken by its child', async () => {
  const { client, id } = await newOrganization();
  const child = await createActiveWorkflow(client, { definition: answering });
  const parent = await createActiveWorkflow(client, { definition: asking({ workflow_id: child, context: { question: 3 }, wait: true }) });
  const run = await execute(client, parent);
  await waitForRunState(client, run, 'waiting');
  await evictDurableObject(runStub(id, run));
  expect((await waitForRunState(client, run, 'completed')).outcome).toBe('good 6');
});

test("a child that would wait for its parent's own slot of max_active_runs is refused", async () => {
  const { client } = await newOrganization();
  const created = await client.post('/automation-workflows/', { name: 'Snake', settings: { max_active_runs: 1 } });
  const at = `/automation-workflows/${created.body.id}`;
  await client.patch(at, { definition: asking({ workflow_id: created.body.id, wait: true }) });
  await client.patch(at, { status: 'active' });
  const run = await waitForRunState(client, await execute(client, created.body.id), 'completed');
  expect(run).toMatchObject({
    outcome: 'refused',
    context: { steps: { ask: { error: { message: expect.stringContaining('wait for itself') } } } },
  });
});
