import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/library/json/json.ts';
import type { CompletionFailure, CompletionRequest } from '../../src/providers/language-model/contract.ts';
import { isStrictSchema } from '../../src/providers/language-model/strict-schema.ts';
import { defaultDispositions, readDispositionCodes } from '../../src/voice-agents/conversation/conclude.ts';
import { toGatheredContext } from '../../src/voice-agents/conversation/conversation-context.ts';
import { begin, type Options } from './begin.ts';
import { type Answer, FakeModel, settle, usage } from './fake-model.ts';

const variables = [
  { name: 'preferred_day', prompt: 'the day they want' },
  { name: 'people', type: 'number' },
  { name: 'is_member', type: 'boolean' },
];
const agent = (nextPrompt: string) => ({
  nodes: [
    {
      id: 'start',
      type: 'startCall',
      data: {
        prompt: 'Ask.',
        greeting: 'Hi',
        extraction_enabled: true,
        extraction_prompt: 'Listen to {{ first_name }}',
        extraction_variables: variables,
      },
    },
    { id: 'next', type: 'agentNode', data: { prompt: nextPrompt } },
    { id: 'unvisited', type: 'agentNode', data: { prompt: 'x', extraction_enabled: true, extraction_variables: [{ name: 'shoe_size' }] } },
  ],
  edges: [
    { id: 'a', source: 'start', target: 'next', data: { label: 'on', condition: 'on' } },
    { id: 'b', source: 'next', target: 'unvisited', data: { label: 'off', condition: 'off' } },
  ],
});
const on: Answer = { calls: [['on']] };
const failed = (retryable: boolean): CompletionFailure => ({ failure: 'provider_failed', message: 'It failed', retryable });

async function leaveNode(nextPrompt: string, options: Options & { answer?: (request: CompletionRequest) => object } = {}) {
  const model = new FakeModel(on, 'Here.');
  model.completeWith = (options.answer ?? (() => ({ preferred_day: 'Tuesday', people: 4, is_member: null }))) as never;
  const talk = begin(model, { definition: agent(nextPrompt), world: { sleep: () => new Promise(() => {}) }, ...options });
  await talk.conversation.start();
  const outcome = await talk.conversation.userTurn('Tuesday, four of us');
  return { ...talk, model, outcome };
}

describe('extraction', () => {
  test('when a node is left takes its variables from the talk, and keeps those that were said', async () => {
    const { model, conversation, events } = await leaveNode('Go on.');
    await settle();
    expect(model.completions).toHaveLength(1);
    expect(model.completions[0]).toMatchObject({
      system: expect.stringMatching(/\n\nListen to Ada$/),
      messages: [{ role: 'user', content: 'Agent: Hi\nPerson: Tuesday, four of us' }],
      output: {
        schema: {
          type: 'object',
          properties: {
            preferred_day: { type: ['string', 'null'], description: 'the day they want' },
            people: { type: ['number', 'null'] },
            is_member: { type: ['boolean', 'null'] },
          },
          required: ['preferred_day', 'people', 'is_member'],
          additionalProperties: false,
        },
      },
    });
    expect(isStrictSchema(model.completions[0]!.output!.schema)).toBe(true);
    expect(conversation.state!.extracted).toEqual({ preferred_day: 'Tuesday', people: 4 });
    expect(toGatheredContext(conversation.state!)).toEqual({
      preferred_day: 'Tuesday',
      people: 4,
      call_disposition: null,
      call_tags: [],
      nodes_visited: ['start', 'next'],
      extracted_variables: { preferred_day: 'Tuesday', people: 4 },
    });
    expect(events('extracted')).toEqual([{ variables: { preferred_day: 'Tuesday', people: 4 } }]);
    expect(conversation.state!.usage.prompt_tokens).toBe(3 * usage.prompt_tokens);
  });

  test('is waited for when the next prompt tells of it', async () => {
    const { model } = await leaveNode('They want {{ preferred_day | default: "no day" }}, {{ gathered_context.people }} people.');
    expect(model.asked[1]!.system).toBe('They want Tuesday, 4 people.');
  });

  test('is waited for when the next prompt tells of all that was gathered', async () => {
    const { model } = await leaveNode('Known: {{ gathered_context.extracted_variables | json }}');
    expect(model.asked[1]!.system).toBe('Known: {"preferred_day":"Tuesday","people":4}');
  });

  test('adds to what was taken before, and a later word counts', async () => {
    const data = (prompt: string, ...names: string[]) => ({
      prompt,
      extraction_enabled: true,
      extraction_variables: names.map((name) => ({ name })),
    });
    const edge = (source: string, target: string) => ({ id: source, source, target, data: { label: 'on', condition: 'on' } });
    const definition = {
      nodes: [
        { id: 'start', type: 'startCall', data: { ...data('Ask.', 'day', 'name'), greeting: 'Hi' } },
        { id: 'next', type: 'agentNode', data: data('Ask.', 'day', 'people') },
        { id: 'last', type: 'agentNode', data: { prompt: 'x' } },
      ],
      edges: [edge('start', 'next'), edge('next', 'last')],
    };
    const model = new FakeModel(on, 'Sure?', on, 'Fine.');
    model.completeWith = ({ output }) =>
      'name' in (output!.schema['properties'] as object) ? ({ day: 'Monday', name: 'Ada' } as Json) : { day: 'Tuesday', people: null };
    const { conversation } = begin(model, { definition });
    await conversation.start();
    for (const line of ['Ada, Monday', 'No, Tuesday']) {
      await conversation.userTurn(line);
      await settle();
    }
    expect(conversation.state!.extracted).toEqual({ day: 'Tuesday', name: 'Ada' });
  });

  test('is not waited for when it does not, nor for ever', async () => {
    const never = new Promise<never>(() => {});
    const model = new FakeModel(on, 'Here.');
    model.complete = () => never;
    for (const [prompt, sleep] of [
      ['Go on.', () => never],
      ['They want {{ preferred_day }}.', async () => {}],
    ] as const) {
      const { conversation } = begin(model, { definition: agent(prompt), world: { sleep } });
      await conversation.start();
      expect(await conversation.userTurn('Tuesday')).toMatchObject({ said: ['Here.'] });
    }
  });

  test('that fails leaves the talk alone', async () => {
    const { outcome, events, conversation } = await leaveNode('They want {{ preferred_day }}.', { answer: () => failed(true) });
    expect(outcome.said).toEqual(['Here.']);
    expect(events('extraction_failed')).toEqual([{ failure: 'provider_failed', message: 'It failed' }]);
    expect(conversation.state!.extracted).toEqual({});
  });
});

describe('the conclusion', () => {
  const result = { disposition: 'interested', tags: ['spring'], summary: 'They want Tuesday.', sentiment: 'positive' };
  const conclude = async (answer: (request: CompletionRequest) => object, options: Options = {}) => {
    const talk = await leaveNode('Go on.', options);
    await settle();
    talk.model.completeWith = answer as never;
    talk.conversation.end('hung_up');
    return talk;
  };

  test('has disposition, tags, summary and sentiment, and takes the variables of visited nodes once more', async () => {
    const { conversation, model, events } = await conclude(() => ({
      ...result,
      extracted_variables: { preferred_day: 'Wednesday', people: null, is_member: true },
    }));
    expect(await conversation.conclude()).toEqual(result);
    const { properties } = model.completions.at(-1)!.output!.schema as { properties: Record<string, any> };
    expect(Object.keys(properties)).toEqual(['disposition', 'summary', 'sentiment', 'tags', 'do_not_call_quote', 'extracted_variables']);
    expect(properties['disposition'].enum).toEqual([...Object.keys(defaultDispositions), 'do_not_call']);
    expect(Object.keys(properties['extracted_variables'].properties)).toEqual(['preferred_day', 'people', 'is_member']);
    expect(isStrictSchema(model.completions.at(-1)!.output!.schema)).toBe(true);
    expect(conversation.state!.extracted).toEqual({ preferred_day: 'Wednesday', people: 4, is_member: true });
    expect(toGatheredContext(conversation.state!)).toMatchObject({
      call_disposition: 'interested',
      call_tags: ['spring'],
      is_member: true,
    });
    expect(events('concluded')).toEqual([result]);
  });

  test('is drawn once, however often it is asked for', async () => {
    const { conversation, model } = await conclude(() => result);
    const asked = model.completions.length;
    expect(await Promise.all([conversation.conclude(), conversation.conclude()])).toEqual([result, result]);
    expect(await conversation.conclude()).toEqual(result);
    expect(model.completions.length).toBe(asked + 1);
  });

  test('offers the codes of the agent, and always that nobody is to be called again', async () => {
    const { conversation, model } = await conclude(() => result, { setup: { dispositionCodes: { sold: 'They buy', lost: '' } } });
    await conversation.conclude();
    const { properties } = model.completions.at(-1)!.output!.schema as { properties: Record<string, any> };
    expect(properties['disposition']).toEqual({
      type: 'string',
      enum: ['sold', 'lost', 'do_not_call'],
      description: 'sold: They buy. lost. do_not_call: They ask not to be called again',
    });
  });

  test('of a talk in which nobody spoke asks no model', async () => {
    const model = new FakeModel('x');
    const { conversation } = begin(model);
    await conversation.start();
    conversation.end('hung_up');
    expect(await conversation.conclude()).toEqual({ disposition: null, tags: [], summary: null, sentiment: null });
    expect(model.completions).toEqual([]);
  });

  test('that may be had later is handed back to be tried again, until it is given up', async () => {
    const { conversation, model } = await conclude(() => failed(true));
    expect(await conversation.conclude()).toMatchObject({ failure: 'provider_failed' });
    expect(conversation.state!.conclusion).toBeNull();
    expect(await conversation.conclude({ giveUp: true })).toMatchObject({ disposition: null, summary: null });
    model.completeWith = () => result;
    expect(await conversation.conclude()).toMatchObject({ disposition: null });
  });

  test('that will never be had is given up at once', async () => {
    const { conversation } = await conclude(() => failed(false));
    expect(await conversation.conclude()).toMatchObject({ disposition: null });
  });

  test('waits for the extractions that are under way', async () => {
    let finish: () => void = () => {};
    const model = new FakeModel(on, 'Here.');
    const first = new Promise<void>((resolve) => (finish = resolve));
    const complete = model.complete.bind(model);
    model.completeWith = ({ output }) => ('summary' in (output!.schema['properties'] as object) ? (result as never) : { people: 4 });
    model.complete = async (request) => {
      if (!('summary' in (request.output!.schema['properties'] as object))) await first;
      return complete(request);
    };
    const { conversation } = begin(model, { definition: agent('Go on.') });
    await conversation.start();
    await conversation.userTurn('Four');
    conversation.end('hung_up');
    const concluded = conversation.conclude();
    await settle();
    expect(conversation.state!.conclusion).toBeNull();
    finish();
    expect(await concluded).toEqual(result);
    expect(conversation.state!.extracted).toEqual({ people: 4 });
  });
});

test('disposition codes are read from what an agent may hold', () => {
  expect(readDispositionCodes({ sold: 'They buy', lost: { label: 'x' } })).toEqual({ sold: 'They buy', lost: '' });
  expect(readDispositionCodes(null)).toEqual({});
});
