import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { nextInside } from '../../src/library/time/weekly-slots.ts';
import { createActiveWorkflow, chain, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { realFetch } from '../support/real-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const hour = 3_600_000;
const day = 24 * hour;
const clockText = (moment: number) => new Date(moment).toISOString().slice(11, 16);
const weekday = (moment: number) => (new Date(moment).getUTCDay() + 6) % 7;

/** Slots, in UTC, that last from an hour ago to two hours from now, on the minute; and when they end. */
function quietNow() {
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  const [from, to] = [now - hour, now + 2 * hour];
  const slot = { day_of_week: weekday(from), start_time: clockText(from), end_time: clockText(to) };
  expect(nextInside([slot], 'UTC', now)).toBe(now);
  return { slots: [slot], until: to };
}

const texting = (more: object = {}) =>
  chain({ id: 'text', type: 'http_request', data: { url: 'https://sms.example.com/send', respect_quiet_hours: true, ...more } });

function provider(): string[] {
  const calls: string[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit);
    if (!request.url.startsWith('https://sms.example.com/')) return realFetch(request);
    calls.push(request.headers.get('idempotency-key')!);
    return Response.json({ ok: true });
  });
  return calls;
}

const passAt = (organizationId: number, run: number, moment: number) =>
  runInDurableObject(runStub(organizationId, run), async (instance) => {
    const object = instance as unknown as { clock: () => number; alarm(): Promise<void> };
    object.clock = () => moment;
    await object.alarm();
  });

test('in quiet hours a message waits until they end, and its record says until when and why', async () => {
  const calls = provider();
  const { client, id } = await newOrganization();
  const { slots, until } = quietNow();
  const workflow = await createActiveWorkflow(client, {
    definition: texting(),
    settings: { quiet_hours: { timezone: 'organization', slots } },
  });
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  await waitForRunState(client, body.id, 'waiting');
  const history = async () => (await client.get(`/automation-workflows/runs/${body.id}/history`)).body.history;
  expect((await history())[1]).toMatchObject({
    node_id: 'text',
    status: 'waiting',
    output: {
      until: new Date(until).toISOString(),
      timezone: 'UTC',
      timezone_rule: 'organization',
      why: expect.stringMatching(new RegExp(`^quiet hours until \\w+ ${clockText(until)} in UTC \\(the organization's time zone\\)$`)),
    },
  });
  await passAt(id, body.id, until - 1);
  expect(calls).toEqual([]);
  await passAt(id, body.id, until);
  await waitForRunState(client, body.id, 'completed');
  expect(calls).toEqual([`${body.id}:text:1:1`]);
  expect((await history()).map((record: { node_id: string; status: string }) => `${record.node_id} ${record.status}`)).toEqual([
    'in completed',
    'text completed',
    'text completed',
    'out completed',
  ]);
});

test('with policy skip the message is left out and the run goes on; the record and the context say so', async () => {
  const calls = provider();
  const { client } = await newOrganization();
  const { slots } = quietNow();
  const workflow = await createActiveWorkflow(client, {
    definition: texting(),
    settings: { quiet_hours: { timezone: 'organization', slots, policy: 'skip' } },
  });
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  const run = await waitForRunState(client, body.id, 'completed');
  expect(run.context.steps.text).toMatchObject({ skipped: 'quiet_hours', why: expect.stringContaining('quiet hours until') });
  expect((await client.get(`/automation-workflows/runs/${body.id}/history`)).body.history[1]).toMatchObject({
    node_id: 'text',
    status: 'skipped',
  });
  expect(calls).toEqual([]);
});

test('nothing waits outside quiet hours, and a request that contacts nobody never waits', async () => {
  const calls = provider();
  const { client } = await newOrganization();
  const { slots } = quietNow();
  const other = slots.map((slot) => ({ ...slot, day_of_week: (slot.day_of_week + 3) % 7 }));
  const free = await createActiveWorkflow(client, {
    definition: texting(),
    settings: { quiet_hours: { timezone: 'organization', slots: other } },
  });
  const plain = await createActiveWorkflow(client, {
    definition: texting({ respect_quiet_hours: false }),
    settings: { quiet_hours: { timezone: 'organization', slots } },
  });
  for (const workflow of [free, plain]) {
    const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
    await waitForRunState(client, body.id, 'completed');
  }
  expect(calls).toHaveLength(2);
});

test("the contact's own zone decides: its custom field, else the country of its phone, else the organization", async () => {
  const { client } = await newOrganization({ timezone: 'America/Los_Angeles' });
  const everyNight = [0, 1, 2, 3, 4, 5, 6].map((day_of_week) => ({ day_of_week, start_time: '20:00', end_time: '08:00' }));
  const workflow = await createActiveWorkflow(client, {
    definition: texting(),
    settings: { quiet_hours: { timezone: 'contact', slots: everyNight, policy: 'defer' } },
  });
  const ruleOf = async (contact: object, at: string) => {
    vi.useFakeTimers({ now: Date.parse(at), toFake: ['Date'] });
    const { id } = (await client.post('/contacts', contact)).body;
    const { body } = await client.post(`/automation-workflows/${workflow}/test`, { contact_id: id });
    vi.useRealTimers();
    const { status, output } = body.history[1];
    return [status, output.timezone, output.timezone_rule, output.until];
  };
  // 05:00 UTC is night in all of them: 14:00 in Tokyo is not.
  const night = '2026-03-30T05:00:00Z';
  expect(await ruleOf({ phone: newPhone(), custom_fields: { timezone: 'Europe/Berlin' } }, night)).toEqual([
    'completed',
    'Europe/Berlin',
    'contact',
    '2026-03-30T06:00:00.000Z',
  ]);
  expect(await ruleOf({ phone: `+4930${String(Date.now()).slice(-7)}` }, '2026-03-27T05:00:00Z')).toEqual([
    'completed',
    'Europe/Berlin',
    'country',
    '2026-03-27T07:00:00.000Z',
  ]);
  expect(await ruleOf({ phone: newPhone() }, night)).toEqual([
    'completed',
    'America/Los_Angeles',
    'organization',
    '2026-03-30T15:00:00.000Z',
  ]);
  const tokyo = await ruleOf({ phone: newPhone(), custom_fields: { timezone: 'Asia/Tokyo' } }, night);
  expect(tokyo[0]).toBe('simulated');
});

test('a dry run jumps over quiet hours and shows when it goes on', async () => {
  const { client } = await newOrganization();
  const { slots, until } = quietNow();
  const workflow = await createActiveWorkflow(client, {
    definition: texting(),
    settings: { quiet_hours: { timezone: 'organization', slots } },
  });
  const { body } = await client.post(`/automation-workflows/${workflow}/test`, {});
  expect(body.history.slice(1, 3)).toMatchObject([
    { node_id: 'text', status: 'completed', output: { until: new Date(until).toISOString(), why: expect.stringContaining('quiet hours') } },
    { node_id: 'text', status: 'simulated', started_at: new Date(until).toISOString() },
  ]);
  expect(until - Date.now()).toBeLessThan(day);
});
