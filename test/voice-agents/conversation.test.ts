import { describe, expect, test } from 'vitest';
import { defaultPhrases } from '../../src/voice-agents/conversation/phrases.ts';
import { toTranscript, formatTranscript } from '../../src/voice-agents/conversation/transcript.ts';
import { salesAgent } from './agents.ts';
import { begin, historyFault } from './begin.ts';
import { FakeModel, usage, type Answer } from './fake-model.ts';

const node = (id: string, type: string, data: object = {}) => ({ id, type, data: { prompt: `You are at ${id}.`, ...data } });
const edge = (source: string, target: string, data: object = {}) => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { label: `to ${target}`, condition: `the person wants ${target}`, ...data },
});
const ended = { status: 'answered', end: 'end_node' };

describe('a talk', () => {
  test('greets, takes the edge that the model calls, speaks at each node by its prompt and ends with a goodbye', async () => {
    const model = new FakeModel(
      { calls: [['interested']] },
      'Which day suits you?',
      { calls: [['day_chosen', '']] },
      { text: 'Thank you. Goodbye.' },
    );
    const talk = begin(model);
    expect(await talk.conversation.start()).toMatchObject({ status: 'answered', end: null });
    expect(await talk.conversation.userTurn('Yes, I am')).toMatchObject({ status: 'answered', said: ['Which day suits you?'], end: null });
    expect(await talk.conversation.userTurn('Tuesday')).toMatchObject({ ...ended, said: ['Thank you. Goodbye.'] });

    expect(talk.utterances).toEqual([
      'Hello Ada, this is Acme about the spring offer. Are you interested?',
      'Which day suits you?',
      'Thank you. Goodbye.',
    ]);
    expect(model.asked.map(({ system }) => system)).toEqual([
      'You call Ada about the spring offer. Ask whether they are interested.',
      'Ask which day suits them.',
      'Ask which day suits them.',
      'Thank them and say goodbye.',
    ]);
    expect(model.asked[0]!.tools!.map(({ name, description }) => `${name}: ${description}`)).toEqual([
      'interested: the person says yes or is interested',
      'not_interested: the person says no or is not interested',
      expect.stringMatching(/^end_call: /),
    ]);
    expect(model.asked[3]!.tools).toEqual([]);
    for (const { messages } of model.asked) expect(historyFault(messages)).toBeNull();
    expect(talk.conversation.state).toMatchObject({
      nodesVisited: ['start', 'book', 'bye'],
      end: { reason: 'end_node' },
      owesAnswer: false,
    });
    expect(await talk.conversation.userTurn('One more thing')).toMatchObject({ status: 'ignored', end: 'end_node' });
  });

  test('streams words as they come, and ends each utterance', async () => {
    const talk = begin(new FakeModel({ text: [' ', '\n', 'Fine', ', ', 'thanks'] }), { definition: interruptible(false) });
    await talk.conversation.start({ speaksFirst: false });
    await talk.conversation.userTurn('How are you?');
    expect(talk.tokens).toEqual([
      { token: 'Fine', last: false, nodeId: 'start', isInterruptible: false },
      { token: ', ', last: false, nodeId: 'start', isInterruptible: false },
      { token: 'thanks', last: false, nodeId: 'start', isInterruptible: false },
      { token: '', last: true, nodeId: 'start', isInterruptible: false },
    ]);
  });

  test('without a greeting the model opens it; who does not speak first waits', async () => {
    const definition = interruptible(true);
    const model = new FakeModel('Good morning.');
    const opening = begin(model, { definition });
    expect(await opening.conversation.start()).toMatchObject({ status: 'answered', said: ['Good morning.'] });
    expect(model.asked[0]!.messages).toEqual([]);
    const waiting = begin(model, { definition });
    expect(await waiting.conversation.start({ speaksFirst: false })).toMatchObject({ status: 'ignored', said: [] });
    expect(await waiting.conversation.userTurn('Hello?')).toMatchObject({ said: ['Good morning.'] });
  });

  test('puts the global prompt before that of a node that asks for it', async () => {
    const definition = {
      nodes: [
        node('all', 'globalNode', { prompt: 'You are kind to {{ first_name }}.' }),
        node('start', 'startCall', { greeting: 'Hi' }),
        node('alone', 'agentNode', { add_global_prompt: false }),
      ],
      edges: [edge('start', 'alone')],
    };
    const model = new FakeModel({ calls: [['to_alone']] }, 'Here.');
    const talk = begin(model, { definition });
    await talk.conversation.start();
    await talk.conversation.userTurn('Go');
    expect(model.asked.map(({ system }) => system)).toEqual(['You are kind to Ada.\n\nYou are at start.', 'You are at alone.']);
  });

  test('says the speech of an edge before the model is asked at the next node', async () => {
    const definition = {
      nodes: [node('start', 'startCall', { greeting: 'Hi' }), node('next', 'agentNode')],
      edges: [edge('start', 'next', { transition_speech: 'One moment, {{ first_name }}.' })],
    };
    const model = new FakeModel({ text: 'Good.', calls: [['to_next']] }, 'Here I am.');
    const talk = begin(model, { definition });
    await talk.conversation.start();
    expect(await talk.conversation.userTurn('Go')).toMatchObject({ said: ['Good.', 'One moment, Ada.', 'Here I am.'] });
    expect(model.asked[1]!.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'assistant: Hi',
      'user: Go',
      'assistant: Good.',
      'tool: {"status":"ok"}',
      'assistant: One moment, Ada.',
    ]);
    expect(talk.memory.events.map(({ type, node_id }) => `${node_id} ${type}`)).toEqual([
      'start started',
      'start node_entered',
      'start agent_said',
      'start user_said',
      'start model_answered',
      'start agent_said',
      'start edge_taken',
      'start agent_said',
      'next node_entered',
      'next model_answered',
      'next agent_said',
    ]);
  });

  test('of several edges the first is taken, and every call is answered', async () => {
    const model = new FakeModel({ calls: [['not_interested'], ['interested'], ['end_call']] }, 'Bye.');
    const talk = begin(model);
    await talk.conversation.start();
    expect(await talk.conversation.userTurn('No')).toMatchObject(ended);
    expect(talk.conversation.state!.nodesVisited).toEqual(['start', 'bye']);
    expect(model.asked[1]!.messages.slice(-3).map(({ content }) => content)).toEqual([
      '{"status":"ok"}',
      '{"status":"not done"}',
      '{"status":"not done"}',
    ]);
  });

  test('a template that fails on a value leaves its words', async () => {
    const definition = { nodes: [node('start', 'startCall', { greeting: 'Hello {{ now | date: "%H", place }} Ada' })], edges: [] };
    const talk = begin(new FakeModel('x'), { definition, setup: { initialContext: { place: 'Atlantis/Capital' } } });
    await talk.conversation.start();
    expect(talk.utterances).toEqual(['Hello Ada']);
  });

  test('the transcript tells who said what, and counts add up', async () => {
    const talk = begin(new FakeModel({ calls: [['interested']] }, 'Which\nday?'));
    await talk.conversation.start();
    await talk.conversation.userTurn('Yes');
    expect(formatTranscript(toTranscript(talk.store.messages()))).toBe(
      'Agent: Hello Ada, this is Acme about the spring offer. Are you interested?\nPerson: Yes\nAgent: Which day?',
    );
    expect(talk.conversation.state!.usage).toEqual({
      prompt_tokens: 2 * usage.prompt_tokens,
      completion_tokens: 2 * usage.completion_tokens,
    });
  });
});

const interruptible = (allow: boolean) => ({ nodes: [node('start', 'startCall', { allow_interrupt: allow })], edges: [] });

describe('end_call', () => {
  test('ends at once when the goodbye was said with it', async () => {
    const model = new FakeModel({ text: 'Goodbye, Ada.', calls: [['end_call']] });
    const talk = begin(model);
    await talk.conversation.start();
    expect(await talk.conversation.userTurn('Bye')).toMatchObject({ said: ['Goodbye, Ada.'], end: 'end_call' });
    expect(model.asked).toHaveLength(1);
  });

  test('without a goodbye has the model say one, with nothing to call', async () => {
    const model = new FakeModel({ calls: [['end_call']] }, { text: 'Goodbye.', calls: [['interested']] });
    const talk = begin(model);
    await talk.conversation.start();
    expect(await talk.conversation.userTurn('Bye')).toMatchObject({ said: ['Goodbye.'], end: 'end_call' });
    expect(model.asked[1]!.tool_choice).toBe('none');
    expect(talk.conversation.state!.nodesVisited).toEqual(['start']);
  });

  test('gives way to an edge of that name', async () => {
    const definition = {
      nodes: [node('start', 'startCall', { greeting: 'Hi' }), node('over', 'endCall')],
      edges: [edge('start', 'over', { label: 'End call', condition: 'all is said' })],
    };
    const model = new FakeModel({ calls: [['end_call']] }, 'Bye.');
    const talk = begin(model, { definition });
    await talk.conversation.start();
    expect(await talk.conversation.userTurn('Bye')).toMatchObject(ended);
    expect(model.asked[0]!.tools!.map(({ name, description }) => [name, description])).toEqual([['end_call', 'all is said']]);
  });
});

describe('the end', () => {
  test('has one reason: the first', async () => {
    const talk = begin(new FakeModel({ text: 'Bye.', calls: [['end_call']] }));
    await talk.conversation.start();
    expect(talk.conversation.end('hung_up')).toBe('hung_up');
    expect(talk.conversation.end('stopped')).toBe('hung_up');
    expect(await talk.conversation.userTurn('Bye')).toMatchObject({ status: 'ignored', end: 'hung_up' });
    expect(talk.events('ended')).toEqual([{ reason: 'hung_up' }]);
    expect(talk.conversation.nextGuardAt).toBe(Infinity);
  });
});

describe('a model that fails', () => {
  const failing: Answer = { failure: 'provider_failed' };
  const speak = async (...answers: Answer[]) => {
    const model = new FakeModel(...answers);
    const talk = begin(model);
    await talk.conversation.start();
    return { ...talk, model, outcome: await talk.conversation.userTurn('Tell me more') };
  };

  test('is asked once more', async () => {
    const { outcome, model } = await speak(failing, 'It is spring.');
    expect(outcome).toMatchObject({ said: ['It is spring.'], end: null });
    expect(model.asked).toHaveLength(2);
  });

  test('twice ends the call with an apology', async () => {
    const failure = { failure: 'provider_failed', message: 'It is provider_failed' };
    const { outcome, model, conversation, events } = await speak(failing);
    expect(outcome).toMatchObject({ status: 'answered', said: [defaultPhrases.apology], end: 'error' });
    expect([model.asked.length, conversation.state!.owesAnswer]).toEqual([2, false]);
    expect(events('model_failed')).toEqual([failure, failure]);
  });

  test('for good is not asked again', async () => {
    const { outcome, model } = await speak({ failure: 'invalid_credentials', retryable: false });
    expect([outcome.end, model.asked.length]).toEqual(['error', 1]);
  });

  test('in the middle of its words goes on from there', async () => {
    const { outcome, model, history } = await speak({ text: 'We are open from', failure: 'provider_failed' }, 'nine to five.');
    expect(outcome.said).toEqual(['We are open from', 'nine to five.']);
    expect(model.asked[1]!.messages.slice(-2)).toEqual([
      { role: 'assistant', content: 'We are open from' },
      { role: 'system', content: expect.stringContaining('cut off') },
    ]);
    expect(history().slice(-2)).toEqual(['assistant: We are open from ...', 'assistant: nine to five.']);
  });

  test('by a defect is no different', async () => {
    const { outcome, events } = await speak({ throws: true });
    expect(outcome.end).toBe('error');
    expect(events('model_failed')[0]).toEqual({ failure: 'provider_failed', message: 'The adapter failed: TypeError' });
  });

  test('at the goodbye leaves a goodbye, and the reason stays', async () => {
    expect((await speak({ calls: [['not_interested']] }, failing)).outcome).toMatchObject({
      said: [defaultPhrases.goodbye],
      end: 'end_node',
    });
  });

  test('because of what was asked goes on with the talk', async () => {
    const { outcome } = await speak({ failure: 'content_filter', retryable: false });
    expect(outcome).toMatchObject({ said: [defaultPhrases.cannot_say], end: null });
  });

  test('waits as long as the provider asks for, within what a person bears', async () => {
    const waits: number[] = [];
    const model = new FakeModel('x');
    const limited = (seconds?: number) => ({
      type: 'failure' as const,
      failure: 'rate_limited' as const,
      message: 'Later',
      retryable: true,
      ...(seconds && { retry_after_seconds: seconds }),
    });
    for (const seconds of [undefined, 1.2, 90]) {
      model.converse = async function* () {
        yield limited(seconds);
      };
      const talk = begin(model, { world: { sleep: async (milliseconds) => void waits.push(milliseconds) } });
      await talk.conversation.start();
      await talk.conversation.userTurn('Hello');
    }
    expect(waits).toEqual([300, 1200, 2000]);
  });
});

describe('a model that says nothing', () => {
  test('is asked once more, then the other side is', async () => {
    const model = new FakeModel({ text: ['  '] });
    const talk = begin(model);
    await talk.conversation.start();
    expect(await talk.conversation.userTurn('Hm')).toMatchObject({ said: [defaultPhrases.please_repeat], end: null });
    expect(model.asked).toHaveLength(2);
    expect(talk.tokens.every(({ token }) => token.trim() !== '' || token === '')).toBe(true);
    expect(talk.store.messages().map(({ fillsSilence }) => fillsSilence)).toEqual([undefined, undefined, true]);
  });

  test('after something was said in this turn, or at the goodbye, does not ask to repeat', async () => {
    const spoken = begin(new FakeModel({ text: 'Good.', calls: [['interested']] }, ''));
    await spoken.conversation.start();
    expect(await spoken.conversation.userTurn('Yes')).toMatchObject({ said: ['Good.'], end: null });
    const leaving = begin(new FakeModel({ calls: [['not_interested']] }, ''));
    await leaving.conversation.start();
    expect(await leaving.conversation.userTurn('No')).toMatchObject({ said: [defaultPhrases.goodbye], end: 'end_node' });
  });
});

describe('a silent or endless talk', () => {
  const start = async (model = new FakeModel('x'), setup = {}) => {
    const talk = begin(model, { setup });
    await talk.conversation.start();
    return talk;
  };

  test('is asked once whether somebody is there, then ended with a goodbye', async () => {
    const { conversation, clock, utterances } = await start();
    clock.now = conversation.nextGuardAt - 1;
    expect(conversation.applyDueGuard()).toMatchObject({ action: 'none', outcome: { status: 'ignored' } });
    clock.now += 1;
    expect(conversation.applyDueGuard()).toMatchObject({ action: 'prompt', outcome: { said: [defaultPhrases.are_you_there], end: null } });
    expect(conversation.applyDueGuard().action).toBe('none');
    clock.now = conversation.nextGuardAt;
    expect(conversation.applyDueGuard()).toMatchObject({ action: 'end_idle', outcome: { end: 'user_idle' } });
    expect(utterances.slice(1)).toEqual([defaultPhrases.are_you_there, defaultPhrases.idle_goodbye]);
    expect(conversation.applyDueGuard().action).toBe('none');
  });

  test('somebody who speaks is asked anew the next time', async () => {
    const { conversation, clock } = await start();
    clock.now = conversation.nextGuardAt;
    conversation.applyDueGuard();
    await conversation.userTurn('Here');
    clock.now = conversation.nextGuardAt;
    expect(conversation.applyDueGuard().action).toBe('prompt');
  });

  test('half a sentence is no silence, and while the agent has to speak there is none', async () => {
    const { conversation, clock } = await start();
    clock.now = conversation.nextGuardAt;
    conversation.applyDueGuard();
    clock.now += 9_000;
    conversation.recordActivity();
    expect(conversation.nextGuardAt).toBe(clock.now + 10_000);
    clock.now = conversation.nextGuardAt;
    expect(conversation.applyDueGuard().action).toBe('prompt');
    const turn = conversation.userTurn('Here');
    conversation.recordActivity();
    expect(conversation.nextGuardAt).toBe(conversation.state!.startedAt + 300_000);
    await turn;
  });

  test('silence counts from when the agent has finished speaking', async () => {
    const { conversation, clock, utterances } = await start(new FakeModel('x'), { millisecondsPerCharacter: 60 });
    expect(conversation.nextGuardAt).toBe(clock.now + utterances[0]!.length * 60 + 10_000);
  });

  test('a call that lasts too long ends, whoever speaks', async () => {
    const { conversation, clock, utterances } = await start(new FakeModel('And another thing?'));
    for (let turn = 0; clock.now < conversation.state!.startedAt + 300_000; turn++) {
      expect(conversation.applyDueGuard().action).toBe('none');
      expect(await conversation.userTurn(`Thing ${turn}`)).toMatchObject({ status: 'answered', end: null });
      clock.now += 9_000;
    }
    expect(conversation.applyDueGuard()).toMatchObject({ action: 'end_duration', outcome: { end: 'max_call_duration' } });
    expect(utterances.at(-1)).toBe(defaultPhrases.time_is_up);
  });
});

test('events have a type, a moment, a node and a payload of bounded size', async () => {
  const { conversation, memory, store } = begin(new FakeModel('a'.repeat(50_000)));
  await conversation.start();
  await conversation.userTurn('Talk');
  for (const event of memory.events)
    expect(event).toEqual({ type: expect.any(String), at: '2026-11-20T09:00:00.000Z', node_id: 'start', payload: expect.any(Object) });
  expect(Math.max(...memory.events.map((event) => JSON.stringify(event).length))).toBeLessThan(9_000);
  expect(store.messages().at(-1)!.text).toHaveLength(50_000);
});

test('the definition of the sales agent is not changed by talking', async () => {
  const before = JSON.stringify(salesAgent);
  const { conversation } = begin(new FakeModel({ calls: [['interested']] }, 'Which day?'));
  await conversation.start();
  await conversation.userTurn('Yes');
  expect(JSON.stringify(salesAgent)).toBe(before);
});
