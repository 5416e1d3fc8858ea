import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CallSlotsObject } from '../../durable-objects/call-slots/call-slots-object.ts';
import { isMailboxSpeech, whoTalks } from '../../src/voice-agents/conversation/machine-speech.ts';
import {
  answeredRun,
  callEnd,
  CarrierSocket,
  stubOutsideServices,
  waitForCompletedRun,
  type CallStub,
  type RunOptions,
} from '../support/calls.ts';
import { crashCallObjectAt } from '../support/crashing-call.ts';

let corrected: string[] = [];
beforeEach(() => {
  corrected = [];
  vi.spyOn(CallSlotsObject.prototype, 'markFinalized').mockResolvedValue(undefined);
  vi.spyOn(CallSlotsObject.prototype, 'correctVerdict').mockImplementation(async (key) => void corrected.push(key));
  // Expected failures are logged.
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
});
afterEach(() => vi.restoreAllMocks());

const agent = { nodes: [{ id: 'start', type: 'startCall', data: { prompt: 'Talk.', greeting: 'Hi.' } }], edges: [] };
const mailbox = 'You have reached the voicemail of Bob. Please leave a message after the tone.';
const message = { configurations: { voicemail_message: 'This is Acme for {{ first_name }}.' } };

async function connected(options: RunOptions = {}) {
  stubOutsideServices();
  const run = await answeredRun({ definition: agent, ...options });
  expect(await run.stub.begin(run.organizationId, run.runId, { callId: 'CA1' })).toBe('ready');
  const carrier = await CarrierSocket.open(run.stub, 'VX1');
  await carrier.waitForUtterances(1);
  return { ...run, carrier };
}

const later = (stub: CallStub, milliseconds: number) =>
  runInDurableObject(stub, (object) => {
    (object as unknown as { clock: () => number }).clock = () => Date.now() + milliseconds;
  });

const eventsOf = async (stub: CallStub, type: string) => (await stub.snapshot())!.logs.events.filter((event) => event.type === type);

describe('the verdict that a machine has answered', () => {
  test('is false when a person has talked: the talk goes on, and the call is completed by a person', async () => {
    const { carrier, stub, organizationId, runId, key } = await connected();
    carrier.say('Yes, who is this?');
    await carrier.waitForUtterances(2);
    await stub.machineAnswered();
    await vi.waitFor(() => expect(corrected).toEqual([key]));
    carrier.say('And what do you sell?');
    await carrier.waitForUtterances(3);
    expect(carrier.ends).toEqual([]);
    // The end that was on its way before the correction.
    await stub.callEnded(organizationId, runId, callEnd({ outcome: 'voicemail' }));
    expect(await waitForCompletedRun(runId)).toMatchObject({ outcome: 'completed', talk_seconds: 20, result: { answered_by: 'person' } });
  });

  test('waits for words when nothing was said, and is corrected by those of a person', async () => {
    const { carrier, stub, key } = await connected();
    await stub.machineAnswered();
    expect(carrier.ends).toEqual([]);
    carrier.say('Hello?');
    await carrier.waitForUtterances(2);
    await vi.waitFor(() => expect(corrected).toEqual([key]));
    expect(await eventsOf(stub, 'machine_verdict_corrected')).toHaveLength(1);
    // Repeats come late.
    await stub.machineAnswered();
    expect(carrier.ends).toEqual([]);
  });

  test('that comes before the agent is connected waits for words, too', async () => {
    stubOutsideServices();
    const run = await answeredRun({ definition: agent });
    await run.stub.machineAnswered();
    expect(await run.stub.begin(run.organizationId, run.runId, { callId: 'CA1' })).toBe('ready');
    const carrier = await CarrierSocket.open(run.stub, 'VX1');
    await carrier.waitForUtterances(1);
    carrier.say('Yes?');
    await carrier.waitForUtterances(2);
    await vi.waitFor(() => expect(corrected).toEqual([run.key]));
  });

  test('holds by the words of a mailbox', async () => {
    const { carrier, stub, runId } = await connected();
    await stub.machineAnswered();
    carrier.say(mailbox);
    expect(await carrier.waitForEnd()).toEqual({ run_id: runId, reason: 'stopped' });
    expect(corrected).toEqual([]);
  });

  test('holds when nothing is said after the greeting of the agent', async () => {
    const { carrier, stub } = await connected();
    await stub.machineAnswered();
    await later(stub, 1_000);
    await runDurableObjectAlarm(stub);
    expect(carrier.ends).toEqual([]);
    await later(stub, 9_000);
    await runDurableObjectAlarm(stub);
    await carrier.waitForEnd();
  });

  test('is told to the call slots although the object dies at any call', async () => {
    let deaths = 0;
    for (const moment of ['before', 'after'] as const)
      for (let call = 1; call < 5; call++) {
        corrected = [];
        const { carrier, stub, key } = await connected();
        await stub.machineAnswered();
        const watch = await crashCallObjectAt(stub, call, moment);
        carrier.say('Hello?');
        await vi.waitFor(
          async () => {
            await runDurableObjectAlarm(stub).catch(() => undefined);
            expect(corrected).toContain(key);
          },
          { timeout: 15_000, interval: 20 },
        );
        if (!watch.died) break;
        deaths++;
      }
    expect(deaths).toBeGreaterThanOrEqual(2);
  });
});

describe('the message for machines', () => {
  test('is left after the greeting, once, and the disposition tells it', async () => {
    const { carrier, stub, organizationId, runId } = await connected(message);
    carrier.say(mailbox);
    await carrier.waitForUtterances(2);
    await stub.machineAnswered();
    // What the machine says further is not answered, and does not end the call.
    carrier.say('After the tone, press one for more options.');
    await later(stub, 1_000);
    expect(carrier.utterances.slice(2)).toEqual([]);
    await stub.machineAnswered(true);
    await stub.machineAnswered(true);
    expect((await carrier.waitForUtterances(3)).slice(2)).toEqual(['This is Acme for Ada.']);
    expect(carrier.ends).toEqual([]);
    await later(stub, 20_000);
    await runDurableObjectAlarm(stub);
    await carrier.waitForEnd();
    expect(await stub.relayEnded({ kind: 'relay_ended', callId: 'CA1', reason: 'ended', sessionId: 'VX1', at: 1 })).toBe('hang_up');
    await later(stub, 0);
    await stub.callEnded(organizationId, runId, callEnd({ outcome: 'voicemail' }));
    const row = await waitForCompletedRun(runId);
    expect(row).toMatchObject({
      outcome: 'voicemail',
      disposition: 'voicemail_left',
      result: { gathered_context: { call_disposition: 'voicemail_left' } },
    });
  });

  test('is left at once when the verdict comes with the end of the greeting', async () => {
    const { carrier, stub } = await connected(message);
    await stub.machineAnswered(true);
    expect((await carrier.waitForUtterances(2))[1]).toBe('This is Acme for Ada.');
  });

  test('is left without a report on the end of the greeting, after the time of a long one, also by an object that was evicted', async () => {
    const { carrier, stub } = await connected(message);
    carrier.say(mailbox);
    await carrier.waitForUtterances(2);
    await stub.machineAnswered();
    await evictDurableObject(stub);
    await later(stub, 21_000);
    await runDurableObjectAlarm(stub);
    expect((await carrier.waitForUtterances(3))[2]).toBe('This is Acme for Ada.');
    expect(await eventsOf(stub, 'voicemail_left')).toHaveLength(1);
  });

  test('is not left to a person who talks', async () => {
    const { carrier, stub } = await connected(message);
    carrier.say('Yes?');
    await carrier.waitForUtterances(2);
    await stub.machineAnswered(true);
    carrier.say('Who is this?');
    await carrier.waitForUtterances(3);
    expect(carrier.utterances).not.toContain('This is Acme for Ada.');
  });
});

test('the call slots take a corrected verdict back, as long as the call is live', async () => {
  vi.restoreAllMocks();
  const slots = env.CALL_SLOTS.getByName(`machine-${crypto.randomUUID()}`);
  // An unknown attempt, and slots that do not exist, are no error.
  await slots.correctVerdict('single:0:nobody');
});

test.each([
  [mailbox, true],
  ['Der Teilnehmer ist nicht erreichbar. Bitte hinterlassen Sie eine Nachricht nach dem Signalton.', true],
  ['Vous êtes bien sur la messagerie de Paul, laissez un message après le bip.', true],
  ['I am sorry, nobody is available to take your call right now.', true],
  ['Hello?', false],
  ['Yes, this is Bob speaking, who is calling please?', false],
  ['I cannot talk right now, I am driving', false],
  ['Guten Tag, Müller am Apparat', false],
  [Array.from({ length: 30 }, () => 'word').join(' '), true],
])('%s: a mailbox %s', (text, expected) => {
  expect(isMailboxSpeech(text)).toBe(expected);
  expect(whoTalks([{ role: 'user', text }])).toBe(expected ? 'machine' : 'person');
});
