import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { AutomationRunObject } from '../../durable-objects/automation-run/automation-run-object.ts';
import type { Timers } from '../../durable-objects/shared/timers.ts';
import { createActiveWorkflow, chain, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization } from '../support/organization.ts';
import { storedRun } from '../support/stored-run.ts';

afterEach(() => vi.restoreAllMocks());

async function sleepingRun() {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } }) });
  const run = (await client.post(`/automation-workflows/${workflow}/execute`, { context: {} })).body.id as number;
  await waitForRunState(client, run, 'waiting');
  return { client, stub: runStub(id, run), run };
}

const alarmOf = (stub: ReturnType<typeof runStub>) => runInDurableObject(stub, (_object, state) => state.storage.getAlarm());

/** After a long wait, runs wake spread over 20 seconds. */
function expectShortlyAfter(alarm: number | null, due: number): void {
  expect(alarm).toBeGreaterThanOrEqual(due);
  expect(alarm).toBeLessThan(due + 20_000);
}

test('an object that wakes compares its alarm with its earliest timer, and sets it earlier', async () => {
  const { stub } = await sleepingRun();
  const due = await alarmOf(stub);
  const soon = Date.now() + 3_600_000;
  // As when the object dies between setting the timer and setting the alarm.
  await runInDurableObject(stub, (_object, state) => {
    const run = storedRun(state.storage)!;
    run.timers.push({ kind: 'withdraw', subject: '', due: soon, attempts: 0 });
    state.storage.sql.exec('UPDATE run_record SET record = ?', JSON.stringify(run));
  });
  expect(await alarmOf(stub)).toBe(due);
  await evictDurableObject(stub);
  await stub.snapshot();
  expectShortlyAfter(await alarmOf(stub), soon);
});

test('a lost alarm is set again when the object wakes', async () => {
  const { stub } = await sleepingRun();
  const due = await alarmOf(stub);
  await runInDurableObject(stub, (_object, state) => state.storage.deleteAlarm());
  await evictDurableObject(stub);
  await stub.snapshot();
  expect(await alarmOf(stub)).toBe(due);
});

test('timers are whole milliseconds, however they are computed', async () => {
  const { stub } = await sleepingRun();
  await runInDurableObject(stub, async (instance, state) => {
    const { timers } = instance as unknown as { timers: Timers };
    const moment = Date.now() + 1000.25;
    timers.set('finish', moment);
    timers.ensure('withdraw', moment);
    const [put] = timers.due(moment + 1);
    timers.reschedule(put!, Date.now() + 0.5, () => 0.123_456);
    for (const { due } of timers.due(moment + 1e9)) expect(Number.isInteger(due)).toBe(true);
    await timers.arm();
    expectShortlyAfter(await state.storage.getAlarm(), timers.earliest()!);
  });
});

test('a repeated stop is answered as the first time, and another stop is refused', async () => {
  const { client, stub, run } = await sleepingRun();
  const ending = { state: 'cancelled' as const };
  expect(await stub.stop(ending, 'first')).toBe(true);
  expect(await stub.stop(ending, 'first')).toBe(true);
  expect(await stub.stop({ state: 'completed' }, 'second')).toBe(false);
  expect((await client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('cancelled');
});

test('a stop whose answer is lost is answered as the first time, although the object has meanwhile ended the run and is gone', async () => {
  const { client, stub, run } = await sleepingRun();
  const stop = vi.spyOn(AutomationRunObject.prototype, 'stop').mockImplementationOnce(async function (this: AutomationRunObject, ...asked) {
    stop.mockRestore();
    await this.stop(...asked);
    await vi.waitFor(() => expect(this.exists()).toBe(false));
    throw new Error('the answer is lost');
  });
  const answer = await client.post(`/automation-workflows/runs/${run}/stop`);
  expect([answer.status, answer.body.state]).toEqual([200, 'cancelled']);
  expect(await stub.snapshot()).toBeNull();
});

test('a stop is armed before it is projected: when the row cannot be written, the end comes by the alarm', async () => {
  const { client, stub, run } = await sleepingRun();
  await runInDurableObject(stub, async (instance, state) => {
    const object = instance as unknown as { env: Env; stop(ending: object, request: string): Promise<boolean> };
    const real = object.env;
    object.env = new Proxy(real, {
      get: (bindings, name) =>
        name === 'DB'
          ? { prepare: (sql: string) => bindings.DB.prepare(sql), batch: () => Promise.reject(new Error('no answer')) }
          : Reflect.get(bindings, name),
    });
    await expect(object.stop({ state: 'cancelled' }, 'first')).rejects.toThrow('no answer');
    expect((await state.storage.getAlarm())! - Date.now()).toBeLessThan(10_000);
    object.env = real;
  });
  await waitForRunState(client, run, 'cancelled');
  const { completed_at } = (await env.DB.prepare('SELECT completed_at FROM automation_run WHERE id = ?')
    .bind(run)
    .first<{ completed_at: number }>())!;
  expect(completed_at).toBeGreaterThan(0);
});
