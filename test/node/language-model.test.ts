import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../simulators/listen.ts';
import type { CompletionRequest } from '../../src/providers/language-model/contract.ts';
import { createLanguageModel } from '../../src/providers/language-model/language-model.ts';
import type { Runtime } from '../../src/providers/http/runtime.ts';
import { isStrictSchema } from '../../src/providers/language-model/strict-schema.ts';

const key = 'sk-canary-key-4711';
const prompt = 'A canary prompt: are you free on Tuesday?';

interface Options {
  apiKey?: string;
  baseUrl?: string;
  model?: string;
  runtime?: Partial<Runtime>;
}

/** The adapter against the simulated provider, with a clock that only its own waits move. */
async function start({ apiKey = key, baseUrl, model = 'gpt-6-luna', runtime }: Options = {}) {
  const { url, close } = await listen({ port: 0 });
  onTestFinished(close);
  const waits: number[] = [];
  const settings = { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl ?? `${url}/openai/v1`, LANGUAGE_MODEL: model };
  const { complete } = createLanguageModel(settings, {
    fetch: (input, init) => fetch(input, init),
    sleep: async (milliseconds) => void waits.push(milliseconds),
    random: () => 0,
    now: () => waits.reduce((sum, wait) => sum + wait, 0),
    ...runtime,
  });
  const ask = (more: Partial<CompletionRequest> = {}) => complete({ messages: [{ role: 'user', content: prompt }], ...more });
  const plan = async (fault: object) => {
    const body = JSON.stringify({ provider: 'openai', ...fault });
    const { status } = await fetch(`${url}/__sim/faults`, { method: 'POST', body });
    expect(status).toBe(201);
  };
  const requests = async () => ((await (await fetch(`${url}/__sim/requests?provider=openai`)).json()) as { requests: any[] }).requests;
  return { ask, plan, requests, waits };
}

const days = {
  schema: {
    type: 'object',
    properties: { days: { type: 'array', items: { type: 'string' } } },
    required: ['days'],
    additionalProperties: false,
  },
  validate: () => null,
};
const answered = (message: object, finish = 'stop') => ({
  body: { model: 'm', choices: [{ index: 0, finish_reason: finish, message: { role: 'assistant', ...message } }] },
});
const refusal = (code: string | null, message = 'said', more: object = {}) => ({
  error: { message: `${message} ${key} ${prompt}`, type: 'invalid_request_error', param: null, code, ...more },
});

describe('an answer', () => {
  test('is the text, the model and what it cost; the request names model, system and user, and nothing that a model may not know', async () => {
    const { ask, requests } = await start();
    const answer = await ask({ system: 'We are open from nine to five.' });
    expect(answer).toEqual({
      text: 'We are open from nine to five.',
      model: 'gpt-6-luna',
      usage: { prompt_tokens: expect.any(Number), completion_tokens: expect.any(Number) },
    });
    const [request] = await requests();
    expect(request).toMatchObject({ method: 'POST', path: '/v1/chat/completions' });
    expect(request.body).toEqual({
      model: 'gpt-6-luna',
      messages: [
        { role: 'system', content: 'We are open from nine to five.' },
        { role: 'user', content: prompt },
      ],
    });
  });

  test('comes from the model that the request names, at most max_tokens long', async () => {
    const { ask, requests } = await start();
    expect(await ask({ model: 'gpt-5.4', max_tokens: 100 })).toMatchObject({ model: 'gpt-5.4' });
    expect((await requests())[0].body).toMatchObject({ model: 'gpt-5.4', max_completion_tokens: 100 });
  });

  test('by schema is parsed, and strict mode is asked for exactly when the schema allows it', async () => {
    const { ask, requests } = await start();
    expect(await ask({ output: days })).toMatchObject({ json: { days: ['Tuesday'] }, text: '{"days":["Tuesday"]}' });
    const open = { ...days, schema: { type: 'object', properties: days.schema.properties } };
    expect(await ask({ output: open })).toMatchObject({ json: { days: ['Tuesday'] } });
    const formats = (await requests()).map(({ body }) => body.response_format);
    expect(formats).toEqual([
      { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: days.schema } },
      { type: 'json_schema', json_schema: { name: 'answer', strict: false, schema: open.schema } },
    ]);
  });

  test('keeps whole numbers beyond 2^53 to the digit', async () => {
    const { ask, plan } = await start();
    await plan(answered({ content: '{"order":6012345678901234567}' }));
    expect(await ask({ output: days })).toMatchObject({ json: { order: '6012345678901234567' } });
  });
});

describe('a failure', () => {
  const cases: [string, object, object][] = [
    ['a key that is not known', { status: 401, body: refusal('invalid_api_key') }, { failure: 'invalid_credentials', retryable: false }],
    [
      'a country that is not served',
      { status: 403, body: refusal('unsupported_country_region_territory') },
      { failure: 'invalid_credentials', message: expect.stringContaining('(unsupported_country_region_territory)') },
    ],
    [
      'an empty account',
      { status: 429, headers: { 'retry-after': '1' }, body: refusal('insufficient_quota', '', { type: 'insufficient_quota' }) },
      { failure: 'insufficient_quota', retryable: false },
    ],
    [
      'an unknown model',
      { status: 404, body: refusal('model_not_found') },
      { failure: 'model_not_found', message: expect.stringContaining('"gpt-6-luna"') },
    ],
    [
      'an address without chat completions',
      { status: 404, body: '<html>nothing here</html>' },
      { failure: 'invalid_request', message: expect.stringContaining('OPENAI_BASE_URL') },
    ],
    [
      'too long a prompt',
      { status: 400, body: refusal('context_length_exceeded') },
      { failure: 'context_length_exceeded', retryable: false },
    ],
    ['a prompt that is filtered', { status: 400, body: refusal('content_filter') }, { failure: 'content_filter', retryable: false }],
    [
      'a parameter that is not taken',
      { status: 400, body: refusal('unsupported_value', 'x', { param: 'temperature' }) },
      {
        failure: 'invalid_request',
        message: 'The language model provider refuses the request with status 400 (unsupported_value, temperature)',
      },
    ],
    [
      'a redirect, which would carry the key elsewhere',
      { status: 307, headers: { location: 'https://elsewhere.example.com/' }, body: '' },
      { failure: 'invalid_request', retryable: false },
    ],
    ['a refusal', answered({ content: null, refusal: 'No.' }), { failure: 'refused', retryable: false }],
    ['an answer that is filtered', answered({ content: 'He' }, 'content_filter'), { failure: 'content_filter', retryable: false }],
    ['an answer that is cut off', answered({ content: '{"days":["Tu' }, 'length'), { failure: 'output_truncated', retryable: false }],
    ['an empty answer', answered({ content: '' }), { failure: 'invalid_output', retryable: true }],
    [
      'an answer that is no JSON',
      answered({ content: 'Tuesday' }),
      { failure: 'invalid_output', retryable: true, message: expect.stringContaining('no JSON') },
    ],
  ];

  test.each(cases)('%s is reported by its kind, once, without the key and the prompt', async (_case, fault, expected) => {
    const { ask, plan, requests, waits } = await start();
    await plan({ times: 5, ...fault });
    const failed = await ask({ output: days });
    expect(failed).toMatchObject(expected);
    expect(JSON.stringify(failed)).not.toMatch(/canary/);
    expect([(await requests()).length, waits]).toEqual([1, []]);
  });

  test('an answer that does not fit says where', async () => {
    const { ask } = await start();
    expect(await ask({ output: { ...days, validate: (answer) => `saw ${JSON.stringify(answer)}` } })).toEqual({
      failure: 'invalid_output',
      message: 'The answer does not fit the output schema: saw {"days":["Tuesday"]}',
      retryable: true,
    });
  });

  test("quotes the provider about the author's schema alone, without the key", async () => {
    const { ask, plan } = await start();
    const error = { message: `Invalid schema: bad key ${key}`, type: 'invalid_request_error', param: 'response_format', code: null };
    await plan({ status: 400, body: { error } });
    expect(await ask({ output: days })).toMatchObject({
      failure: 'invalid_request',
      message: expect.stringMatching(/\(response_format\): .*Invalid schema: bad key \*\*\*\*$/),
    });
  });

  test('without a key nothing is asked, and the variable is named', async () => {
    const { ask, requests } = await start({ apiKey: '' });
    expect(await ask()).toMatchObject({ failure: 'not_configured', retryable: false, message: expect.stringContaining('OPENAI_API_KEY') });
    expect(await requests()).toEqual([]);
  });

  test('the simulated provider itself refuses a bad key and an unknown model', async () => {
    expect(await (await start({ apiKey: 'sk-invalid' })).ask()).toMatchObject({ failure: 'invalid_credentials' });
    expect(await (await start({ model: 'llama' })).ask()).toMatchObject({ failure: 'model_not_found' });
  });
});

describe('what may pass is tried again', () => {
  test.each([
    ['a rate limit', { status: 429, body: refusal('rate_limit_exceeded') }],
    ['an error of the server', { status: 503, body: 'overloaded' }],
    ['a connection that breaks', { drop_response: true }],
    ['an answer that is no completion', { body: { hello: 'there' } }],
    ['an answer that breaks off', { body: '{"choices":', headers: { 'content-type': 'application/json' } }],
  ])('%s: twice, after half a second and a whole one, of which half is random', async (_case, fault) => {
    const { ask, plan, requests, waits } = await start();
    await plan({ times: 2, ...fault });
    expect(await ask()).toMatchObject({ text: expect.any(String) });
    expect([(await requests()).length, waits]).toEqual([3, [250, 500]]);
  });

  test('but not for ever', async () => {
    const { ask, plan, requests } = await start();
    await plan({ times: 9, status: 500 });
    expect(await ask()).toEqual({
      failure: 'provider_failed',
      message: 'The language model provider failed with status 500',
      retryable: true,
    });
    expect(await requests()).toHaveLength(3);
  });

  test('after as long as the provider asks for: Retry-After in seconds, as a date, or its own in milliseconds', async () => {
    for (const [headers, wait] of [
      [{ 'retry-after': '3' }, 3000],
      [{ 'retry-after': new Date(4000).toUTCString() }, 4000],
      [{ 'retry-after': '9', 'retry-after-ms': '1200' }, 1200],
    ] as const) {
      const { ask, plan, waits } = await start();
      await plan({ status: 429, body: refusal('rate_limit_exceeded'), headers });
      expect(await ask()).toMatchObject({ text: expect.any(String) });
      expect(waits).toEqual([wait]);
    }
  });

  test('a wait of over five seconds, or one that ends after the time is up, is handed to the caller', async () => {
    const { ask, plan, requests, waits } = await start();
    await plan({ status: 429, body: refusal('rate_limit_exceeded'), headers: { 'retry-after': '86400' } });
    expect(await ask()).toMatchObject({ failure: 'rate_limited', retryable: true, retry_after_seconds: 86_400 });
    await plan({ status: 503, headers: { 'retry-after': '4' } });
    expect(await ask({ timeout_seconds: 4 })).toMatchObject({ failure: 'provider_failed', retry_after_seconds: 4 });
    expect([waits, (await requests()).length]).toEqual([[], 2]);
  });

  test('a provider that does not answer in time is given up', async () => {
    const { ask, plan } = await start();
    await plan({ delay_ms: 2_000 });
    expect(await ask({ timeout_seconds: 0.05 })).toEqual({
      failure: 'provider_failed',
      message: 'The language model provider gave no answer within 0.05 seconds',
      retryable: true,
    });
  });
});

describe('a schema is strict', () => {
  const closed = (properties: Record<string, unknown>, more: object = {}) => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...more,
  });

  test.each([
    ['with everything required and closed', closed({ a: { type: ['string', 'null'] }, b: { enum: [1, 2] } }), true],
    [
      'with references and alternatives',
      closed({ a: { $ref: '#/$defs/x' } }, { $defs: { x: { anyOf: [closed({}), { type: 'null' }] } } }),
      true,
    ],
    ['not when it is open', { type: 'object', properties: {}, required: [] }, false],
    ['not when an inner object is open', closed({ a: { type: 'array', items: { type: 'object', properties: {} } } }), false],
    ['not when a property is optional', closed({ a: { type: 'string' } }, { required: [] }), false],
    ['not when more is required than there is', closed({ a: { type: 'string' } }, { required: ['a', 'b'] }), false],
    ['not when the root is no object', { type: 'array', items: { type: 'string' } }, false],
    ['not when the root chooses', closed({}, { anyOf: [closed({})] }), false],
    ['not when a definition is open', closed({}, { $defs: { x: { type: 'object' } } }), false],
    ['not with keywords that are not supported', closed({ a: { type: 'string', minLength: 1 } }), false],
    ['not with an unknown format', closed({ a: { type: 'string', format: 'uri' } }), false],
    ['not with a lookaround', closed({ a: { type: 'string', pattern: '^(?=a)' } }), false],
    ['not when a place allows anything', closed({ a: {} }), false],
    ['not when an array allows anything', closed({ a: { type: 'array' } }), false],
  ])('%s', (_case, schema, expected) => {
    expect(isStrictSchema(schema)).toBe(expected);
  });

  test('never when the simulated provider would refuse it as strict', async () => {
    const keyword = fc.constantFrom<object>(
      { type: 'string' },
      { type: 'object' },
      { additionalProperties: false },
      { required: ['a'] },
      { properties: { a: { type: 'number' } } },
      { properties: { a: { type: 'object', properties: {} } } },
      { anyOf: [{ type: 'string' }] },
      { allOf: [] },
      { items: { type: 'string' } },
      { not: {} },
    );
    const { responseSchemaFault } = await import('../../simulators/openai/strict-schema.ts');
    fc.assert(
      fc.property(fc.array(keyword), (keywords) => {
        const schema: Record<string, unknown> = Object.assign({ type: 'object' }, ...keywords);
        return !isStrictSchema(schema) || responseSchemaFault({ name: 'answer', schema, strict: true }) === null;
      }),
    );
  });
});
