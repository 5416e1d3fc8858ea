import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import {
  callingOrganization,
  carrierLedger,
  relayCallbacks,
  dueCallbacks,
  deliverCallback,
  simulatorsUrl,
  type CallingOrganization,
} from '../support/carrier.ts';

import type { AttemptReport, Owner, RequestedCall } from '../../src/calls/contract.ts';

/** Phone numbers, by what the simulated carrier does with them. */
let block = 200;
const person = (digits: string) => `+1212${++block}${digits}`;

/** The organization of the present test: objects of earlier ones may still report. */
let tested = 0;

/** A campaign that owns the calls of a test, and keeps the reports that it receives. */
function recordingCampaign() {
  const reports: AttemptReport[] = [];
  const spy = vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation(
    (name) =>
      ({
        applyReports: async (received: AttemptReport[]) =>
          void (name.startsWith(`${tested}/`) && reports.push(...structuredClone(received))),
      }) as never,
  );
  return { reports, of: (kind: AttemptReport['kind']) => reports.filter((report) => report.kind === kind), end: () => spy.mockRestore() };
}

async function setUp(options: CallingOrganization = {}) {
  const organization = await callingOrganization(options);
  tested = organization.id;
  const slots = env.CALL_SLOTS.getByName(String(organization.id));
  const campaign: Owner = { kind: 'campaign', id: 1 };
  const call = (key: string, phone: string, more: Partial<RequestedCall> = {}): RequestedCall => ({
    key,
    phone,
    agentId: organization.agentId,
    contactId: null,
    initialContext: '{}',
    name: 'A call',
    notAfter: null,
    ...more,
  });
  const request = (calls: RequestedCall[], { owner = campaign, epoch = 0, maxConcurrency = null as number | null } = {}) =>
    slots.request(organization.id, { owner, epoch, maxConcurrency, calls });
  const runs = async () =>
    (await env.DB.prepare('SELECT * FROM voice_agent_run WHERE organization_id = ? ORDER BY id').bind(organization.id).all()).results;
  return { ...organization, slots, campaign, call, request, runs };
}

/** Makes the carrier answer no look-ups: silent calls last until their callbacks come. */
async function answerNoLookUps(account: string): Promise<void> {
  const unanswered = {
    provider: 'twilio',
    match: { method: 'GET', path: `/2010-04-01/Accounts/${account}/Calls/*` },
    times: 1000,
    status: 503,
  };
  await fetch(`${simulatorsUrl}/__sim/faults`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(unanswered),
  });
}

const until = (assertion: () => unknown) => vi.waitFor(assertion, { timeout: 10_000, interval: 20 });

describe('call slots', () => {
  it('dial each attempt once, report its outcome to the owner, and complete its run', async () => {
    const listener = recordingCampaign();
    const { id, request, call, account, runs } = await setUp();
    const [busy, silent, wrong, machine] = ['0001', '0002', '0003', '0004'].map(person) as [string, string, string, string];
    const keys = { [busy]: 'campaign:1:1:1', [silent]: 'campaign:1:2:1', [wrong]: 'campaign:1:3:1', [machine]: 'campaign:1:4:1' };
    const calls = Object.entries(keys).map(([phone, key]) => call(key, phone));
    expect(await request(calls)).toEqual({ queued: 4, known: 0, isStale: false });
    expect(await request(calls)).toEqual({ queued: 0, known: 4, isStale: false });
    await relayCallbacks(account, async () => listener.of('ended').length >= 4);
    const ends = new Map(listener.of('ended').map((report) => [report.key, report.kind === 'ended' && report.outcome]));
    expect([busy, silent, wrong, machine].map((phone) => ends.get(keys[phone]!))).toEqual([
      'busy',
      'no_answer',
      'number_refused',
      'voicemail',
    ]);
    const ledger = await carrierLedger(account);
    expect(ledger.calls).toHaveLength(4);
    expect(ledger.attempts_dialled_twice).toEqual([]);
    await until(async () => {
      const rows = await runs();
      expect(rows.map(({ outcome, is_completed }) => [outcome, is_completed])).toEqual(
        expect.arrayContaining([
          ['busy', 1],
          ['no_answer', 1],
          ['failed', 1],
          ['voicemail', 1],
        ]),
      );
      expect(rows.every((row) => row['campaign_id'] === 1 && row['organization_id'] === id)).toBe(true);
    });
    listener.end();
  });

  it('report an attempt again that its owner requests again, and do not dial it', async () => {
    const listener = recordingCampaign();
    const { request, call, account } = await setUp();
    const calls = [call('campaign:1:1:1', person('0001'))];
    await request(calls);
    await relayCallbacks(account, async () => listener.of('ended').length === 1);
    await request(calls);
    await until(() => expect(listener.of('ended')).toHaveLength(2));
    expect((await carrierLedger(account)).calls).toHaveLength(1);
    listener.end();
  });

  it('have no more live calls than the plan allows, and no more of an owner than its own limit', async () => {
    const listener = recordingCampaign();
    const { request, call, account, slots, campaign } = await setUp({ concurrentCalls: 3 });
    await answerNoLookUps(account);
    const other: Owner = { kind: 'campaign', id: 2 };
    const batch = (name: string) => Array.from({ length: 5 }, (_, index) => call(`${name}:${index}:1`, person('0002')));
    await request(batch('campaign:1'), { maxConcurrency: 1 });
    await request(batch('campaign:2'), { owner: other, maxConcurrency: 5 });
    await until(async () => expect((await carrierLedger(account)).calls).toHaveLength(3));
    expect(await slots.getOwnerStatus(campaign)).toMatchObject({
      live: 1,
      queued: 4,
      organizationLive: 3,
      limit: 3,
      waitingFor: expect.stringContaining('max_concurrency'),
    });
    expect(await slots.getOwnerStatus(other)).toMatchObject({ live: 2, queued: 3, waitingFor: expect.stringContaining('call_slots') });
    await relayCallbacks(account, async () => listener.of('ended').length >= 10, 25_000);
    const ledger = await carrierLedger(account);
    expect(ledger.calls).toHaveLength(10);
    expect(ledger.peak_concurrent).toBeLessThanOrEqual(3);
    listener.end();
  });

  it('name the limit that holds each call back', { tags: 'soak' }, async () => {
    const { request, call, account, slots, campaign } = await setUp({ concurrentCalls: 4, callsPerSecond: 1 });
    await answerNoLookUps(account);
    const single: Owner = { kind: 'single', id: 0 };
    const rows = [1, 2, 3, 4, 5, 6].map((row) => call(`campaign:1:${row}:1`, person('0002')));
    const become = (owner: Owner, words: RegExp) =>
      until(async () => expect((await slots.getOwnerStatus(owner)).waitingFor).toMatch(words));
    await request(rows, { maxConcurrency: 4 });
    await become(campaign, /^calls_per_second: 1 .* 1 a second$/);
    await become(campaign, /^max_concurrency: 4 .* may have 4 at once; call_slots: 4 of the 4 calls/);
    await request([call('single:0:a', person('0002'))], { owner: single });
    await become(single, /^call_slots: 4 of the 4 calls/);
    expect(await slots.getCallStatus('single:0:a')).toMatchObject({ callStatus: 'queued', reason: expect.stringMatching(/^call_slots: /) });
  });

  it('never have one person in two calls, with any owners', async () => {
    const listener = recordingCampaign();
    const { request, call, account, slots } = await setUp();
    await answerNoLookUps(account);
    const phone = person('0002');
    await request([call('campaign:1:1:1', phone)]);
    await until(async () => expect((await carrierLedger(account)).calls).toHaveLength(1));
    await request([call('campaign:2:1:1', phone)], { owner: { kind: 'campaign', id: 2 } });
    await until(() =>
      expect(listener.of('waiting')).toMatchObject([{ key: 'campaign:2:1:1', reason: expect.stringContaining('in_another_call') }]),
    );
    const inAnotherCall = expect.stringMatching(/^in_another_call: /);
    expect(await slots.getCallStatus('campaign:2:1:1')).toMatchObject({ callStatus: 'queued', reason: inAnotherCall });
    // More free slots would not help.
    expect(await slots.getOwnerStatus({ kind: 'campaign', id: 2 })).toMatchObject({ queued: 1, live: 0, waitingFor: inAnotherCall });
    await relayCallbacks(account, async () => listener.of('ended').length >= 2);
    const ledger = await carrierLedger(account);
    expect(ledger.calls).toHaveLength(2);
    expect(ledger.peak_concurrent).toBe(1);
    listener.end();
  });

  it('dial no call of an owner that has withdrawn, even if a request is still on its way', async () => {
    const listener = recordingCampaign();
    const { id, request, call, account, slots, campaign } = await setUp({ concurrentCalls: 1 });
    await answerNoLookUps(account);
    await request(
      [call('campaign:1:1:1', person('0002')), call('campaign:1:2:1', person('0002')), call('campaign:1:3:1', person('0002'))],
      { epoch: 1 },
    );
    await until(async () => expect((await carrierLedger(account)).calls).toHaveLength(1));
    await slots.withdraw(id, campaign, 2);
    expect(await request([call('campaign:1:4:1', person('0002'))], { epoch: 1 })).toMatchObject({ queued: 0, isStale: true });
    expect(await slots.beginCalls(['campaign:1:2:1', 'campaign:1:3:1', 'campaign:1:4:1'])).toEqual([]);
    await until(() =>
      expect(
        listener
          .of('returned')
          .map(({ key }) => key)
          .toSorted(),
      ).toEqual(['campaign:1:2:1', 'campaign:1:3:1']),
    );
    // The owner may request the same call again afterwards.
    expect(await request([call('campaign:1:2:1', person('0002'))], { epoch: 2 })).toMatchObject({ queued: 1 });
    expect((await carrierLedger(account)).calls).toHaveLength(1);
    listener.end();
  });

  it('hand an attempt to one caller only', async () => {
    const listener = recordingCampaign();
    const sends = vi.spyOn(env.CALLS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
    const { request, call, slots } = await setUp();
    await request([call('campaign:1:1:1', person('0002'))]);
    await until(() => expect(sends).toHaveBeenCalled());
    const answers = await Promise.all([
      slots.beginCalls(['campaign:1:1:1']),
      slots.beginCalls(['campaign:1:1:1']),
      slots.beginCalls(['campaign:1:1:1']),
    ]);
    expect(answers.flat()).toHaveLength(1);
    expect(await slots.beginCalls(['campaign:1:1:1'])).toEqual([]);
    sends.mockRestore();
    listener.end();
  });

  it('give back calls that must not be dialled: a closed window, a suppressed number, a deleted contact, an archived agent', async () => {
    const listener = recordingCampaign();
    const { client, request, call, account, agentId } = await setUp();
    const suppressed = person('0002');
    await client.post('/contacts/suppressions', { phone: suppressed, reason: 'asked us to stop' });
    await request([
      call('campaign:1:1:1', suppressed),
      call('campaign:1:2:1', person('0002'), { notAfter: Date.now() - 1 }),
      call('campaign:1:3:1', person('0002'), { contactId: 999_999_999 }),
    ]);
    await until(() => expect(listener.of('returned')).toHaveLength(3));
    await client.put(`/workflow/${agentId}/status`, { status: 'archived' });
    await request([call('campaign:1:4:1', person('0002'))]);
    await until(() => expect(listener.of('returned')).toHaveLength(4));
    const reasons = new Map(listener.of('returned').map((report) => [report.key, report.kind === 'returned' && report.reason]));
    expect(Object.fromEntries(reasons)).toEqual({
      'campaign:1:1:1': 'suppressed',
      'campaign:1:2:1': 'window_closed',
      'campaign:1:3:1': 'contact_deleted',
      'campaign:1:4:1': 'agent_archived',
    });
    expect((await carrierLedger(account)).calls).toEqual([]);
    listener.end();
  });

  it('keep min_hours_between_calls between two calls to a person, and report until when', async () => {
    const listener = recordingCampaign();
    const { client, request, call, account } = await setUp();
    await client.patch('/organizations/current', { min_hours_between_calls: 2 });
    const phone = person('0001');
    await request([call('campaign:1:1:1', phone)]);
    await relayCallbacks(account, async () => listener.of('ended').length === 1);
    await request([call('campaign:1:1:2', phone)]);
    await until(() => expect(listener.of('returned')).toHaveLength(1));
    const [returned] = listener.of('returned');
    expect(returned).toMatchObject({ key: 'campaign:1:1:2', reason: 'too_soon' });
    const calledAgainAt = returned?.kind === 'returned' ? returned.until! : 0;
    expect(calledAgainAt).toBeGreaterThan(Date.now() + 1.9 * 3_600_000);
    expect(calledAgainAt).toBeLessThan(Date.now() + 2.1 * 3_600_000);
    listener.end();
  });

  it('ignore requests that the carrier has not signed, or has signed for another purpose', async () => {
    const listener = recordingCampaign();
    const { request, call, account, slots } = await setUp();
    await request([call('campaign:1:1:1', person('0001'))]);
    const [first] = await dueCallbacks(account, 5000);
    expect(first).toBeDefined();
    const unsigned = Object.fromEntries(Object.entries(first!.headers).filter(([name]) => name.toLowerCase() !== 'x-twilio-signature'));
    const body = new URLSearchParams(first!.body);
    body.set('CallStatus', 'completed');
    for (const change of [{ headers: unsigned }, { body: body.toString() }, { url: first!.url.replace('1~3A1~3A1', '1~3A2~3A1') }])
      expect((await deliverCallback(first!, change)).status).toBe(401);
    expect(await slots.getCallStatus('campaign:1:1:1')).toMatchObject({ callStatus: 'dialing' });
    expect((await deliverCallback(first!)).status).toBe(200);
    listener.end();
  });

  it('tell a user what to do when the carrier refuses the account', async () => {
    const listener = recordingCampaign();
    const { request, call } = await setUp({ authToken: 'an-invalid-token' });
    await request([call('campaign:1:1:1', person('0002'))]);
    await until(() => expect(listener.of('ended')).toMatchObject([{ outcome: 'account_refused', detail: expect.stringMatching(/\w/) }]));
    listener.end();
  });

  it('answer without data when they have none', async () => {
    const slots = env.CALL_SLOTS.getByName('999999999');
    expect(await slots.getCallStatus('campaign:1:1:1')).toBeNull();
    expect(await slots.beginCalls(['campaign:1:1:1'])).toEqual([]);
    await slots.markFinalized(['campaign:1:1:1']);
    await slots.wakeStalled();
  });
});
