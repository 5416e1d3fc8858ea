import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { validateGraph } from '../../src/automation-workflows/definitions/definition.ts';
import type { Effects, StepResult, TextAnswer, TextRequest } from '../../src/automation-workflows/nodes/contract.ts';
import { llmNode } from '../../src/automation-workflows/nodes/types/llm.ts';
import { nodeTypes } from '../../src/automation-workflows/nodes/registry.ts';
import { setContextNode } from '../../src/automation-workflows/nodes/types/set-context.ts';
import { buildScope } from '../../src/expressions/templates/scope.ts';
import { chain } from '../support/journeys.ts';

const usage = { prompt_tokens: 12, completion_tokens: 3 };
const now = Date.UTC(2026, 10, 20);

interface Options {
  answer?: TextAnswer;
  scope?: Record<string, unknown>;
  dryRun?: boolean;
}

/** The node's result, and the requests to the language model with their keys. */
async function run(data: object, { answer = { result: 'Hello Ada', model: 'm', usage }, scope = {}, dryRun = false }: Options = {}) {
  const asked: [string, TextRequest][] = [];
  const completeText: Effects['completeText'] = async (key, request) => {
    asked.push([key, request]);
    return answer;
  };
  const result: StepResult = await llmNode.run({
    node: { id: 'ask', type: 'llm', data: data as Record<string, unknown> },
    data: llmNode.dataSchema.parse(data),
    scope: buildScope({ contact: { first_name: 'Ada' } }, scope),
    now,
    enteredAt: now,
    key: '7:ask:1:2',
    mayHaveHappened: false,
    unaskedTries: 0,
    quietHoursStart: null,
    call: { item: 'ask:1:1', until: null },
    dryRun,
    effects: { completeText } as Effects,
    organization: { default_country: 'US', timezone: 'UTC' },
  });
  return { result, asked };
}

const problems = (data: object) =>
  (llmNode.dataSchema.safeParse(data).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n');

const schema = { type: 'object', properties: { mood: { enum: ['good', 'bad'] } }, required: ['mood'], additionalProperties: false };

test('the model is asked the rendered prompt and system under the key of the step, and its answer is the result', async () => {
  const data = {
    prompt: 'Greet {{ contact.first_name }}, who ordered {{ items | json }}',
    system: 'You are {{ tone }}.',
    model: 'gpt-5.4',
  };
  const { result, asked } = await run(data, { scope: { items: ['tea'], tone: 'kind' } });
  expect(asked).toEqual([
    ['7:ask:1:2', { model: 'gpt-5.4', system: 'You are kind.', prompt: 'Greet Ada, who ordered ["tea"]', output_schema: null }],
  ]);
  // Statistics count the tokens, whatever becomes of the output.
  expect(result).toEqual({ kind: 'next', handle: 'default', output: { result: 'Hello Ada', model: 'm', usage }, usage });
});

test('without model and system the default model is asked without instructions, also when they render to nothing', async () => {
  for (const system of [undefined, null, '', '{{ nothing }}'])
    expect((await run({ prompt: 'Hi', system })).asked[0]![1]).toEqual({ model: null, system: null, prompt: 'Hi', output_schema: null });
});

test('save_as writes the result to a variable, JSON as JSON', async () => {
  const answer = { result: { mood: 'good' }, model: 'm', usage };
  const { result, asked } = await run({ prompt: 'Hi', output_schema: schema, save_as: 'feeling' }, { answer });
  expect(asked[0]![1].output_schema).toEqual(schema);
  expect(result).toMatchObject({ kind: 'next', output: { result: { mood: 'good' } }, assign: { feeling: { mood: 'good' } } });
  expect((await run({ prompt: 'Hi' }, { answer })).result).not.toHaveProperty('assign');
});

test('a failure of the model fails the step with the same type and the wait of its Retry-After', async () => {
  const limited = { failure: 'rate_limited', message: 'Later', retryable: true, retry_after_seconds: 90 };
  expect((await run({ prompt: 'Hi' }, { answer: limited })).result).toEqual({
    kind: 'fail',
    type: 'rate_limited',
    message: 'Later',
    retryable: true,
    retryAfterSeconds: 90,
  });
  const refused = { failure: 'refused', message: 'No', retryable: false };
  expect((await run({ prompt: 'Hi' }, { answer: refused })).result).toEqual({
    kind: 'fail',
    type: 'refused',
    message: 'No',
    retryable: false,
  });
});

test('a prompt that renders to nothing fails without a request', async () => {
  const { result, asked } = await run({ prompt: ' {{ nothing }} ' });
  expect(result).toMatchObject({ kind: 'fail', type: 'invalid_request', retryable: false });
  expect(asked).toEqual([]);
});

test('a dry run shows the request and sends nothing', async () => {
  const { result, asked } = await run({ prompt: 'Hi {{ contact.first_name }}', save_as: 'x' }, { dryRun: true });
  expect(result).toEqual({
    kind: 'next',
    handle: 'default',
    output: { simulated: true, request: { model: null, system: null, prompt: 'Hi Ada', output_schema: null } },
  });
  expect(asked).toEqual([]);
  expect(llmNode.isSideEffect).toBe(true);
});

test('invalid data is refused with its path', () => {
  expect(problems({})).toContain('prompt:');
  expect(problems({ prompt: '' })).toContain('prompt:');
  expect(problems({ prompt: 'x', temperature: 1 })).toBe('');
  expect(problems({ prompt: 'x', model: ' ' })).toContain('model:');
  expect(problems({ prompt: 'x', output_schema: { type: 'objekt' } })).toContain('output_schema.type: Must be one of');
  expect(problems({ prompt: 'x', output_schema: { type: 'array' } })).toContain(
    'output_schema.type: The root of output_schema must have "type": "object"',
  );
  expect(problems({ prompt: 'x', output_schema: { type: 'object', properties: { a: { $ref: '#/$defs/b' } } } })).toContain(
    'output_schema.properties.a.$ref:',
  );
  for (const name of ['contact', '__proto__', '9a']) expect(problems({ prompt: 'x', save_as: name }), name).toContain('save_as:');
  expect(problems({ prompt: 'x', output_schema: schema, save_as: 'mood', system: null })).toBe('');
});

test('a template that does not parse is found when the graph is checked', () => {
  const issues = validateGraph(
    chain({ id: 'ask', type: 'llm', data: { prompt: 'Hi {{ contact.first_name', system: '{% if %}' } }),
    nodeTypes,
  );
  expect(issues.map(({ loc }) => loc.join('.'))).toEqual([
    'body.definition.nodes.ask.data.prompt',
    'body.definition.nodes.ask.data.system',
  ]);
});

test('save_as takes the names that set_context takes, and no others', () => {
  // A record loses the key __proto__ before set_context sees it.
  const name = fc
    .oneof(fc.string(), fc.constantFrom('contact', 'now', 'a-b', '_x', '9a', 'größe', 'constructor'))
    .filter((text) => text !== '__proto__');
  fc.assert(
    fc.property(name, (saveAs) => {
      const isTaken = setContextNode.dataSchema.safeParse({ assign: Object.fromEntries([[saveAs, 1]]) }).success;
      expect(llmNode.dataSchema.safeParse({ prompt: 'x', save_as: saveAs }).success).toBe(isTaken);
    }),
  );
});
