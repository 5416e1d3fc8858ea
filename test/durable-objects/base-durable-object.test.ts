import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { projectRuns } from '../../src/automation-workflows/runs/store.ts';
import { Database } from '../../src/database/client.ts';
import { createActiveWorkflow, chain, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization } from '../support/organization.ts';
import { storedTimers } from '../support/stored-run.ts';

const nap = (duration: string) => chain({ id: 'nap', type: 'wait', data: { duration } });

async function sleepingRun(duration: string) {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: nap(duration) });
  const { body: run } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  await waitForRunState(client, run.id, 'waiting');
  return { client, stub: runStub(id, run.id), runId: run.id as number, workflow };
}

const timersOf = (stub: ReturnType<typeof runStub>) => runInDurableObject(stub, (_object, state) => storedTimers(state.storage));

test('work is retried with growing delays, and nothing is lost, while the database does not answer', async () => {
  const { client, stub, runId, workflow } = await sleepingRun('PT1S');
  let isDown = true;
  await runInDurableObject(stub, (object) => {
    const target = object as unknown as { env: Env; random: () => number };
    const real = target.env;
    const down = async () => {
      if (isDown) throw new Error('D1 does not answer');
    };
    target.env = new Proxy(real, {
      get: (bindings, name) =>
        name === 'DB'
          ? {
              prepare: (sql: string) => bindings.DB.prepare(sql),
              batch: (statements: D1PreparedStatement[]) => down().then(() => bindings.DB.batch(statements)),
            }
          : Reflect.get(bindings, name),
    });
    target.random = () => 0;
  });
  await vi.waitFor(async () => expect(Math.max(...(await timersOf(stub)).map((timer) => timer.attempts))).toBeGreaterThan(0), {
    timeout: 10_000,
  });
  expect((await client.get(`/automation-workflows/${workflow}/runs`)).body.runs[0].state).toBe('waiting');
  isDown = false;
  const run = await waitForRunState(client, runId, 'completed');
  expect(run.outcome).toBe('done');
});

test('an object without work has no alarm, and a sleeping object has the alarm of its earliest timer', async () => {
  const { stub } = await sleepingRun('P400D');
  await runInDurableObject(stub, async (_object, state) => {
    const due = Math.min(...storedTimers(state.storage).map((timer) => timer.due));
    // After a long wait, runs wake spread over 20 seconds.
    const alarm = await state.storage.getAlarm();
    expect(alarm).toBeGreaterThanOrEqual(due);
    expect(alarm).toBeLessThan(due + 20_000);
  });
});

test('a late projection never overwrites the row in D1 with an older state', async () => {
  const { client, stub, runId } = await sleepingRun('P1D');
  const stopped = await client.post(`/automation-workflows/runs/${runId}/stop`);
  expect(stopped.body.state).toBe('cancelled');
  await vi.waitFor(async () => expect(await stub.snapshot()).toBeNull());

  const late = {
    state: 'waiting' as const,
    currentNodeId: 'nap',
    outcome: null,
    error: null,
    contextChanges: null,
    trail: '{"nodes":["nap"]}',
    history: null,
    voiceCallRunId: null,
    hold: null,
    revision: 99,
    wakeAt: 1,
    startedAt: 1,
    completedAt: null,
    leftWaits: [],
    exitEventId: null,
  };
  const organizationId = stopped.body.organization_id as number;
  const projected = await projectRuns(new Database(env.DB, true), organizationId, [{ id: runId, ...late }]);
  expect(projected.get(runId)).toMatchObject({ isAccepted: false });
  expect((await client.get(`/automation-workflows/runs/${runId}`)).body.state).toBe('cancelled');
});

test('an object whose row is gone, as after a restore, deletes itself', async () => {
  const { stub, runId } = await sleepingRun('PT1S');
  await env.DB.prepare('DELETE FROM automation_run WHERE id = ?').bind(runId).run();
  await evictDurableObject(stub);
  await vi.waitFor(async () => expect(await stub.history({ limit: 10, offset: 0 })).toBeNull(), { timeout: 10_000 });
});
