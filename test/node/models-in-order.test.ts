import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../simulators/listen.ts';
import type {
  Completion,
  CompletionFailure,
  CompletionRequest,
  ConversationDelta,
  ConversationRequest,
  FailureType,
  LanguageModel,
} from '../../src/providers/language-model/contract.ts';
import { createEndpointModel } from '../../src/providers/language-model/language-model.ts';
import { modelsInOrder, type ModelInOrder } from '../../src/providers/language-model/models-in-order.ts';
import { collect, textOf } from './anthropic-world.ts';

const usage = { prompt_tokens: 1, completion_tokens: 1 };
type Answer = string | { says?: string; failure: FailureType; retryable?: boolean } | 'defect';

/** A model with scripted answers, the last again and again. */
function scripted(...answers: Answer[]) {
  const asked: (ConversationRequest | CompletionRequest)[] = [];
  const next = () => (answers.length > 1 ? answers.shift()! : answers[0]!);
  const failed = ({ failure, retryable = true }: { failure: FailureType; retryable?: boolean }): CompletionFailure => ({
    failure,
    message: `It is ${failure}`,
    retryable,
  });
  const languageModel: LanguageModel = {
    async complete(request): Promise<Completion | CompletionFailure> {
      asked.push(request);
      const answer = next();
      if (answer === 'defect') throw new TypeError('a defect');
      return typeof answer === 'string' ? { text: answer, model: 'answering', usage } : failed(answer);
    },
    async *converse(request): AsyncGenerator<ConversationDelta> {
      asked.push(request);
      const answer = next();
      if (answer === 'defect') throw new TypeError('a defect');
      const said = typeof answer === 'string' ? answer : (answer.says ?? '');
      for (const text of said.match(/\s*\S+/g) ?? []) yield { type: 'text', text };
      if (typeof answer === 'string') yield { type: 'end', tool_calls: [], model: 'answering', usage };
      else yield { type: 'failure', ...failed(answer) };
    },
  };
  return { languageModel, asked };
}

function inOrder(...models: ReturnType<typeof scripted>[]) {
  let now = 0;
  const order: ModelInOrder[] = models.map(({ languageModel }, index) => ({
    id: index + 1,
    name: `Model ${index + 1}`,
    model: `m-${index + 1}`,
    firstTokenSeconds: 2,
    languageModel,
  }));
  const model = modelsInOrder(order, () => now);
  const talk = (more: Partial<ConversationRequest> = {}) =>
    collect(model.converse({ messages: [], ...more }, new AbortController().signal));
  const ask = (more: Partial<CompletionRequest> = {}) => model.complete({ messages: [], ...more });
  return { talk, ask, pass: (milliseconds: number) => (now += milliseconds) };
}

const overloaded = { failure: 'provider_failed' as const };

describe('in a talk', () => {
  test('the first model answers, with little patience as long as another one follows', async () => {
    const [first, second] = [scripted('Hello there'), scripted('Never')];
    const { talk } = inOrder(first, second);
    expect(await talk()).toEqual([
      { type: 'text', text: 'Hello' },
      { type: 'text', text: ' there' },
      { type: 'end', tool_calls: [], model: 'answering', usage, language_model_id: 1 },
    ]);
    expect(first.asked).toEqual([{ messages: [], model: 'm-1', max_attempts: 1, first_token_seconds: 2 }]);
    expect(second.asked).toEqual([]);
  });

  test('a model that fails before its first word is followed by the next, whose patience is the usual', async () => {
    const second = scripted('Hello');
    const { talk } = inOrder(scripted(overloaded), second);
    expect(await talk()).toEqual([
      { type: 'fallback', model: 'Model 1', failure: 'provider_failed', message: 'It is provider_failed' },
      { type: 'text', text: 'Hello' },
      expect.objectContaining({ type: 'end', language_model_id: 2 }),
    ]);
    expect(second.asked).toEqual([{ messages: [], model: 'm-2' }]);
  });

  test('a model that fails in the middle is the last one that is asked, so that nothing is said twice', async () => {
    const second = scripted('Never');
    const { talk } = inOrder(scripted({ says: 'Our hours are', ...overloaded }), second);
    const deltas = await talk();
    expect([textOf(deltas), deltas.at(-1)]).toEqual([
      'Our hours are',
      { type: 'failure', failure: 'provider_failed', message: 'It is provider_failed', retryable: true },
    ]);
    expect(second.asked).toEqual([]);
  });

  test('a judgement about the prompt is not taken to another model', async () => {
    for (const failure of ['refused', 'content_filter'] as const) {
      const second = scripted('Never');
      expect(await inOrder(scripted({ failure, retryable: false }), second).talk()).toMatchObject([{ type: 'failure', failure }]);
      expect(second.asked).toEqual([]);
    }
  });

  test('when all fail, the failure names them, and is transient when one of them is', async () => {
    const bad = { failure: 'invalid_credentials' as const, retryable: false };
    for (const [one, other] of [
      [overloaded, bad],
      [bad, overloaded],
    ] as const)
      expect((await inOrder(scripted(one), scripted(other)).talk()).at(-1)).toEqual({
        type: 'failure',
        failure: 'provider_failed',
        message: `Model 1: It is ${one.failure}; Model 2: It is ${other.failure}`,
        retryable: true,
      });
    expect((await inOrder(scripted(bad), scripted(bad)).talk()).at(-1)).toMatchObject({ failure: 'invalid_credentials', retryable: false });
  });

  test('a defect of an adapter is a failure of its model', async () => {
    expect(textOf(await inOrder(scripted('defect'), scripted('Hello')).talk())).toBe('Hello');
  });

  test('a model that has failed is asked after the others for a minute', async () => {
    const [first, second] = [scripted(overloaded, 'Hello from one'), scripted('Hello from two')];
    const { talk, pass } = inOrder(first, second);
    await talk();
    pass(59_999);
    expect((await talk()).map(({ type }) => type)).not.toContain('fallback');
    expect([first.asked.length, second.asked.length]).toEqual([1, 2]);
    pass(1);
    expect(textOf(await talk())).toBe('Hello from one');
  });

  test('a failure that is about the request moves no model back', async () => {
    const first = scripted({ failure: 'context_length_exceeded', retryable: false }, 'Hello from one');
    const { talk } = inOrder(first, scripted('Hello from two'));
    expect(textOf(await talk())).toBe('Hello from two');
    expect(textOf(await talk())).toBe('Hello from one');
  });

  test('the model that an agent names is asked first, by its name or the name at the provider', async () => {
    for (const model of ['Model 2', 'm-2']) {
      const deltas = await inOrder(scripted('From one'), scripted('From two')).talk({ model });
      expect([deltas.length, textOf(deltas)]).toEqual([3, 'From two']);
    }
  });

  test('a name that no model has is reported once, and the order holds', async () => {
    const { talk } = inOrder(scripted('From one'), scripted('From two'));
    expect((await talk({ model: 'gpt-9' }))[0]).toMatchObject({ type: 'fallback', model: 'gpt-9', failure: 'model_not_found' });
    expect((await talk({ model: 'gpt-9' })).map(({ type }) => type)).toEqual(['text', 'text', 'end']);
  });

  test('what is said is always the words of one model, the first in the order that says any', async () => {
    const answer = fc.oneof(
      fc.constantFrom<Answer>('Good morning', 'Hello there', 'defect'),
      fc.record({
        failure: fc.constantFrom<FailureType>(
          'provider_failed',
          'rate_limited',
          'invalid_credentials',
          'model_not_found',
          'invalid_request',
        ),
        says: fc.constantFrom('', '', 'Half a'),
        retryable: fc.boolean(),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 5 }), async (answers) => {
        const deltas = await inOrder(...answers.map((one) => scripted(one))).talk();
        const saying = answers.map((one) => (one === 'defect' ? '' : typeof one === 'string' ? one : (one.says ?? '')));
        expect(textOf(deltas)).toBe(saying.find((said) => said !== '') ?? '');
        expect(deltas.filter(({ type }) => type === 'end' || type === 'failure')).toHaveLength(1);
        expect(['end', 'failure']).toContain(deltas.at(-1)!.type);
      }),
    );
  });
});

describe('a completion', () => {
  test('comes from the next model when one fails, and says which ones did', async () => {
    const { ask } = inOrder(scripted(overloaded), scripted({ failure: 'invalid_output' }), scripted('{}'));
    expect(await ask()).toEqual({
      text: '{}',
      model: 'answering',
      usage,
      language_model_id: 3,
      fallbacks: [
        { model: 'Model 1', failure: 'provider_failed', message: 'It is provider_failed' },
        { model: 'Model 2', failure: 'invalid_output', message: 'It is invalid_output' },
      ],
    });
  });

  test('shares its time among the models, so that all together take no longer than one', async () => {
    const models = [scripted(overloaded), scripted(overloaded), scripted('{}')];
    await inOrder(...models).ask({ timeout_seconds: 9 });
    expect(models.map(({ asked }) => (asked[0] as CompletionRequest).timeout_seconds)).toEqual([3, 4.5, 9]);
    expect(models.map(({ asked }) => asked[0]!.max_attempts)).toEqual([1, 1, undefined]);
  });

  test('fails when all do', async () => {
    const { ask } = inOrder(scripted('defect'), scripted({ failure: 'model_not_found', retryable: false }));
    expect(await ask()).toMatchObject({
      failure: 'provider_failed',
      retryable: true,
      message: expect.stringMatching(/^Model 1: .*; Model 2: /),
    });
  });
});

describe('with the simulated vendors', () => {
  async function start(first: object, second: object = {}) {
    const { url, close } = await listen({ port: 0 });
    onTestFinished(close);
    const names = { key: 'k', address: 'a', model: 'm' };
    const anthropic = {
      provider: 'anthropic' as const,
      apiKey: 'sk-ant-1',
      baseUrl: `${url}/anthropic`,
      model: 'claude-haiku-4-5',
      names,
      ...first,
    };
    const openai = { provider: 'openai' as const, apiKey: 'sk-1', baseUrl: `${url}/openai/v1`, model: 'gpt-6-luna', names, ...second };
    const order = [anthropic, openai].map((endpoint, index) => ({
      id: index + 1,
      name: endpoint.model,
      model: endpoint.model,
      firstTokenSeconds: 0.2,
      languageModel: createEndpointModel(() => endpoint),
    }));
    const model = modelsInOrder(order, Date.now);
    const talk = () =>
      collect(
        model.converse(
          { system: 'Ask which day suits them.', messages: [{ role: 'user', content: 'What is it?' }] },
          new AbortController().signal,
        ),
      );
    const plan = (fault: object) =>
      fetch(`${url}/__sim/faults`, { method: 'POST', body: JSON.stringify({ provider: 'anthropic', ...fault }) });
    const requests = async () => ((await (await fetch(`${url}/__sim/requests`)).json()) as { requests: any[] }).requests;
    return { talk, plan, requests };
  }

  test.each([
    ['is overloaded', { status: 529, body: { type: 'error', error: { type: 'overloaded_error', message: '' } } }],
    [
      'is at its limit',
      { status: 429, headers: { 'retry-after': '30' }, body: { type: 'error', error: { type: 'rate_limit_error', message: '' } } },
    ],
    ['loses the connection', { drop_response: true }],
    ['is slow with its first token', { delay_ms: 5_000 }],
  ])('a model that %s is asked once, and the other vendor answers in full', async (_case, fault) => {
    const { talk, plan, requests } = await start({});
    await plan(fault);
    const startedAt = Date.now();
    const deltas = await talk();
    expect(Date.now() - startedAt).toBeLessThan(4_000);
    expect(deltas[0]).toMatchObject({ type: 'fallback', model: 'claude-haiku-4-5' });
    expect(textOf(deltas)).toBe('Which day suits you?');
    expect(deltas.at(-1)).toMatchObject({ type: 'end', model: 'gpt-6-luna', language_model_id: 2 });
    expect((await requests()).map(({ provider }) => provider)).toEqual(['anthropic', 'openai']);
    // For a minute the other one is asked first.
    expect(await talk()).toHaveLength(5);
  });

  test.each([
    ['a key that was revoked', { apiKey: 'sk-invalid' }, 'invalid_credentials'],
    ['a model that was withdrawn', { model: 'claude' }, 'model_not_found'],
  ])('%s does not silence the agent', async (_case, first, failure) => {
    const { talk } = await start(first);
    const deltas = await talk();
    expect([deltas[0], textOf(deltas)]).toEqual([expect.objectContaining({ type: 'fallback', failure }), 'Which day suits you?']);
  });
});
