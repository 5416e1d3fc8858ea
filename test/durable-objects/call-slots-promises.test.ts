// @module-tag soak
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CallObject } from '../../durable-objects/call/call-object.ts';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { statusEvent } from '../../src/providers/telephony/carrier-events.ts';
import type { AttemptReport, Owner, RequestedCall } from '../../src/calls/contract.ts';
import type { PlacingResult } from '../../src/calls/attempt/outcomes.ts';
import { placeCalls } from '../../src/calls/placing/place-calls.ts';
import { countFreeForOutbound } from '../../src/calls/slots/allocate-slots.ts';
import { invalidateCarriers } from '../../src/telephony-configs/load-carrier.ts';
import { deliver } from '../support/background.ts';
import type { StoredAttempt } from '../../durable-objects/call-slots/stored-attempt.ts';
import { knownAttempts } from '../support/call-slots.ts';
import { callingOrganization, type CallingOrganization, carrierLedger } from '../support/carrier.ts';

afterEach(() => vi.restoreAllMocks());

const token = 'a-token-of-the-test';
const key = 'campaign:1:1:1';
const campaign: Owner = { kind: 'campaign', id: 1 };
let block = 300;
const person = (digits = '0002') => `+1215${++block}${digits}`;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const notAsked = [{ key, runId: null, result: { unasked: 'the database failed' } }];
const insertRun = `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, phone, campaign_id,
   automation_run_id, initial_context, created_at)
 SELECT a.organization_id, a.id, a.current_definition_id, 'x', 'twilio', 'outbound', j.value, '+12155550000', 1, ?3, '{}', 1
 FROM json_each(?1) j CROSS JOIN voice_agent a WHERE a.id = ?2`;

/** The result of placing an attempt; without `submission` it is of the latest one. */
type PlacedResult = { key: string; runId: number | null; submission?: number; result: PlacingResult };

interface Options extends CallingOrganization {
  hasQueue?: boolean;
  onReports?: (received: AttemptReport[]) => Promise<void>;
}

async function setUp({ hasQueue = false, onReports, ...options }: Options = {}) {
  const organization = await callingOrganization({ authToken: token, ...options });
  const { id, agentId } = organization;
  const slots = env.CALL_SLOTS.getByName(String(id));
  const reports: AttemptReport[] = [];
  const received = async (given: AttemptReport[]) => {
    reports.push(...structuredClone(given));
    await onReports?.(structuredClone(given));
  };
  // Objects of earlier tests still run.
  const others = async () => undefined;
  vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation(
    (name) => ({ applyReports: name.startsWith(`${id}/`) ? received : others }) as never,
  );
  const sends = vi.spyOn(env.CALLS_QUEUE, 'sendBatch');
  if (!hasQueue) sends.mockResolvedValue(undefined as never);
  const call = (name: string, phone = person(), more: Partial<RequestedCall> = {}): RequestedCall => ({
    key: name,
    phone,
    agentId,
    contactId: null,
    initialContext: '{}',
    name: 'A call',
    notAfter: null,
    ...more,
  });
  // A stub of its own, since objects call it, too.
  const request = (calls: RequestedCall[], { owner = campaign, epoch = 1 } = {}) =>
    env.CALL_SLOTS.getByName(String(id)).request(id, { owner, epoch, maxConcurrency: null, calls });
  const attempts = () => knownAttempts(slots);
  const attempt = async (name: string) => (await attempts()).find(({ key: known }) => known === name)!;
  const until = (name: string, state: StoredAttempt['state']) =>
    vi.waitFor(async () => expect((await attempt(name)).state).toBe(state), { timeout: 10_000, interval: 20 });
  const begun = async (name = key) => {
    await until(name, 'granted');
    return slots.beginCalls([name]);
  };
  /** Reports results of the latest submission, unless another is given. */
  const placed = async (results: PlacedResult[]) => {
    const rows = await attempts();
    const submissionOf = (name: string) => rows.find(({ key: known }) => known === name)!.submission;
    await slots.recordPlacings(results.map((one) => ({ submission: submissionOf(one.key), ...one })));
  };
  const writeRuns = (keys: string[], journey: number | null = null) =>
    env.DB.prepare(insertRun).bind(JSON.stringify(keys), agentId, journey).run();
  const openRuns = async () =>
    (
      await env.DB.prepare('SELECT count(*) AS total FROM voice_agent_run WHERE organization_id = ? AND is_completed = 0')
        .bind(id)
        .first<any>()
    ).total as number;
  return { ...organization, slots, reports, sends, call, request, attempts, attempt, until, begun, placed, writeRuns, openRuns };
}

const ended = (reports: AttemptReport[]) =>
  vi.waitFor(
    () => {
      const end = reports.find(({ kind }) => kind === 'ended');
      expect(end).toBeDefined();
      return end!;
    },
    { timeout: 10_000 },
  );

describe('a person', () => {
  it('is not called again after a late report of an earlier submission', async () => {
    const { slots, call, request, begun, placed, attempt } = await setUp();
    await request([call(key)]);
    await begun();
    await placed(notAsked);
    expect(await begun()).toHaveLength(1);
    await placed(notAsked.map((one) => ({ ...one, submission: 1 })));
    expect((await attempt(key)).state).toBe('submitting');
    expect(await slots.beginCalls([key])).toEqual([]);
  });

  it('is looked up three times before a call counts as not placed, whatever happened before', async () => {
    const { call, request, begun, until, attempt, placed } = await setUp();
    await request([call(key)]);
    for (let time = 0; time < 3; time++) {
      await begun();
      await placed(notAsked);
    }
    await begun();
    const before = (await attempt(key)).failedLookUps;
    await until(key, 'ended');
    expect((await attempt(key)).failedLookUps - before).toBe(2);
  }, 60_000);

  it('who asks not to be called is not called before the suppression is stored', async () => {
    const { slots, call, request, begun, attempt, placed } = await setUp();
    vi.spyOn(CallObject.prototype, 'callEnded').mockImplementation(() => sleep(4000) as Promise<void>);
    const phone = person();
    await request([call(key, phone)]);
    await begun();
    await request([call('campaign:2:1:1', phone)], { owner: { kind: 'campaign', id: 2 } });
    await placed([{ key, runId: 5, result: { placed: { callId: 'CA1', status: 'queued' } } }]);
    await slots.recordEvent(key, 5, statusEvent({ callId: 'CA1', status: 'answered', answeredBy: 'person', at: Date.now() }), 'document');
    await slots.recordEvent(key, 5, statusEvent({ callId: 'CA1', status: 'completed', at: Date.now() }), 'nobody');
    await sleep(300);
    expect((await attempt('campaign:2:1:1')).state).toBe('queued');
  });

  it('is not dialled after a pause has returned, nor after the window has closed', async () => {
    const { id, account, slots, call, request, until } = await setUp();
    await request([call(key, person(), { notAfter: Date.now() + 1500 })]);
    await until(key, 'granted');
    invalidateCarriers(id);
    const context = (await backgroundContext(env, id, (work) => void work))!;
    const database = new Proxy(context.database, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target);
        if (name === 'run') return async (query: () => PromiseLike<unknown>) => sleep(3000).then(() => target.run(query));
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const placing = placeCalls({ ...context, database }, [key]);
    await sleep(400);
    await slots.withdraw(id, campaign, 2);
    await placing;
    expect((await carrierLedger(account)).calls).toEqual([]);
  });

  it('is hung up when their call turns up after it was given up', async () => {
    const { slots, call, request, begun, until } = await setUp();
    await request([call(key)]);
    await begun();
    await until(key, 'ended');
    expect(await slots.recordEvent(key, 5, statusEvent({ callId: 'CA9', status: 'ringing', at: Date.now() }), 'nobody')).toBe('hang_up');
  });
});

describe('an undialled attempt', () => {
  it('does not count for min_hours_between_calls', async () => {
    const { client, call, request, begun, until, placed } = await setUp();
    await client.patch('/organizations/current', { min_hours_between_calls: 2 });
    await request([call(key)]);
    await begun();
    await placed(notAsked);
    await until(key, 'granted');
  });

  it('that a pause withdrew is given back, and is no carrier trouble', async () => {
    const { id, slots, call, request, begun, until, placed } = await setUp();
    await request([call(key)]);
    await begun();
    await slots.withdraw(id, campaign, 2);
    await placed(notAsked);
    await until(key, 'returned');
  });

  it('waits when our own database held it up, and does not fail', async () => {
    const { call, request, begun, attempt, placed } = await setUp();
    await request([call(key)]);
    for (let time = 0; time < 4; time++) {
      await begun();
      await placed(notAsked);
    }
    expect((await attempt(key)).state).toBe('queued');
  }, 60_000);

  it('that is withdrawn leaves no run open', async () => {
    const { id, slots, call, request, begun, until, writeRuns, openRuns, placed } = await setUp();
    await request([call(key)]);
    await begun();
    await writeRuns([key]);
    await placed(notAsked);
    await until(key, 'queued');
    await slots.withdraw(id, campaign, 2);
    await sleep(7000);
    expect(await openRuns()).toBe(0);
  });
});

describe('an outcome', () => {
  it('stays when it comes during look-ups of other calls, and frees one slot', async () => {
    const { slots, call, request, until, attempt, attempts, placed } = await setUp();
    const keys = Array.from({ length: 8 }, (_, index) => `campaign:1:${index}:1`);
    const clock = { now: Date.now() + 3_600_000 };
    await request([]);
    await runInDurableObject(slots, (object) => void ((object as unknown as { clock: () => number }).clock = () => clock.now));
    await request(keys.map((name) => call(name)));
    await until(keys[7]!, 'granted');
    await slots.beginCalls(keys);
    await placed(
      keys.map((name, index) => ({ key: name, runId: index + 1, result: { placed: { callId: `CA${index}`, status: 'queued' as const } } })),
    );
    clock.now += 1500;
    for (const status of ['answered', 'completed'] as const)
      await slots.recordEvent(keys[7]!, 8, statusEvent({ callId: 'CA7', status, at: clock.now }), 'nobody');
    clock.now += 700;
    let isReleased = false;
    const { fetch } = globalThis;
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const sid = /\/Calls\/(CA\d)\.json/.exec(input instanceof Request ? input.url : String(input))?.[1];
      if (!sid) return fetch(input as RequestInfo, init as RequestInit);
      for (let time = 0; time < 400 && !isReleased; time++) await sleep(10);
      return Response.json({ sid, status: 'ringing' });
    });
    await slots.wakeStalled();
    const alarm = runDurableObjectAlarm(slots);
    await sleep(300);
    await slots.recordEvent(keys[7]!, 8, { kind: 'machine', callId: 'CA7', answeredBy: 'machine', at: clock.now }, 'nobody');
    isReleased = true;
    await alarm;
    const live = (await attempts()).filter(({ state }) => state === 'placed').length;
    expect([(await attempt(keys[7]!)).outcome, (await slots.getOwnerStatus(campaign)).organizationLive]).toEqual(['voicemail', live]);
  });

  it('of an attempt that was requested again while it was given back is reported', async () => {
    let again: (() => Promise<unknown>) | null = null;
    const onReports = async (received: AttemptReport[]) => {
      const ask = again;
      if (!ask || !received.some(({ kind }) => kind === 'returned')) return;
      again = null;
      await ask();
    };
    const { id, slots, call, request, begun, until, reports, placed } = await setUp({ onReports });
    const one = call(key);
    await request([one]);
    await until(key, 'granted');
    again = () => request([one], { epoch: 2 });
    await slots.withdraw(id, campaign, 2);
    await vi.waitFor(() => expect(reports.some(({ kind }) => kind === 'returned')).toBe(true));
    await begun();
    await placed([{ key, runId: 1, result: { refused: { kind: 'number', code: '1', message: 'no', retryable: false } } }]);
    await ended(reports);
  });
});

describe('the calls of an organization', () => {
  it('are handed out in batches that an RPC answer can hold', async () => {
    const { slots, call, request } = await setUp({ concurrentCalls: 400 });
    const keys = Array.from({ length: 280 }, (_, index) => `campaign:1:${index}:1`);
    const initialContext = JSON.stringify({ notes: 'x'.repeat(125_000) });
    for (let start = 0; start < keys.length; start += 6)
      await request(keys.slice(start, start + 6).map((name) => call(name, person(), { initialContext })));
    await vi.waitFor(async () => expect((await slots.getOwnerStatus(campaign)).live).toBe(280), { timeout: 10_000 });
    expect((await slots.beginCalls(keys)).length).toBeGreaterThan(0);
  }, 60_000);

  it('are dialled no faster than calls_per_second, also when the queue was slow', async () => {
    const { slots, call, request, attempts } = await setUp({ callsPerSecond: 2 });
    await request(Array.from({ length: 12 }, (_, index) => call(`campaign:1:${index}:1`)));
    await sleep(3300);
    const granted = (await attempts()).filter(({ state }) => state === 'granted').map((one) => one.key);
    expect((await slots.beginCalls(granted)).length).toBeLessThanOrEqual(2);
  });

  it('are granted as soon as the grants before them are sent to the queue', async () => {
    const { sends, call, request, until } = await setUp();
    sends.mockImplementation(() => sleep(150) as never);
    await request([call(key)]);
    await sleep(70);
    const asked = Date.now();
    await request([call('campaign:1:2:1')]);
    await until('campaign:1:2:1', 'granted');
    // The object's next alarm comes later than that.
    expect(Date.now() - asked).toBeLessThan(1500);
  });

  it('can be placed if the plan allows one and a number accepts inbound calls', () => {
    expect(countFreeForOutbound({ limit: 1, hasInbound: true }, { all: 0, inbound: 0 })).toBe(1);
  });

  it('go on after the clock was set back', async () => {
    const { slots, call, request, until } = await setUp({ callsPerSecond: 1 });
    await request([call('campaign:1:0:1')]);
    await until('campaign:1:0:1', 'granted');
    const { now } = Date;
    await runInDurableObject(slots, (object) => void ((object as unknown as { clock: () => number }).clock = () => now() - 600_000));
    await request([call(key)]);
    await until(key, 'granted');
  });

  it('are placed although a message beside them cannot be read', async () => {
    const { id } = await setUp();
    await deliver('calls', [
      { v: 1, kind: 'dial', organization_id: id, keys: [key] },
      { v: 2, kind: 'dial' },
    ]);
  });
});
