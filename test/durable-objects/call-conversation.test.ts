import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CallObject } from '../../durable-objects/call/call-object.ts';
import { CallSlotsObject } from '../../durable-objects/call-slots/call-slots-object.ts';
import {
  answeredRun,
  callStub,
  CarrierSocket,
  waitForCompletedRun,
  readCallFile,
  waitUntilDestroyed,
  holdFirstAnswer,
  callEnd,
  stubOutsideServices,
} from '../support/calls.ts';
import type { CallStub, RunOptions } from '../support/calls.ts';

beforeEach(() => void vi.spyOn(CallSlotsObject.prototype, 'markFinalized').mockResolvedValue(undefined));
afterEach(() => vi.restoreAllMocks());

const greeting = 'Hello Ada, this is Acme about the spring offer. Are you interested?';

/** An agent of one node. */
const simple = (data: object = {}) => ({
  nodes: [{ id: 'start', type: 'startCall', data: { prompt: 'You are Ada.', greeting: 'Hi.', ...data } }],
  edges: [],
});

async function begun(options: RunOptions = {}) {
  const run = await answeredRun(options);
  expect(await run.stub.begin(run.organizationId, run.runId, { callId: 'CA1' })).toBe('ready');
  return run;
}

/** A connected call on which the agent has greeted. */
async function connected(options: RunOptions = {}) {
  const run = await begun(options);
  const carrier = await CarrierSocket.open(run.stub, 'VX1');
  await carrier.waitForUtterances(1);
  return { ...run, carrier };
}

const eventsOf = async (stub: CallStub, type: string): Promise<Record<string, any>[]> =>
  (await stub.snapshot())!.logs.events.filter((event) => event.type === type).map(({ payload }) => payload);

const lost = (sessionId: string) => ({ kind: 'relay_ended', callId: 'CA1', reason: 'lost', sessionId, at: Date.now() }) as const;

const textsOf = ({ frames }: CarrierSocket) => frames.filter(({ type }) => type === 'text');

/** The messages of the conversation in a request to the model. */
const historyOf = (body: Record<string, any>): string[] =>
  body['messages'].filter(({ role }: { role: string }) => role !== 'system').map(({ role, content }: any) => `${role}: ${content}`);

const later = (stub: CallStub, milliseconds: number) =>
  runInDurableObject(stub, (object) => {
    (object as unknown as { clock: () => number }).clock = () => Date.now() + milliseconds;
  });

describe('a conversation over the carrier’s relay', () => {
  test('greets, answers, says goodbye, ends, and writes its row, its transcript and its log', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub, carrier } = await connected();
    expect(carrier.utterances).toEqual([greeting]);
    carrier.say('Yes, I am interested');
    expect((await carrier.waitForUtterances(2))[1]).toBe('Which day suits you?');
    carrier.say('Tuesday would be fine');
    await carrier.waitForUtterances(3);
    carrier.say('Goodbye');
    expect(await carrier.waitForEnd()).toEqual({ run_id: runId, reason: 'end_node' });
    await stub.callEnded(organizationId, runId, callEnd());
    const row = await waitForCompletedRun(runId);
    expect(row).toMatchObject({ outcome: 'completed', reason: null, disposition: 'interested', has_transcript: 1, revision: 1 });
    expect(row['result']).toEqual({
      gathered_context: {
        call_status: 'completed',
        call_disposition: 'interested',
        call_tags: expect.any(Array),
        nodes_visited: ['start', 'book', 'bye'],
        extracted_variables: { preferred_day: 'Tuesday' },
        preferred_day: 'Tuesday',
      },
      answered_by: null,
      cost_info: {
        llm_tokens: { prompt: expect.any(Number), completion: expect.any(Number) },
        call_duration_seconds: 20,
        total_cost_usd: expect.any(Number),
      },
      annotations: { summary: expect.any(String), sentiment: expect.any(String), checks: [] },
    });
    await waitUntilDestroyed(stub);
    expect(await readCallFile(organizationId, runId, 'transcript.txt')).toContain('Person: Tuesday would be fine');
    const { utterances } = await readCallFile(organizationId, runId, 'transcript.json');
    expect(utterances[0]).toMatchObject({ speaker: 'agent', text: greeting, node_id: 'start', is_cut: false });
    const logs = await readCallFile(organizationId, runId, 'logs.json');
    expect(logs.events.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining(['line_connected', 'user_said', 'ended', 'concluded']),
    );
    expect(logs.status_callbacks).toHaveLength(1);
  });

  test('words are sent as they come from the model, and an utterance ends once', async () => {
    const { held } = holdFirstAnswer();
    const { carrier } = await connected({ definition: simple() });
    carrier.say('Who are you?');
    held.say('I am ');
    await vi.waitFor(() => expect(carrier.utterances).toEqual(['Hi.', 'I am ']));
    held.say('Ada.');
    held.finish();
    await carrier.waitForUtterances(2);
    expect(carrier.frames.map(({ received: _received, ...frame }) => frame)).toEqual([
      { type: 'text', token: 'Hi.', last: true, interruptible: true },
      { type: 'text', token: 'I am ', last: false, interruptible: true },
      { type: 'text', token: 'Ada.', last: false, interruptible: true },
      { type: 'text', token: '', last: true, interruptible: true },
    ]);
  });

  test('a node that must not be interrupted is marked so to the carrier', async () => {
    stubOutsideServices();
    const { carrier } = await connected({ definition: simple({ allow_interrupt: false }) });
    expect(carrier.frames[0]).toMatchObject({ interruptible: false });
  });

  test('templates read the run’s context, then the agent’s own variables', async () => {
    stubOutsideServices();
    const { carrier } = await connected({
      definition: simple({ greeting: '{{ company }} calls {{ first_name }}.' }),
      templateContext: { company: 'Acme', first_name: 'you' },
      initialContext: { first_name: 'Grace' },
    });
    expect(carrier.utterances).toEqual(['Acme calls Grace.']);
  });

  test('an interrupt ends the present answer and cuts the history to the spoken part', async () => {
    const { held, asked } = holdFirstAnswer();
    const { carrier, stub } = await connected({ definition: simple() });
    carrier.say('What do you sell?');
    for (const word of ['We ', 'sell ', 'apples ', 'and ', 'pears']) held.say(word);
    await vi.waitFor(() => expect(carrier.utterances[1]).toBe('We sell apples and pears'));
    carrier.send({ type: 'interrupt', utteranceUntilInterrupt: 'We sell apples', durationUntilInterruptMs: 900 });
    carrier.say('Stop, how much?');
    await carrier.waitForUtterances(2);
    expect(held.isAborted).toBe(true);
    expect(historyOf(asked.at(-1)!)).toEqual([
      'assistant: Hi.',
      'user: What do you sell?',
      'assistant: We sell apples',
      'user: Stop, how much?',
    ]);
    expect(await eventsOf(stub, 'interrupted')).toEqual([{ heard: 'We sell apples' }]);
  });

  test('half a sentence is no turn', async () => {
    const { asked } = stubOutsideServices();
    const { carrier } = await connected({ definition: simple() });
    carrier.send({ type: 'prompt', voicePrompt: 'Who', lang: 'en-US', last: false });
    carrier.send({ type: 'prompt', voicePrompt: 'Who are', lang: 'en-US', last: false });
    carrier.say('Who are you?');
    await carrier.waitForUtterances(2);
    expect(asked).toHaveLength(1);
    expect(historyOf(asked[0]!)).toEqual(['assistant: Hi.', 'user: Who are you?']);
  });

  test('pressed keys reach the agent together, after a pause, after # or with the next words', async () => {
    const { asked } = stubOutsideServices();
    const { carrier } = await connected({ definition: simple() });
    for (const digit of ['4', '2']) carrier.send({ type: 'dtmf', digit });
    await carrier.waitForUtterances(2);
    for (const digit of ['1', '9', '#']) carrier.send({ type: 'dtmf', digit });
    await carrier.waitForUtterances(3);
    carrier.send({ type: 'dtmf', digit: '7' });
    carrier.say('that is it');
    await carrier.waitForUtterances(4);
    const said = historyOf(asked.at(-1)!).filter((line) => line.startsWith('user'));
    expect(said).toEqual(['user: pressed 42', 'user: pressed 19', 'user: pressed 7. that is it']);
  });

  test('an invalid frame is logged without its content and changes nothing', async () => {
    stubOutsideServices();
    const { carrier, stub } = await connected({ definition: simple() });
    for (const frame of ['not json', '[]', '{"type":"prompt"}', '{"type":"dtmf","digit":"hello"}', '{"type":"unknown"}'])
      carrier.send(frame);
    carrier.send({ type: 'error', description: 'Invalid message received' });
    carrier.say('Who are you?');
    await carrier.waitForUtterances(2);
    const faults = await eventsOf(stub, 'frame_ignored');
    expect(faults).toHaveLength(5);
    expect(JSON.stringify(faults)).not.toContain('hello');
    expect(await eventsOf(stub, 'carrier_error')).toEqual([{ description: 'Invalid message received' }]);
  });

  test('nothing is read from the database during a conversation', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub } = await begun();
    const calls: string[] = [];
    await runInDurableObject(stub, (object) => {
      const target = object as unknown as { env: Env };
      const real = target.env;
      target.env = new Proxy(real, {
        get: (bindings, name) => {
          if (['DB', 'FILES', 'CALL_SLOTS', 'AUTOMATION_RUN'].includes(String(name))) calls.push(String(name));
          return Reflect.get(bindings, name);
        },
      });
    });
    const carrier = await CarrierSocket.open(stub, 'VX1');
    await carrier.waitForUtterances(1);
    carrier.say('Yes, I am interested');
    await carrier.waitForUtterances(2);
    expect(await stub.begin(organizationId, runId)).toBe('talking');
    await stub.snapshot();
    expect(calls).toEqual([]);
  });

  test('the session ends when the goodbye has been spoken, not before', async () => {
    stubOutsideServices();
    const { carrier } = await connected();
    carrier.say('No, I am not interested');
    const [, goodbye] = await carrier.waitForUtterances(2);
    const spokenAt = performance.now();
    expect(carrier.ends).toEqual([]);
    await carrier.waitForEnd();
    expect(carrier.ends[0]!['received'] - spokenAt).toBeGreaterThan(goodbye!.length * 65 - 300);
  });

  test('words of the person end a goodbye before it is spoken', async () => {
    stubOutsideServices();
    const { carrier } = await connected();
    carrier.say('No, I am not interested');
    await carrier.waitForUtterances(2);
    const answeredAt = performance.now();
    carrier.say('Bye');
    await carrier.waitForEnd();
    expect(carrier.ends[0]!['received'] - answeredAt).toBeLessThan(500);
    carrier.say('Bye bye');
    expect(carrier.ends).toHaveLength(1);
  });

  test('a silent person is asked once, then the call ends', { tags: 'soak' }, async () => {
    stubOutsideServices();
    const phrases = { are_you_there: 'There?', idle_goodbye: 'Bye.' };
    const { carrier, runId } = await connected({ definition: simple(), configurations: { max_user_idle_timeout: 1, phrases } });
    expect(await carrier.waitForUtterances(3)).toEqual(['Hi.', 'There?', 'Bye.']);
    expect(await carrier.waitForEnd()).toEqual({ run_id: runId, reason: 'user_idle' });
  });

  test('half a sentence is no silence', { tags: 'soak' }, async () => {
    stubOutsideServices();
    const { carrier } = await connected({ definition: simple(), configurations: { max_user_idle_timeout: 1 } });
    for (let part = 0; part < 8; part++) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      carrier.send({ type: 'prompt', voicePrompt: 'Well', lang: 'en-US', last: false });
    }
    expect(carrier.utterances).toEqual(['Hi.']);
    expect((await carrier.waitForUtterances(2))[1]).toBe('Are you still there?');
  });

  test('a call beyond its maximum length is ended', async () => {
    stubOutsideServices();
    const { carrier, stub, runId } = await connected({ definition: simple(), configurations: { phrases: { time_is_up: 'Time is up.' } } });
    await later(stub, 301_000);
    await runDurableObjectAlarm(stub);
    expect((await carrier.waitForUtterances(2))[1]).toBe('Time is up.');
    await later(stub, 310_000);
    await runDurableObjectAlarm(stub);
    expect(await carrier.waitForEnd()).toEqual({ run_id: runId, reason: 'max_call_duration' });
  });

  test('the agent stops when a machine is recognised late, and the call is a voicemail without a conclusion', async () => {
    const { asked } = stubOutsideServices();
    const { carrier, stub, runId, organizationId } = await connected({ definition: simple() });
    carrier.say('You have reached the voicemail of Bob. Please leave a message after the tone.');
    await carrier.waitForUtterances(2);
    await stub.machineAnswered();
    await stub.machineAnswered();
    expect(await carrier.waitForEnd()).toEqual({ run_id: runId, reason: 'stopped' });
    expect(await stub.relayEnded({ kind: 'relay_ended', callId: 'CA1', reason: 'ended', sessionId: 'VX1', at: 1 })).toBe('hang_up');
    await stub.callEnded(organizationId, runId, callEnd({ outcome: 'voicemail' }));
    const row = await waitForCompletedRun(runId);
    expect(row).toMatchObject({ outcome: 'voicemail', disposition: null, result: { gathered_context: { call_status: 'voicemail' } } });
    expect(asked.every(({ stream }) => stream)).toBe(true);
  });

  test('a machine that is recognised before the session is greeted, and hung up on at the words of its greeting', async () => {
    const { asked } = stubOutsideServices();
    const { stub } = await begun();
    await stub.machineAnswered();
    const carrier = await CarrierSocket.open(stub, 'VX1');
    await carrier.waitForUtterances(1);
    carrier.say('Please leave a message after the tone.');
    await carrier.waitForEnd();
    expect(carrier.utterances).toEqual([greeting]);
    expect(asked).toEqual([]);
  });

  test('a model that fails ends the call with an apology, and the row says why', async () => {
    stubOutsideServices({
      model: () => Response.json({ error: { message: 'no', type: 'invalid_request_error', code: 'invalid_api_key' } }, { status: 401 }),
    });
    const phrases = { apology: 'Sorry.' };
    const { carrier, stub, runId, organizationId } = await connected({ definition: simple(), configurations: { phrases } });
    carrier.say('Who are you?');
    expect((await carrier.waitForUtterances(2))[1]).toBe('Sorry.');
    expect((await carrier.waitForEnd())['reason']).toBe('error');
    await stub.callEnded(organizationId, runId, callEnd());
    expect((await waitForCompletedRun(runId))['reason']).toMatch(/^agent_failed: /);
  });
});

describe('the lifecycle of a call', () => {
  test('it begins once, and only for a run that exists and is not over', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub } = await answeredRun();
    expect(await Promise.all([1, 2, 3].map(() => stub.begin(organizationId, runId)))).toEqual(['ready', 'ready', 'ready']);
    await stub.callEnded(organizationId, runId, callEnd());
    await waitForCompletedRun(runId);
    await waitUntilDestroyed(stub);
    expect(await stub.begin(organizationId, runId)).toBe('unknown');
    expect(await callStub(organizationId, runId + 1_000_000).begin(organizationId, runId + 1_000_000)).toBe('unknown');
    const other = await answeredRun();
    expect(await callStub(organizationId, other.runId).begin(organizationId, other.runId)).toBe('unknown');
  });

  test('a socket is accepted only by a call that exists and is not over', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub } = await answeredRun();
    const open = () => stub.fetch('https://call.test/relay', { headers: { upgrade: 'websocket' } });
    expect((await open()).status).toBe(410);
    await stub.begin(organizationId, runId);
    expect((await stub.fetch('https://call.test/relay')).status).toBe(426);
    const taken = await open();
    expect(taken.status).toBe(101);
    taken.webSocket!.accept();
    await stub.callEnded(organizationId, runId, callEnd());
    expect((await open()).status).toBe(410);
  });

  test('a used address opens no second socket, also after its object has slept', async () => {
    stubOutsideServices();
    const { stub } = await begun();
    const open = async (token: string) => {
      const answer = await stub.fetch(`https://call.test/relay/${token}`, { headers: { upgrade: 'websocket' } });
      answer.webSocket?.accept();
      await answer.text();
      return answer.status;
    };
    expect(await open('one')).toBe(101);
    expect(await open('one')).toBe(409);
    await evictDurableObject(stub);
    expect(await open('one')).toBe(409);
    expect(await open('other')).toBe(101);
  });

  test('a session of another call is refused, whether the call id was known before or came with the first session', async () => {
    stubOutsideServices();
    for (const callId of ['CA1', undefined]) {
      const run = await answeredRun({ definition: simple() });
      await run.stub.begin(run.organizationId, run.runId, callId === undefined ? {} : { callId });
      const carrier = await CarrierSocket.open(run.stub, 'VX1');
      await carrier.waitForUtterances(1);
      const stranger = await CarrierSocket.open(run.stub);
      stranger.send({ type: 'setup', sessionId: 'VX2', callSid: 'CA2' });
      await stranger.closed;
      carrier.say('Who are you?');
      await carrier.waitForUtterances(2);
      expect(stranger.utterances).toEqual([]);
    }
  });

  test('while it is live it shows its gathered context, cost and log', async () => {
    stubOutsideServices();
    const { carrier, stub } = await connected();
    carrier.say('Yes, I am interested');
    await carrier.waitForUtterances(2);
    expect(await stub.snapshot()).toMatchObject({
      gathered_context: { call_status: 'in_progress', nodes_visited: ['start', 'book'], extracted_variables: {} },
      cost_info: { llm_tokens: { prompt: expect.any(Number) } },
      logs: { events: expect.arrayContaining([expect.objectContaining({ type: 'user_said' })]), status_callbacks: [] },
    });
  });

  test('a person who hangs up ends the conversation', async () => {
    stubOutsideServices();
    const { stub, organizationId, runId } = await connected();
    expect(await stub.relayEnded({ kind: 'relay_ended', callId: 'CA1', reason: 'hung_up', sessionId: 'VX1', at: 1 })).toBe('hang_up');
    expect(await eventsOf(stub, 'ended')).toEqual([{ reason: 'hung_up' }]);
    await stub.callEnded(organizationId, runId, callEnd());
    expect(await waitForCompletedRun(runId)).toMatchObject({ outcome: 'completed', disposition: null });
  });
});

describe('a call whose agent was never connected', () => {
  const ended = (reason: 'ended' | 'hung_up') => ({ kind: 'relay_ended', callId: 'CA1', reason, sessionId: 'VX1', at: 1 }) as const;

  test('is connected again, and given up after the last try', async () => {
    const { stub } = await begun();
    for (const sessionId of ['VX1', 'VX2', 'VX3']) expect(await stub.relayEnded(lost(sessionId))).toBe('connect');
    for (let time = 0; time < 2; time++) expect(await stub.relayEnded(lost('VX4'))).toBe('never_begun');
    expect(await stub.isUnstarted('CA1')).toBe(true);
    expect(await stub.isUnstarted('CA2')).toBe(false);
    await stub.abandon('CA2');
    expect(await stub.isUnstarted('CA1')).toBe(true);
    for (let time = 0; time < 2; time++) await stub.abandon('CA1');
    expect(await stub.wakeStalled()).toBe(false);
    expect(await stub.relayEnded(lost('VX4'))).toBe('never_begun');
  });

  test('differs from a call on which the agent has greeted', async () => {
    stubOutsideServices();
    for (const reason of ['ended', 'hung_up'] as const) expect(await (await begun()).stub.relayEnded(ended(reason))).toBe('never_begun');
    const { stub } = await connected();
    expect(await stub.isUnstarted('CA1')).toBe(false);
    await stub.abandon('CA1');
    expect(await stub.relayEnded(ended('ended'))).toBe('hang_up');
  });

  test('may begin again', async () => {
    stubOutsideServices();
    const { stub, organizationId, runId } = await begun();
    await stub.abandon('CA1');
    expect(await stub.begin(organizationId, runId, { callId: 'CA1' })).toBe('ready');
    const carrier = await CarrierSocket.open(stub, 'VX1');
    expect(await carrier.waitForUtterances(1)).toEqual([greeting]);
    expect(await stub.begin(organizationId, runId, { callId: 'CA1' })).toBe('talking');
  });

  test('logs the carrier’s error, and the socket that closed before its setup', async () => {
    const { stub } = await begun();
    const carrier = await CarrierSocket.open(stub);
    for (let time = 0; time < 30; time++) carrier.send({ type: 'error', description: 'Invalid voice' });
    carrier.drop();
    await vi.waitFor(async () => expect(await eventsOf(stub, 'line_lost')).toEqual([{ code: 1000, had_session: false }]));
    expect(await eventsOf(stub, 'carrier_error')).toEqual(Array.from({ length: 20 }, () => ({ description: 'Invalid voice' })));
  });
});

describe('a lost session', () => {
  test('is replaced by another one, in which an unfinished answer is given and the agent does not greet again', async () => {
    const { held } = holdFirstAnswer();
    const { carrier, stub } = await connected({ definition: simple() });
    carrier.say('Who are you?');
    held.say('I am');
    await vi.waitFor(() => expect(carrier.utterances[1]).toBe('I am'));
    carrier.drop();
    expect(await stub.relayEnded(lost('VX1'))).toBe('connect');
    const again = await CarrierSocket.open(stub, 'VX2');
    expect(await again.waitForUtterances(1)).toHaveLength(1);
    expect(again.utterances[0]).not.toBe('Hi.');
    expect(held.isAborted).toBe(true);
    again.say('And how are you?');
    await again.waitForUtterances(2);
    expect((await eventsOf(stub, 'user_said')).map(({ text }) => text)).toEqual(['Who are you?', 'And how are you?']);
  });

  test('has its unspoken words spoken in the new session', async () => {
    const { held } = holdFirstAnswer();
    const { carrier, stub } = await connected({ definition: simple() });
    carrier.say('Who are you?');
    held.say('I am ');
    await vi.waitFor(() => expect(carrier.utterances[1]).toBe('I am '));
    carrier.drop();
    await vi.waitFor(async () => expect(await eventsOf(stub, 'line_lost')).toHaveLength(1));
    held.say('Ada.');
    held.finish();
    await vi.waitFor(async () => expect(await eventsOf(stub, 'agent_said')).toHaveLength(2));
    const again = await CarrierSocket.open(stub, 'VX2');
    expect(await again.waitForUtterances(1)).toEqual(['I am Ada.']);
  });

  test('a repeated event counts once, and after three sessions the call is given up', async () => {
    stubOutsideServices();
    const { stub } = await connected({ definition: simple() });
    for (const sessionId of ['VX1', 'VX1', 'VX2', 'VX3', 'VX3']) expect(await stub.relayEnded(lost(sessionId))).toBe('connect');
    expect(await stub.relayEnded(lost('VX4'))).toBe('hang_up');
  });

  test('frames of an older session are ignored', async () => {
    stubOutsideServices();
    const { carrier, stub } = await connected({ definition: simple() });
    const again = await CarrierSocket.open(stub, 'VX2');
    await vi.waitFor(async () => expect(await eventsOf(stub, 'line_reconnected')).toHaveLength(1));
    expect(await carrier.closed).toBe(1000);
    const third = await CarrierSocket.open(stub);
    third.say('Before my setup');
    again.say('Who are you?');
    await again.waitForUtterances(1);
    expect((await eventsOf(stub, 'user_said')).map(({ text }) => text)).toEqual(['Who are you?']);
    expect(await eventsOf(stub, 'line_lost')).toEqual([]);
  });

  test('a conversation goes on after its object has slept', async () => {
    stubOutsideServices();
    const { carrier, stub } = await connected();
    await evictDurableObject(stub);
    carrier.say('Yes, I am interested');
    await carrier.waitForUtterances(2);
    await evictDurableObject(stub);
    carrier.say('Tuesday would be fine');
    await carrier.waitForUtterances(3);
    await evictDurableObject(stub);
    expect((await carrier.waitForEnd())['reason']).toBe('end_node');
  });

  test('a turn whose object dies is answered in the next session', async () => {
    const { held, asked } = holdFirstAnswer();
    const { carrier, stub, organizationId, runId } = await connected({ definition: simple() });
    carrier.say('Who are you?');
    held.say('I am');
    await vi.waitFor(() => expect(carrier.utterances[1]).toBe('I am'));
    await runInDurableObject(stub, (_object: CallObject, state) => state.abort('it dies here')).catch(() => undefined);
    const reborn = callStub(organizationId, runId);
    expect(await reborn.relayEnded(lost('VX1'))).toBe('connect');
    const again = await CarrierSocket.open(reborn, 'VX2');
    await again.waitForUtterances(1);
    expect(historyOf(asked.at(-1)!)).toEqual(['assistant: Hi.', 'user: Who are you?']);
  });

  test('a goodbye whose object dies before it is spoken ends the session all the same', { tags: 'soak' }, async () => {
    stubOutsideServices();
    const phrases = { time_is_up: 'Our time is up, as I am sorry to say. '.repeat(7) };
    const { runId, stub, carrier } = await connected({ definition: simple(), configurations: { phrases } });
    // What waits in memory is lost. An eviction would wait for it.
    const wait = globalThis.setTimeout;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms?: number) =>
      wait(ms! > 5000 ? () => {} : work, Math.min(ms!, 5000))) as never);
    await later(stub, 301_000);
    await runDurableObjectAlarm(stub);
    await carrier.waitForUtterances(2);
    await evictDurableObject(stub);
    expect(carrier.ends).toEqual([]);
    await later(stub, 400_000);
    await runDurableObjectAlarm(stub);
    expect(await carrier.waitForEnd()).toEqual({ run_id: runId, reason: 'max_call_duration' });
  });

  test('an abandoned answer on a live line is resumed', async () => {
    const { asked } = stubOutsideServices();
    const { carrier, stub } = await connected({ definition: simple() });
    await runInDurableObject(stub, (_object: CallObject, { storage }) => {
      const message = { id: 2, at: Date.now(), nodeId: 'start', role: 'user', text: 'Who are you?' };
      storage.sql.exec(
        `INSERT INTO change (state, messages, removed, events)
         SELECT json_set(state, '$.owesAnswer', json('true'), '$.quietSince', null, '$.nextMessageId', 3), ?, '[]', '[]'
         FROM change WHERE state IS NOT NULL ORDER BY id DESC LIMIT 1`,
        JSON.stringify([message]),
      );
    });
    await evictDurableObject(stub);
    await later(stub, 16_000);
    await runDurableObjectAlarm(stub);
    await carrier.waitForUtterances(2);
    expect(historyOf(asked.at(-1)!)).toEqual(['assistant: Hi.', 'user: Who are you?']);
  });
});

describe('a conversation over Telnyx’s relay', () => {
  test('sends no empty text and no options, and the same words as elsewhere', async () => {
    stubOutsideServices();
    const { carrier } = await connected({ mode: 'telnyx' });
    carrier.say('Yes, I am interested');
    expect(await carrier.waitForUtterances(2)).toEqual([greeting, 'Which day suits you?']);
    const texts = textsOf(carrier).map(({ received: _received, ...frame }) => frame);
    expect(texts.length).toBeGreaterThan(2);
    for (const frame of texts) expect(frame).toEqual({ type: 'text', token: expect.stringMatching(/./s), last: expect.any(Boolean) });
    expect(texts.filter(({ last }) => last)).toHaveLength(2);
  });

  test('sends each piece when the next one comes, and the last with the end of the utterance', async () => {
    const { held } = holdFirstAnswer();
    const { carrier } = await connected({ mode: 'telnyx', definition: simple() });
    carrier.say('Who are you?');
    held.say('I am ');
    held.say('Ada.');
    await vi.waitFor(() => expect(carrier.utterances).toEqual(['Hi.', 'I am ']));
    held.finish();
    await carrier.waitForUtterances(2);
    expect(textsOf(carrier).map(({ received: _received, ...frame }) => frame)).toEqual([
      { type: 'text', token: 'Hi.', last: true },
      { type: 'text', token: 'I am ', last: false },
      { type: 'text', token: 'Ada.', last: true },
    ]);
  });

  test('gets the agent’s speech options, those for the carrier first', async () => {
    const configurations = {
      language: 'en-GB',
      voice: 'common',
      hints: ['Acme'],
      speech: {
        twilio: { tts_provider: 'elevenlabs', hints: ['Acme', 'Zoho'] },
        telnyx: { voice: 'Telnyx.NaturalHD.astra', speech_model: 'nova-3' },
      },
    };
    const [twilio, telnyx] = [await begun({ configurations }), await begun({ configurations, mode: 'telnyx' })];
    expect(await twilio.stub.speechOptions()).toEqual({
      isInterruptible: 'any',
      language: 'en-GB',
      voice: 'common',
      ttsProvider: 'ElevenLabs',
      hints: ['Acme', 'Zoho'],
    });
    expect(await telnyx.stub.speechOptions()).toMatchObject({ language: 'en-GB', voice: 'Telnyx.NaturalHD.astra', speechModel: 'nova-3' });
  });

  test('is interruptible unless no node of the agent is', async () => {
    const none = await begun({ mode: 'telnyx', definition: simple({ allow_interrupt: false }) });
    expect(await none.stub.speechOptions()).toEqual({ isInterruptible: 'none' });
    const some = await begun({ mode: 'telnyx', definition: simple() });
    expect(await some.stub.speechOptions()).toEqual({ isInterruptible: 'any' });
  });
});
