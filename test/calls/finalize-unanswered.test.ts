import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import type { Owner } from '../../src/calls/contract.ts';
import { finalizeUnanswered, type UnansweredCall } from '../../src/calls/post-call/finalize-unanswered.ts';
import { findAgentRun, type NewAgentRun, type AgentRunRow } from '../../src/calls/records/store.ts';
import { tickAt } from '../support/background.ts';
import { createActiveWorkflow, chain } from '../support/journeys.ts';
import { newPhone } from '../support/organization.ts';
import { newRun, withAgent } from '../voice-agents/runs.ts';

afterEach(() => vi.restoreAllMocks());

const silent = (key: string, change: Partial<UnansweredCall> = {}): UnansweredCall => ({
  key,
  outcome: 'busy',
  reason: null,
  returned: null,
  returnedUntil: null,
  neverReachedCarrier: false,
  ownNumber: '+15005550006',
  answeredAt: null,
  endedAt: 1_700_000_000_000,
  durationSeconds: 0,
  statusCallbacks: [],
  ...change,
});

type JourneyStub = { start: () => Promise<unknown>; callSettled: (runId: number) => Promise<void> };

/** An organization with unanswered calls; the objects of the journey runs that wait for them, and of the runs that triggers start. */
async function setUp(keys: string[], more: (index: number) => Partial<NewAgentRun> = () => ({})) {
  const organization = await withAgent();
  const { context, agent, client } = organization;
  // Expected failures are logged.
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const rows: AgentRunRow[] = [];
  for (const [index, attemptKey] of keys.entries()) rows.push(await newRun(context, agent, { attemptKey, ...more(index) }));
  const objects = (stub: (runId: number) => JourneyStub) =>
    vi
      .spyOn(env.AUTOMATION_RUN, 'getByName')
      .mockImplementation((name) => stub(Number(name.split('/')[1])) as unknown as ReturnType<typeof env.AUTOMATION_RUN.getByName>);
  const completed = async () => Promise.all(rows.map(async ({ id }) => (await findAgentRun(context, id))!.is_completed));
  // A run that waits has an object. One that only decides has none.
  const nap = chain({ id: 'nap', type: 'wait', data: { duration: 'P7D' } });
  const listener = () => createActiveWorkflow(client, { definition: nap, trigger: { type: 'event', config: { event: 'call.completed' } } });
  const notifiedRuns = async (workflow: number) =>
    ((await client.get(`/automation-workflows/${workflow}/runs`)).body.runs as { initial_context: { call_run_id: number } }[])
      .map(({ initial_context: { call_run_id: id } }) => id)
      .toSorted();
  return { ...organization, rows, objects, completed, listener, notifiedRuns };
}

test('calls are completed and their journeys notified; a call without a row needs no work', async () => {
  const { context, rows, objects, completed } = await setUp(['journey:7:n:1:1', 'single:0:a'], (index) => ({
    automationRunId: index === 0 ? 7 : null,
  }));
  const callSettled = vi.fn(async () => undefined);
  objects(() => ({ start: async () => undefined, callSettled }));
  const calls = [silent('journey:7:n:1:1'), silent('single:0:a', { outcome: 'cancelled' }), silent('single:0:none')];
  for (let time = 0; time < 2; time++)
    expect(await finalizeUnanswered(context, calls)).toEqual(['journey:7:n:1:1', 'single:0:a', 'single:0:none']);
  expect(await completed()).toEqual([true, true]);
  expect(callSettled.mock.calls).toEqual([[rows[0]!.id], [rows[0]!.id]]);
});

test('a journey that cannot be notified holds up no other call, and is notified by another try', async () => {
  const keys = Array.from({ length: 12 }, (_, index) => `journey:${index + 1}:n:1:1`);
  const { context, rows, objects, completed } = await setUp(keys, (index) => ({ automationRunId: index + 1 }));
  const settledRuns: number[] = [];
  let isBroken = true;
  objects((journey) => ({
    start: async () => undefined,
    callSettled: async (runId) => {
      if (journey === 3 && isBroken) throw new Error('this run is broken');
      settledRuns.push(runId);
    },
  }));
  const calls = keys.map((key) => silent(key));
  expect(await finalizeUnanswered(context, calls)).toEqual(keys.filter((_, index) => index !== 2));
  expect(await completed()).toEqual(keys.map(() => true));
  expect(settledRuns).toHaveLength(11);
  isBroken = false;
  expect(await finalizeUnanswered(context, [calls[2]!])).toEqual([keys[2]]);
  expect(settledRuns.at(-1)).toBe(rows[2]!.id);
});

test('a trigger run that cannot begin keeps no call from being finalized: it is recorded, and the tick starts it', async () => {
  const keys = ['journey:1:n:1:1', 'journey:2:n:1:1', 'journey:3:n:1:1'];
  const { context, rows, objects, listener, notifiedRuns } = await setUp(keys, (index) => ({ automationRunId: index + 1 }));
  const workflow = await listener();
  const settledRuns: number[] = [];
  const failing = new Set<number>();
  objects((runId) => ({
    start: async () => {
      if (failing.size === 0) failing.add(runId);
      if (failing.has(runId)) throw new Error('this run cannot start');
    },
    callSettled: async (call) => void settledRuns.push(call),
  }));
  const done = await finalizeUnanswered(
    context,
    keys.map((key) => silent(key)),
  );
  expect(done).toEqual(keys);
  expect(settledRuns).toHaveLength(3);
  expect(await notifiedRuns(workflow)).toEqual(rows.map(({ id }) => id).toSorted());
  const [late] = failing;
  const started: number[] = [];
  objects((runId) => ({ start: async () => void started.push(runId), callSettled: async () => undefined }));
  await tickAt(Date.now() + 5 * 60_000);
  expect(started).toContain(late);
});

test('a call that was given back undialled fires no trigger', async () => {
  const { context, rows, objects, listener, notifiedRuns, completed } = await setUp(['single:0:a', 'single:0:b']);
  const workflow = await listener();
  objects(() => ({ start: async () => undefined, callSettled: async () => undefined }));
  const returned = silent('single:0:a', { outcome: 'cancelled', returned: 'suppressed' });
  expect(await finalizeUnanswered(context, [returned, silent('single:0:b')])).toEqual(['single:0:a', 'single:0:b']);
  expect(await completed()).toEqual([true, true]);
  expect(await notifiedRuns(workflow)).toEqual([rows[1]!.id]);
});

test('several journeys are notified at a time, and not all', async () => {
  const keys = Array.from({ length: 20 }, (_, index) => `journey:${index + 1}:n:1:1`);
  const { context, objects } = await setUp(keys, (index) => ({ automationRunId: index + 1 }));
  const waiting: (() => void)[] = [];
  let [live, peak, asked] = [0, 0, 0];
  objects(() => ({
    start: async () => undefined,
    // Each waits for another one. One after the other they would wait for ever.
    callSettled: async () => {
      peak = Math.max(peak, ++live);
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (++asked === keys.length || waiting.length === 2) for (const release of waiting.splice(0)) release();
      });
      live--;
    },
  }));
  const calls = keys.map((key) => silent(key));
  expect(await finalizeUnanswered(context, calls)).toEqual(keys);
  expect(peak).toBeLessThanOrEqual(6);
});

test('the call slots finalize all other calls of an organization while one journey cannot be notified', async () => {
  const singles = Array.from({ length: 110 }, (_, index) => `single:0:${index}`);
  const { id, agent, objects, completed } = await setUp(['journey:7:n:1:1', ...singles], (index) => ({
    automationRunId: index === 0 ? 7 : null,
  }));
  const tries = vi.fn(() => Promise.reject(new Error('this run is broken')));
  objects(() => ({ start: async () => undefined, callSettled: tries }));
  const slots = env.CALL_SLOTS.getByName(String(id));
  const request = (owner: Owner, keys: string[]) => {
    const calls = keys.map((key) => {
      return { key, phone: newPhone(), agentId: agent.id, contactId: null, initialContext: '{}', name: 'A call', notAfter: null };
    });
    return slots.request(id, { owner, epoch: 0, maxConcurrency: null, calls });
  };
  await request({ kind: 'journey', id: 7 }, ['journey:7:n:1:1']);
  await request({ kind: 'single', id: 0 }, singles);
  await slots.withdrawCalls(id, ['journey:7:n:1:1', ...singles]);
  await vi.waitFor(async () => expect(await completed()).toEqual(Array.from({ length: 111 }, () => true)), {
    timeout: 15_000,
    interval: 50,
  });
  expect(tries).toHaveBeenCalled();
});

test('a row says who answered, where machine detection has told it', async () => {
  const { context, rows } = await setUp(['single:0:machine', 'single:0:person', 'single:0:nobody']);
  const verdict = (word: string) => [{ status: 'answered', at: '2026-11-23T09:00:00.000Z', details: { answered_by: word } }];
  await finalizeUnanswered(context, [
    silent('single:0:machine', { outcome: 'voicemail' }),
    silent('single:0:person', { outcome: 'failed', statusCallbacks: verdict('person') }),
    silent('single:0:nobody', { outcome: 'no_answer' }),
  ]);
  const found = await Promise.all(rows.map(async ({ id }) => (await findAgentRun(context, id))!.result!.answered_by));
  expect(found).toEqual(['machine', 'person', null]);
});
