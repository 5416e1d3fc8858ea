import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { tickAt } from '../support/background.ts';
import { crashAtCall } from '../support/crashing-object.ts';
import { createActiveWorkflow, chain, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const nap = chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } });
const asking = (workflow_id: number) => chain({ id: 'ask', type: 'run_workflow', data: { workflow_id, wait: true } });

test('a waiting parent hears of its queued child that was stopped, although the first telling failed', { tags: 'soak' }, async () => {
  const { client, id } = await newOrganization();
  const child = await createActiveWorkflow(client, { definition: nap, settings: { max_active_runs: 1 } });
  await client.post(`/automation-workflows/${child}/execute`, { context: {} });
  const parent = await createActiveWorkflow(client, { definition: asking(child) });
  const run = (await client.post(`/automation-workflows/${parent}/execute`, { context: {} })).body.id;
  await waitForRunState(client, run, 'waiting');
  const queued = (await client.get(`/automation-workflows/${child}/runs?state=queued`)).body.runs[0].id;
  const real = env.AUTOMATION_RUN.getByName.bind(env.AUTOMATION_RUN);
  const spy = vi.spyOn(env.AUTOMATION_RUN, 'getByName').mockImplementation((name) => {
    if (name === `${id}/${run}`) throw new Error('the isolate died');
    return real(name as string);
  });
  const first = await client.post(`/automation-workflows/runs/${queued}/stop`);
  spy.mockRestore();
  const second = await client.post(`/automation-workflows/runs/${queued}/stop`);
  await tickAt(Date.now() + 180_000);
  await pause(3000);
  const { body } = await client.get(`/automation-workflows/runs/${run}`);
  expect([first.status, second.status]).toEqual([200, 409]);
  expect(body.state).toBe('completed');
});

test('a parent hears of its sleeping child whose object dies while it is being stopped', { tags: 'soak' }, async () => {
  const { client, id } = await newOrganization();
  const child = await createActiveWorkflow(client, { definition: nap });
  const parent = await createActiveWorkflow(client, { definition: asking(child) });
  const run = (await client.post(`/automation-workflows/${parent}/execute`, { context: {} })).body.id;
  await waitForRunState(client, run, 'waiting');
  const childRun = await vi.waitFor(async () => {
    const { body } = await client.get(`/automation-workflows/${child}/runs?state=waiting`);
    expect(body.total).toBe(1);
    return body.runs[0].id as number;
  });
  const watch = await crashAtCall(runStub(id, childRun), 2, 'after');
  const stop = await client.post(`/automation-workflows/runs/${childRun}/stop`);
  await pause(1000);
  await tickAt(Date.now() + 180_000);
  await pause(3000);
  expect([watch.died, stop.status, stop.body.state]).toEqual([true, 200, 'cancelled']);
  expect((await client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('completed');
});
