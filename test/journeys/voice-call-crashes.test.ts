// @module-tag soak
import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { crashBeforeStart } from '../support/background.ts';
import { crashAtCall, type CrashWatch } from '../support/crashing-object.ts';
import {
  callingJourney,
  organizationWithAgent,
  readCallRows,
  executeWorkflow,
  stubCallSlots,
  readHistory,
  completeCallAndNotify,
} from '../support/journey-calls.ts';
import { createActiveWorkflow, runStub } from '../support/journeys.ts';
import { newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const moments = ['before', 'after'] as const;

/** A run of its own organization whose object dies at its n-th call to D1, R2 or the call slots. */
async function dyingRun(n: number, moment: (typeof moments)[number], data: object = {}) {
  const { client, id, agentId } = await organizationWithAgent();
  const definition = callingJourney({ workflow_id: agentId, phone: newPhone(), ...data });
  const settings = { retry: { initial_delay_seconds: 0 } };
  const workflow = await createActiveWorkflow(client, { definition, settings });
  const run = await crashBeforeStart(() => executeWorkflow(client, workflow));
  const watch = await crashAtCall(runStub(id, run), n, moment);
  return { client, id, run, watch, workflow };
}

const start = (id: number, run: number) =>
  runStub(id, run)
    .start(id, run)
    .catch(() => undefined);

/** Stubbed call slots for all runs. A request counts as a call of the run whose organization it names. */
function watchedSlots() {
  const watches = new Map<number, CrashWatch>();
  const requests: string[] = [];
  const withdrawn: string[] = [];
  vi.spyOn(env.CALL_SLOTS, 'getByName').mockImplementation((name) => {
    const watched = <T>(call: () => Promise<T>) => watches.get(Number(name))?.watched(call) ?? call();
    return {
      request: (_organization: number, { calls }: { calls: { key: string }[] }) =>
        watched(async () => {
          requests.push(...calls.map(({ key }) => key));
          return { queued: 1, known: 0, isStale: false };
        }),
      withdrawCalls: (_organization: number, keys: string[]) => watched(async () => void withdrawn.push(...keys)),
    } as never;
  });
  return { watches, requests, withdrawn };
}

const until = (watch: CrashWatch, id: number, run: number, holds: () => Promise<void>) =>
  vi.waitFor(
    async () => {
      if (watch.died) await start(id, run);
      await holds();
    },
    { timeout: 25_000, interval: 50 },
  );

const stateOf = async (client: Client, run: number) => (await client.get(`/automation-workflows/runs/${run}`)).body;

for (const moment of moments)
  test(`a run that dies ${moment} any of its calls requests one phone call, and goes on when that has ended`, async () => {
    const { watches, requests, withdrawn } = watchedSlots();
    const deaths = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const { client, id, run, watch } = await dyingRun(index + 1, moment);
        watches.set(id, watch);
        await start(id, run);
        await until(watch, id, run, async () => expect(requests).toContain(`journey:${run}:call:1:1`));
        const [call] = await readCallRows(id);
        // The notification is repeated until the run takes it, and the run may die of it.
        await vi.waitFor(() => completeCallAndNotify(id, call!, { outcome: 'busy' }), { timeout: 5000 });
        await until(watch, id, run, async () => expect((await stateOf(client, run)).outcome, `call ${index + 1}`).toBe('busy '));
        expect(await readCallRows(id)).toHaveLength(1);
        expect((await readHistory(client, run)).map((record) => `${record.node_id} ${record.status}`)).toEqual(
          ['in', 'call', 'busy'].map((node) => `${node} completed`),
        );
        expect((await stateOf(client, run)).voice_call_run_id).toBe(call!.id);
        return watch.died;
      }),
    );
    expect(deaths.filter(Boolean).length).toBeGreaterThan(6);
    expect(withdrawn).toEqual([]);
  }, 90_000);

for (const moment of moments)
  test(`a run that dies ${moment} any of its calls withdraws its phone call at the timeout, and goes on once`, async () => {
    const { watches, withdrawn } = watchedSlots();
    const deaths = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const { client, id, run, watch } = await dyingRun(index + 1, moment, { timeout: 'PT0.4S' });
        watches.set(id, watch);
        await start(id, run);
        await until(watch, id, run, async () =>
          expect((await stateOf(client, run)).outcome, `call ${index + 1}`).toMatch(/^failed timeout: /),
        );
        expect(await readCallRows(id)).toHaveLength(1);
        expect(withdrawn).toContain(`journey:${run}:call:1:1`);
        return watch.died;
      }),
    );
    expect(deaths.filter(Boolean).length).toBeGreaterThan(6);
  }, 90_000);

for (const moment of moments)
  test(`a run that is stopped and dies ${moment} any of its calls withdraws its phone call`, async () => {
    const { watches, withdrawn } = watchedSlots();
    const deaths = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const { client, id, agentId } = await organizationWithAgent();
        const workflow = await createActiveWorkflow(client, { definition: callingJourney({ workflow_id: agentId, phone: newPhone() }) });
        const run = await executeWorkflow(client, workflow);
        await vi.waitFor(async () => expect((await stateOf(client, run)).state).toBe('waiting'), { timeout: 10_000 });
        const watch = await crashAtCall(runStub(id, run), index + 1, moment);
        watches.set(id, watch);
        await client.post(`/automation-workflows/runs/${run}/stop`);
        await until(watch, id, run, async () => {
          expect((await stateOf(client, run)).state).toBe('cancelled');
          expect(withdrawn, `call ${index + 1}`).toContain(`journey:${run}:call:1:1`);
        });
        return watch.died;
      }),
    );
    expect(deaths.filter(Boolean).length).toBeGreaterThan(3);
  }, 60_000);

for (const moment of moments)
  test(`a run that dies ${moment} any of its calls requests a returned phone call again, under one key each time`, async () => {
    const { watches, requests } = watchedSlots();
    const deaths = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const { client, id, agentId } = await organizationWithAgent();
        const workflow = await createActiveWorkflow(client, { definition: callingJourney({ workflow_id: agentId, phone: newPhone() }) });
        const run = await executeWorkflow(client, workflow);
        await vi.waitFor(async () => expect((await stateOf(client, run)).state).toBe('waiting'), { timeout: 10_000 });
        const [first] = await readCallRows(id);
        const watch = await crashAtCall(runStub(id, run), index + 1, moment);
        watches.set(id, watch);
        await vi.waitFor(() => completeCallAndNotify(id, first!, { returned: 'window_closed', outcome: 'cancelled' }), { timeout: 5000 });
        await until(watch, id, run, async () => expect(requests).toContain(`journey:${run}:call:1:2`));
        const second = (await readCallRows(id))[1]!;
        await vi.waitFor(() => completeCallAndNotify(id, second), { timeout: 5000 });
        await until(watch, id, run, async () => expect((await stateOf(client, run)).outcome, `call ${index + 1}`).toBe('completed '));
        expect((await readCallRows(id)).map((row) => row.attempt_key)).toEqual([1, 2].map((n) => `journey:${run}:call:1:${n}`));
        return watch.died;
      }),
    );
    expect(deaths.filter(Boolean).length).toBeGreaterThan(6);
  }, 60_000);

test('a run that is evicted between its asking and its sleep, and one that sleeps, has one call', async () => {
  const { client, id, agentId } = await organizationWithAgent();
  const slots = stubCallSlots(id);
  const workflow = await createActiveWorkflow(client, { definition: callingJourney({ workflow_id: agentId, phone: newPhone() }) });
  const run = await executeWorkflow(client, workflow);
  for (let n = 0; n < 5; n++) {
    await evictDurableObject(runStub(id, run));
    await start(id, run);
  }
  await vi.waitFor(async () => expect((await stateOf(client, run)).state).toBe('waiting'), { timeout: 10_000 });
  await evictDurableObject(runStub(id, run));
  const calls = await readCallRows(id);
  expect(calls).toHaveLength(1);
  await completeCallAndNotify(id, calls[0]!, { outcome: 'voicemail' });
  await vi.waitFor(async () => expect((await stateOf(client, run)).outcome).toBe('voicemail '), { timeout: 10_000 });
  expect(slots.keys()).toEqual([`journey:${run}:call:1:1`]);
});
