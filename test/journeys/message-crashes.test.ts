// @module-tag soak
import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { logOf, messagingOrganization, simulators } from '../messaging/accounts.ts';
import { crashBeforeStart } from '../support/background.ts';
import { crashAtCall, evictWhenReached, type CrashPoint, type CrashWatch } from '../support/crashing-object.ts';
import { createActiveWorkflow, chain, waitForRunState, runStub } from '../support/journeys.ts';
import { newPhone, type Client } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const moments = ['before', 'after', 'during'] as const;
const template = { template_name: 'order_update', language: 'en', template_params: { 1: 'Ada', 2: '{{ order }}' } };

/** Meta, shared by every run: the numbers that it was asked to write to. Calls for a number that is watched count for its run. */
function meta() {
  const watches = new Map<string, CrashWatch>();
  const asked: string[] = [];
  const templates = {
    asked: 0,
    isHeld: false,
    /** Delays every request for templates until the returned function is called. */
    hold: () => {
      templates.isHeld = true;
      return () => void (templates.isHeld = false);
    },
  };
  stubFetch(`${simulators}/meta/v25.0/`, async (request) => {
    if (request.method === 'GET') {
      templates.asked++;
      while (templates.isHeld) await new Promise((resolve) => setTimeout(resolve, 5));
      const components = [{ type: 'BODY', text: 'Hi {{1}}, {{2}}' }];
      return Response.json({
        data: [{ id: '1', name: 'order_update', status: 'APPROVED', category: 'UTILITY', language: 'en', components }],
      });
    }
    const { to } = (await request.json()) as { to: string };
    const answer = async () => {
      asked.push(`+${to}`);
      return Response.json({ messages: [{ id: `wamid.${to}.${asked.length}` }] });
    };
    const watch = watches.get(`+${to}`);
    return watch ? watch.watched(answer) : answer();
  });
  return { watches, asked, templates };
}

const start = (id: number, run: number) =>
  runStub(id, run)
    .start(id, run)
    .catch(() => undefined);

/** The run has ended, or sleeps until a retry, wherever it died. */
const untilEnded = (client: Client, id: number, run: number, watch: CrashWatch): Promise<any> =>
  vi.waitFor(
    async () => {
      if (watch.died) await start(id, run);
      const { body } = await client.get(`/automation-workflows/runs/${run}`);
      expect(['completed', 'failed'], `${body.state} ${body.current_node_id}`).toContain(body.state);
      return body;
    },
    { timeout: 25_000, interval: 50 },
  );

for (const moment of moments)
  test(`a run that dies ${moment} any of its calls sends its message once, or says that it cannot say`, async () => {
    const { watches, asked } = meta();
    const { client, id } = await messagingOrganization();
    const workflow = await createActiveWorkflow(client, {
      definition: chain({ id: 'text', type: 'send_message', data: { ...template, to: '{{ to }}' } }),
      settings: { retry: { initial_delay_seconds: 0 } },
    });
    const numbers = Array.from({ length: 14 }, newPhone);
    const runs: number[] = [];
    await crashBeforeStart(async () => {
      for (const to of numbers)
        runs.push((await client.post(`/automation-workflows/${workflow}/execute`, { context: { to, order: 'A' } })).body.id);
    });
    const ends = await Promise.all(
      runs.map(async (run, index) => {
        const stub = runStub(id, run);
        const watch = await crashAtCall(stub, index + 1, moment as CrashPoint);
        watches.set(numbers[index]!, watch);
        const started = start(id, run);
        if (moment === 'during') await evictWhenReached(watch, stub);
        await started;
        return { watch, body: await untilEnded(client, id, run, watch) };
      }),
    );
    expect(ends.filter(({ watch }) => watch.died).length).toBeGreaterThan(6);
    const log = await logOf(client, '?limit=500');
    for (const [index, { body }] of ends.entries()) {
      const times = asked.filter((to) => to === numbers[index]).length;
      const messages = log.filter(({ to }) => to === numbers[index]);
      const shown = `call ${index + 1}: ${body.state} ${JSON.stringify(body.error)} ${JSON.stringify(messages)}`;
      expect(times, shown).toBeLessThanOrEqual(1);
      expect(messages, shown).toHaveLength(1);
      if (body.state === 'completed') expect([times, messages[0].status], shown).toEqual([1, 'accepted']);
      else expect([body.error.type, messages[0].status], shown).toEqual(['unknown', 'unknown']);
    }
    // Only the runs that died between the request and storing its answer.
    expect(ends.filter(({ body }) => body.state === 'failed').length).toBeLessThanOrEqual(3);
  }, 60_000);

test('a run that died before it sent its message and is retried in quiet hours sends the message after them', async () => {
  const { asked, templates } = meta();
  const { client, id } = await messagingOrganization('provider_b');
  const to = newPhone();
  const definition = chain({ id: 'text', type: 'send_message', data: { ...template, to } });
  const workflow = await createActiveWorkflow(client, { definition, settings: { retry: { initial_delay_seconds: 0 } } });
  const release = templates.hold();
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: { order: 'A' } });
  await vi.waitFor(() => expect(templates.asked).toBe(1), { timeout: 5000, interval: 5 });
  const { slots, until } = quietNow();
  await client.patch(`/automation-workflows/${workflow}`, { settings: { quiet_hours: { timezone: 'UTC', slots } } });
  await runInDurableObject(runStub(id, body.id), (_instance, state) => state.abort('the object dies here')).catch(() => undefined);
  release();
  await start(id, body.id);
  const held = await vi.waitFor(
    async () => {
      const { history } = (await client.get(`/automation-workflows/runs/${body.id}/history`)).body;
      expect(history.at(-1)).toMatchObject({ node_id: 'text', status: 'waiting' });
      return history;
    },
    { timeout: 10_000, interval: 20 },
  );
  expect(held.map(({ node_id, status, attempt }: any) => `${node_id} ${status} ${attempt}`)).toEqual([
    'in completed 1',
    'text retrying 1',
    'text waiting 2',
  ]);
  expect(asked).toEqual([]);
  await runInDurableObject(runStub(id, body.id), async (instance) => {
    const object = instance as unknown as { clock: () => number; alarm(): Promise<void> };
    object.clock = () => until;
    await object.alarm();
  });
  await waitForRunState(client, body.id, 'completed');
  expect(asked).toEqual([to]);
});

/** A slot of two hours around this moment, in UTC, and when it ends. */
function quietNow() {
  const hour = 3_600_000;
  const from = Math.floor(Date.now() / hour) * hour - hour;
  const until = from + 3 * hour;
  const clockText = (at: number) => new Date(at).toISOString().slice(11, 16);
  const day_of_week = (new Date(from).getUTCDay() + 6) % 7;
  return { slots: [{ day_of_week, start_time: clockText(from), end_time: clockText(until) }], until };
}
