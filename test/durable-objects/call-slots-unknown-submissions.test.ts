import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AttemptReport } from '../../src/calls/contract.ts';
import { callingOrganization, carrierLedger, relayCallbacks, dueCallbacks, deliverCallback, simulatorsUrl } from '../support/carrier.ts';

afterEach(() => vi.restoreAllMocks());

let block = 200;
const person = (digits: string) => `+1214${++block}${digits}`;

async function setUp() {
  const reports: AttemptReport[] = [];
  const organization = await callingOrganization();
  vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation(
    (name) =>
      ({
        applyReports: async (received: AttemptReport[]) => {
          if (name.startsWith(`${organization.id}/`)) reports.push(...structuredClone(received));
        },
      }) as never,
  );
  const slots = env.CALL_SLOTS.getByName(String(organization.id));
  const key = 'campaign:1:1:1';
  const ask = (phone: string) =>
    slots.request(organization.id, {
      owner: { kind: 'campaign', id: 1 },
      epoch: 0,
      maxConcurrency: null,
      calls: [{ key, phone, agentId: organization.agentId, contactId: null, initialContext: '{}', name: 'A call', notAfter: null }],
    });
  const ended = () => reports.find((report) => report.kind === 'ended');
  const dialled = async () => (await carrierLedger(organization.account)).calls.length;
  const waitOptions = { timeout: 25_000, interval: 100 };
  return { ...organization, slots, key, ask, ended, reports, dialled, waitOptions };
}

const faultOnPlacing = (account: string, fault: object) =>
  fetch(`${simulatorsUrl}/__sim/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      provider: 'twilio',
      match: { method: 'POST', path: `/2010-04-01/Accounts/${account}/Calls.json` },
      times: 1,
      ...fault,
    }),
  });

describe('a call whose placing is unknown', () => {
  it('is found by its callbacks when the answer was lost', async () => {
    const { account, ask, ended, dialled } = await setUp();
    expect((await faultOnPlacing(account, { drop_response: true })).status).toBeLessThan(300);
    await ask(person('0001'));
    await relayCallbacks(account, async () => ended() !== undefined);
    expect(ended()).toMatchObject({ outcome: 'busy' });
    expect(await dialled()).toBe(1);
  });

  it('is found at the carrier when the answer was lost and no callback comes', async () => {
    const { account, ask, ended, dialled, waitOptions } = await setUp();
    await faultOnPlacing(account, { drop_response: true });
    await ask(person('0002'));
    await vi.waitFor(() => expect(ended()).toMatchObject({ outcome: 'no_answer' }), waitOptions);
    expect(await dialled()).toBe(1);
  });

  it('counts as not placed after three look-ups without a call, and only then may be retried', { tags: 'soak' }, async () => {
    const { account, ask, ended, dialled, waitOptions, key, slots } = await setUp();
    await faultOnPlacing(account, { status: 500 });
    await ask(person('0002'));
    await vi.waitFor(() => expect(ended()).toMatchObject({ outcome: 'carrier_trouble' }), waitOptions);
    expect(await dialled()).toBe(0);
    expect(await slots.beginCalls([key])).toEqual([]);
  });

  it('is not placed by another consumer when the first one has died', { tags: 'soak' }, async () => {
    const { ask, ended, dialled, waitOptions, key, slots } = await setUp();
    const lost = vi.spyOn(env.CALLS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
    await ask(person('0002'));
    await vi.waitFor(() => expect(lost).toHaveBeenCalled());
    expect(await slots.beginCalls([key])).toHaveLength(1);
    lost.mockRestore();
    await vi.waitFor(() => expect(ended()).toMatchObject({ outcome: 'carrier_trouble' }), waitOptions);
    expect(await dialled()).toBe(0);
  });
});

describe('a call', () => {
  it('is sent to the queue again when its message is lost', async () => {
    const { ask, dialled, waitOptions } = await setUp();
    const lost = vi.spyOn(env.CALLS_QUEUE, 'sendBatch').mockResolvedValueOnce(undefined as never);
    await ask(person('0002'));
    await vi.waitFor(() => expect(lost).toHaveBeenCalled());
    await vi.waitFor(async () => expect(await dialled()).toBe(1), waitOptions);
  });

  it('whose carrier is silent is looked up until it has ended', { tags: 'soak' }, async () => {
    const { ask, ended, dialled, waitOptions } = await setUp();
    await ask(person('0001'));
    await vi.waitFor(() => expect(ended()).toMatchObject({ outcome: 'busy' }), waitOptions);
    expect(await dialled()).toBe(1);
  });

  it('ends once, with any repetitions and any order of reports', async () => {
    const { account, ask, ended, reports, key } = await setUp();
    await ask(person('0001'));
    const all: Awaited<ReturnType<typeof dueCallbacks>> = [];
    await vi.waitFor(async () => {
      all.push(...(await dueCallbacks(account, 200)));
      expect(all.some(({ body }) => body.includes('CallStatus=busy'))).toBe(true);
    });
    for (const due of [...all.toReversed(), ...all]) expect((await deliverCallback(due)).status).toBe(200);
    await vi.waitFor(() => expect(ended()).toMatchObject({ key, outcome: 'busy' }));
    expect(reports.filter(({ kind }) => kind === 'ended')).toHaveLength(1);
    const { results } = await env.DB.prepare('SELECT outcome FROM voice_agent_run WHERE is_completed = 1 AND attempt_key = ?')
      .bind(key)
      .all();
    expect(results.length).toBeGreaterThan(0);
  });
});
