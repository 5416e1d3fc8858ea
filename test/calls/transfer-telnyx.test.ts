import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { crashCallObjectAt } from '../support/crashing-call.ts';
import { callStub, type CallStub } from '../support/calls.ts';
import { cell, desk, telnyxCall } from './transferred-call.ts';

// Expected failures are logged.
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

/** A call whose agent has handed it over, and whose carrier was told to dial. */
async function handedOver(transfer: object = {}, configurations: object = {}) {
  const call = await telnyxCall(transfer, configurations);
  const relay = await call.picksUp();
  relay.say('I want to talk to a human agent');
  expect(await relay.ends()).toEqual({ run_id: call.runId, reason: 'transfer' });
  expect((await call.sessionEnds()).status).toBe(200);
  return { ...call, relay };
}

const countOf = (commands: string[], name: string) => commands.filter((path) => path === name).length;

const later = (stub: CallStub, milliseconds: number) =>
  runInDurableObject(stub, (object) => {
    (object as unknown as { clock: () => number }).clock = () => Date.now() + milliseconds;
  });

describe('a caller who is handed to a human by Telnyx', () => {
  test('is given to the carrier’s transfer, and the run tells who took the call and for how long', async () => {
    const { last, commands, tellHuman, hangsUp, completed, read, key } = await handedOver({ ring_seconds: 20, max_seconds: 600 });
    expect(last('transfer')).toEqual({
      to: desk,
      from: '+15005550007',
      timeout_secs: 20,
      time_limit_secs: 600,
      answering_machine_detection: 'detect',
      park_after_unbridge: 'self',
      target_leg_client_state: btoa(`transfer:1:${key}`),
      command_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      webhook_url: expect.stringMatching(/\/human\?attempt=.+&leg=1$/),
      webhook_url_method: 'POST',
    });
    await tellHuman(1, 'call.initiated');
    await tellHuman(1, 'call.answered');
    await tellHuman(1, 'call.bridged');
    expect((await read())['transfers']).toMatchObject([{ state: 'connected' }]);
    await tellHuman(1, 'call.hangup', { hangup_cause: 'normal_clearing' });
    await hangsUp();
    await completed();
    expect((await read())['transfers']).toMatchObject([{ to: desk, state: 'completed', seconds: expect.any(Number), reason: null }]);
    // Whoever the human leaves behind is not left on a silent line.
    expect(commands()).toEqual(['conversation_relay_start', 'transfer', 'hangup']);
  });

  test('comes back to the agent when nobody answers', async () => {
    const { tellHuman, connects, commands, read } = await handedOver();
    await tellHuman(1, 'call.hangup', { hangup_cause: 'timeout' });
    expect(commands()).toEqual(['conversation_relay_start', 'transfer', 'conversation_relay_start']);
    const relay = await connects('c2');
    await relay.hears('Nobody is free.');
    expect((await read())['transfers']).toMatchObject([{ state: 'failed', reason: 'no_answer' }]);
  });

  test('is handed to the fallback, once, however often and late the report of the first comes', async () => {
    const { tellHuman, last, commands, stub } = await handedOver({ fallback_to: cell });
    await tellHuman(1, 'call.hangup', { hangup_cause: 'user_busy' });
    expect(last('transfer')).toMatchObject({ to: cell });
    const first = last('transfer')['command_id'];
    await tellHuman(1, 'call.hangup', { hangup_cause: 'user_busy' });
    // The repeat has the same id, by which the carrier ignores it.
    expect(last('transfer')['command_id']).toBe(first);
    await later(stub, 50_000);
    const before = commands().length;
    await tellHuman(1, 'call.hangup', { hangup_cause: 'user_busy' });
    expect(commands()).toHaveLength(before);
  });

  test('is not dialled for again by a late repeat of the end of the session', async () => {
    const { sessionEnds, given, commands, stub } = await handedOver();
    await sessionEnds();
    expect(new Set(given.filter(({ path }) => path === 'transfer').map(({ body }) => body['command_id'])).size).toBe(1);
    await later(stub, 50_000);
    const before = commands().length;
    expect((await sessionEnds()).status).toBe(200);
    expect(commands()).toHaveLength(before);
  });

  test('comes back to the agent when the carrier refuses to dial, with its words in the record', async () => {
    const call = await telnyxCall();
    call.failing.set('transfer', 422);
    const relay = await call.picksUp();
    relay.say('I want to talk to a human agent');
    await relay.ends();
    expect((await call.sessionEnds()).status).toBe(200);
    expect(call.commands()).toEqual(['conversation_relay_start', 'transfer', 'conversation_relay_start']);
    expect((await call.read())['transfers']).toMatchObject([
      { state: 'failed', reason: expect.stringMatching(/^failed: .*No such number/) },
    ]);
  });

  test('has the two connected after the human has heard the summary, in a warm transfer', async () => {
    const { last, commands, tellHuman, key, callId, read } = await handedOver({ mode: 'warm' }, { language: 'de-DE' });
    expect(commands()).toEqual(['conversation_relay_start', '/calls']);
    expect(last('/calls')).toMatchObject({ to: desk, from: '+15005550007', link_to: callId, client_state: btoa(`transfer:1:${key}`) });
    await tellHuman(1, 'call.answered');
    expect(last('speak')).toMatchObject({ payload: expect.stringMatching(/\S/), language: 'de-DE' });
    await tellHuman(1, 'call.speak.ended', { status: 'completed' });
    expect(last('bridge')).toMatchObject({ call_control_id: 'v3:human-1' });
    await tellHuman(1, 'call.bridged');
    expect((await read())['transfers']).toMatchObject([{ state: 'connected' }]);
    // Repeats connect nobody twice.
    const before = commands().length;
    await tellHuman(1, 'call.speak.ended', { status: 'completed' });
    await tellHuman(1, 'call.answered');
    expect(commands()).toHaveLength(before);
  });

  test('leaves no human on the line who picks up after the caller has hung up', async () => {
    const { hangsUp, completed, tellHuman, commands } = await handedOver({ mode: 'warm' });
    await hangsUp();
    await completed();
    await tellHuman(1, 'call.answered');
    expect(commands().at(-1)).toBe('hangup');
  });

  test('has the reports on the human read wherever the carrier sends them', async () => {
    const { tellHuman, read, commands } = await handedOver();
    await tellHuman(1, 'call.answered', {}, 'status');
    expect((await read())['transfers']).toMatchObject([{ state: 'connected' }]);
    expect(commands()).not.toContain('hangup');
  });

  test('is not moved by reports without a signature, or about another attempt', async () => {
    const { post, url, key, read } = await handedOver();
    const unsigned = () => ({
      'telnyx-timestamp': String(Math.floor(Date.now() / 1000)),
      'telnyx-signature-ed25519': btoa('x'.repeat(64)),
    });
    const ended = { hangup_cause: 'timeout' };
    expect((await post(url('human', 1), 'call.hangup', `transfer:1:${key}`, ended, unsigned)).status).toBe(401);
    expect(await (await post(url('human', 1), 'call.hangup', 'transfer:1:single:0:other', ended)).json()).toEqual({ status: 'ignored' });
    expect((await read())['transfers']).toMatchObject([{ state: 'dialing' }]);
  });
});

describe('a mailbox that answers in the place of the human', () => {
  const bridged = { hangup_cause: 'normal_clearing' };

  test('is hung up on, and the fallback is dialled', async () => {
    const { tellHuman, given, commands, last, hangsUp, completed, read } = await handedOver({ fallback_to: cell });
    await tellHuman(1, 'call.answered');
    await tellHuman(1, 'call.bridged');
    await tellHuman(1, 'call.machine.detection.ended', { result: 'machine' });
    expect(commands()).toEqual(['conversation_relay_start', 'transfer', 'hangup']);
    await tellHuman(1, 'call.hangup', bridged);
    expect(last('transfer')).toMatchObject({ to: cell });
    await tellHuman(2, 'call.answered');
    await tellHuman(2, 'call.machine.detection.ended', { result: 'human' });
    await tellHuman(2, 'call.hangup', bridged);
    await hangsUp();
    await completed();
    expect((await read())['transfers']).toMatchObject([
      { state: 'failed', reason: 'machine', answered_at: null },
      { state: 'completed', is_fallback: true },
    ]);
    expect(given.filter(({ path }) => path === 'transfer')).toHaveLength(2);
  });

  test.each(['call.machine.detection.ended', 'call.machine.premium.detection.ended'])(
    'is not connected after a warm announcement; %s',
    async (type) => {
      const { tellHuman, connects, commands } = await handedOver({ mode: 'warm' });
      await tellHuman(1, 'call.answered');
      await tellHuman(1, type, { result: 'machine' });
      await tellHuman(1, 'call.speak.ended');
      expect(commands()).not.toContain('bridge');
      await tellHuman(1, 'call.hangup', bridged);
      const relay = await connects('c2');
      await relay.hears('Nobody is free.');
    },
  );

  test('is not looked for where the agent says so', async () => {
    const { last } = await handedOver({ machine_detection: false });
    expect(last('transfer')).not.toHaveProperty('answering_machine_detection');
  });
});

describe('a carrier that reports nothing of the human', () => {
  test('gives the caller back to the agent after the time of ringing', async () => {
    const { stub, commands, read } = await handedOver({ ring_seconds: 10 });
    await later(stub, 41_000);
    await runDurableObjectAlarm(stub);
    await vi.waitFor(() => expect(commands()).toEqual(['conversation_relay_start', 'transfer', 'conversation_relay_start']));
    expect((await read())['transfers']).toMatchObject([
      { state: 'failed', reason: expect.stringMatching(/^failed: the carrier has not reported/) },
    ]);
  });

  test('is told the same after a crash at any call of the object, and dials nobody twice', { tags: 'soak', timeout: 120_000 }, async () => {
    let deaths = 0;
    for (const moment of ['before', 'after'] as const)
      for (let call = 1; call < 12; call++) {
        const { id, runId, stub, commands, read } = await handedOver({ ring_seconds: 10 });
        await later(stub, 41_000);
        const watch = await crashCallObjectAt(stub, call, moment);
        const carrier = vi.mocked(globalThis.fetch).getMockImplementation()!;
        vi.mocked(globalThis.fetch).mockImplementation((...asked) =>
          watch.died ? carrier(...asked) : watch.watched(() => carrier(...asked)),
        );
        await runDurableObjectAlarm(stub).catch(() => undefined);
        const { died } = watch;
        if (died) deaths++;
        await vi.waitFor(
          async () => {
            // The stub of an object that has died is dead, too.
            const alive = callStub(id, runId);
            await later(alive, 60_000);
            await runDurableObjectAlarm(alive).catch(() => undefined);
            expect(countOf(commands(), 'conversation_relay_start')).toBeGreaterThanOrEqual(2);
          },
          { timeout: 15_000, interval: 20 },
        );
        expect(countOf(commands(), 'transfer'), `${moment} ${call}`).toBe(1);
        expect(countOf(commands(), 'hangup')).toBe(0);
        expect((await read())['transfers']).toMatchObject([{ state: 'failed' }]);
        vi.restoreAllMocks();
        vi.spyOn(console, 'log').mockImplementation(() => undefined);
        if (!died) break;
      }
    expect(deaths).toBeGreaterThanOrEqual(1);
  });
});
