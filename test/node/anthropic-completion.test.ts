import { describe, expect, test } from 'vitest';
import { refusal, startAnthropic } from './anthropic-world.ts';

const closed = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const days = { schema: closed({ days: { type: 'array', items: { type: 'string' } } }), validate: () => null };
const bounded = { schema: closed({ guests: { type: 'integer', minimum: 1, maximum: 9 } }), validate: () => null };
const message = (content: object[], more: object = {}) => ({
  body: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content, stop_reason: 'end_turn', usage: {}, ...more },
});

describe('an answer', () => {
  test('is the text, the model and what it cost; the request has what the API requires', async () => {
    const { ask, requests } = await startAnthropic();
    expect(await ask('Are you open?', { system: 'We are open from nine to five.' })).toEqual({
      text: 'We are open from nine to five.',
      model: 'claude-haiku-4-5',
      usage: { prompt_tokens: expect.any(Number), completion_tokens: expect.any(Number) },
    });
    const [request] = await requests();
    expect(request).toMatchObject({ method: 'POST', path: '/v1/messages', headers: { 'anthropic-version': '2023-06-01' } });
    expect(request.body).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 4096,
      system: 'We are open from nine to five.',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Are you open?' }] }],
    });
  });

  test('counts the parts of the prompt that came from a cache', async () => {
    const { ask, plan } = await startAnthropic();
    const usage = { input_tokens: 5, cache_creation_input_tokens: 20, cache_read_input_tokens: 300, output_tokens: 7 };
    await plan(message([{ type: 'text', text: 'Yes' }], { usage }));
    expect(await ask('Hello')).toMatchObject({ usage: { prompt_tokens: 325, completion_tokens: 7 } });
  });

  test('leaves out parts that are no text, such as thinking', async () => {
    const { ask, plan } = await startAnthropic();
    await plan(
      message([
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'Yes' },
      ]),
    );
    expect(await ask('Hello')).toMatchObject({ text: 'Yes' });
  });

  test.each(['/v1', '/v1/', '/', ''])('comes from an address that ends in "%s", too', async (end) => {
    const { url } = await startAnthropic();
    const { ask } = await startAnthropic({ baseUrl: `${url}/anthropic${end}` });
    expect(await ask('Hello')).toMatchObject({ text: expect.any(String) });
  });
});

describe('an answer by a schema', () => {
  test('is asked for by the output format', async () => {
    const { ask, requests } = await startAnthropic();
    expect(await ask('Tuesday, please', { output: days })).toMatchObject({ json: { days: ['Tuesday'] }, text: '{"days":["Tuesday"]}' });
    const [{ body }] = await requests();
    expect(body.output_config).toEqual({ format: { type: 'json_schema', schema: days.schema } });
    expect(body).not.toHaveProperty('tools');
  });

  test('is asked for by a tool where the format does not take the schema', async () => {
    const { ask, requests } = await startAnthropic();
    expect(await ask('We are 4 guests', { output: bounded })).toMatchObject({ json: { guests: 4 }, text: '{"guests":4}' });
    const [{ body }] = await requests();
    expect(body.tools).toEqual([{ name: 'answer', description: expect.any(String), input_schema: bounded.schema }]);
    expect(body.tool_choice).toEqual({ type: 'tool', name: 'answer' });
    expect(body).not.toHaveProperty('output_config');
  });

  test('an older model, which has no output format, gives it by a tool, and is asked so from then on', async () => {
    const { ask, requests } = await startAnthropic({ model: 'claude-sonnet-4-20250514' });
    for (let times = 0; times < 2; times++)
      expect(await ask('Tuesday, please', { output: days })).toMatchObject({ json: { days: ['Tuesday'] } });
    const asked = (await requests()).map(({ body }) => [body.output_config !== undefined, body.tool_choice?.type]);
    expect(asked).toEqual([
      [true, undefined],
      [false, 'tool'],
      [false, 'tool'],
    ]);
  });

  test('a newer model, which refuses a forced tool, is told to use it', async () => {
    const { ask, requests } = await startAnthropic({ model: 'claude-sonnet-5-5' });
    expect(await ask('Please take 4 guests as the answer', { output: bounded })).toMatchObject({ json: { guests: 4 } });
    const bodies = (await requests()).map(({ body }) => body);
    expect(bodies.map(({ tool_choice }) => tool_choice.type)).toEqual(['tool', 'auto']);
    expect(bodies[1].system).toContain('calling the tool "answer"');
  });

  test('keeps whole numbers beyond 2^53 to the digit', async () => {
    const { ask, plan } = await startAnthropic();
    const whole =
      '{"content":[{"type":"tool_use","id":"t","name":"answer","input":{"order":6012345678901234567}}],"stop_reason":"tool_use"}';
    await plan({ body: whole, headers: { 'content-type': 'application/json' } });
    expect(await ask('x', { output: bounded })).toMatchObject({ json: { order: '6012345678901234567' } });
  });

  test('that does not fit is a failure that says where', async () => {
    const { ask } = await startAnthropic();
    expect(await ask('Tuesday', { output: { ...days, validate: (answer) => `saw ${JSON.stringify(answer)}` } })).toEqual({
      failure: 'invalid_output',
      message: 'The answer does not fit the output schema: saw {"days":["Tuesday"]}',
      retryable: true,
    });
  });
});

describe('thinking is as low as the model allows, for a person waits:', () => {
  test.each([
    ['claude-haiku-4-5', undefined, undefined, 100],
    ['claude-sonnet-5', { type: 'disabled' }, undefined, 100],
    ['claude-sonnet-5-20260301', { type: 'disabled' }, undefined, 100],
    ['claude-opus-5', { type: 'disabled' }, undefined, 100],
    ['claude-sonnet-5-5', { type: 'between_tools' }, undefined, 100],
    ['claude-haiku-5-5', { type: 'between_tools' }, undefined, 100],
    ['claude-opus-5-5', undefined, { effort: 'low' }, 4100],
    ['claude-fable-5-1', undefined, { effort: 'low' }, 4100],
  ])('%s', async (model, thinking, config, maxTokens) => {
    const { ask, requests } = await startAnthropic({ model });
    expect(await ask('Hello', { max_tokens: 100 })).toMatchObject({ model });
    const [{ body }, ...more] = await requests();
    expect([body.thinking, body.output_config, body.max_tokens, more]).toEqual([thinking, config, maxTokens, []]);
  });

  test('a model that refuses the setting is asked again without, and without from then on', async () => {
    const { ask, plan, requests } = await startAnthropic({ model: 'claude-sonnet-5-9' });
    const body = refusal('invalid_request_error', 'thinking.type: "between_tools" is not supported');
    await plan({ status: 400, body });
    for (let times = 0; times < 2; times++) expect(await ask('Hello')).toMatchObject({ text: expect.any(String) });
    expect((await requests()).map(({ body: sent }) => sent.thinking)).toEqual([{ type: 'between_tools' }, undefined, undefined]);
  });
});

describe('a failure', () => {
  const cases: [string, object, object][] = [
    [
      'a key that is not known',
      { status: 401, body: refusal('authentication_error') },
      { failure: 'invalid_credentials', retryable: false },
    ],
    ['a key that may not', { status: 403, body: refusal('permission_error') }, { failure: 'invalid_credentials', retryable: false }],
    ['an unpaid account', { status: 402, body: refusal('billing_error') }, { failure: 'insufficient_quota', retryable: false }],
    [
      'an empty account',
      { status: 400, body: refusal('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.') },
      { failure: 'insufficient_quota', retryable: false, message: expect.stringContaining('api_key') },
    ],
    [
      'an unknown model',
      { status: 404, body: refusal('not_found_error', 'model: claude-haiku-4-5') },
      { failure: 'model_not_found', message: expect.stringContaining('"claude-haiku-4-5"') },
    ],
    [
      'an address without the API',
      { status: 404, body: '<html>nothing here</html>' },
      { failure: 'invalid_request', message: expect.stringContaining('base_url') },
    ],
    [
      'too long a prompt',
      { status: 400, body: refusal('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum') },
      { failure: 'context_length_exceeded', retryable: false },
    ],
    ['too large a request', { status: 413, body: refusal('request_too_large') }, { failure: 'context_length_exceeded', retryable: false }],
    [
      'a parameter that is not taken',
      { status: 400, body: refusal('invalid_request_error', 'metadata: Extra inputs are not permitted') },
      { failure: 'invalid_request', message: 'The language model provider refuses the request with status 400' },
    ],
    [
      'a redirect, which would carry the key elsewhere',
      { status: 307, headers: { location: 'https://elsewhere.example.com/' }, body: '' },
      { failure: 'invalid_request', retryable: false },
    ],
    ['a refusal', message([], { stop_reason: 'refusal' }), { failure: 'refused', retryable: false }],
    [
      'an answer that is cut off',
      message([{ type: 'text', text: '{"days":["Tu' }], { stop_reason: 'max_tokens' }),
      { failure: 'output_truncated', retryable: false },
    ],
    ['an empty answer', message([]), { failure: 'invalid_output', retryable: true }],
    [
      'an answer that is no JSON',
      message([{ type: 'text', text: 'Tuesday' }]),
      { failure: 'invalid_output', retryable: true, message: expect.stringContaining('no JSON') },
    ],
  ];

  test.each(cases)('%s is reported by its kind, once, without the key and the prompt', async (_case, fault, expected) => {
    const { ask, plan, requests, waits } = await startAnthropic();
    await plan({ times: 5, ...fault });
    const failed = await ask('A canary prompt', { output: days });
    expect(failed).toMatchObject(expected);
    expect(JSON.stringify(failed)).not.toMatch(/canary/);
    expect([(await requests()).length, waits]).toEqual([1, []]);
  });

  test("quotes the provider about the author's schema alone, without the key", async () => {
    const { ask, plan } = await startAnthropic();
    await plan({ times: 9, status: 400, body: refusal('invalid_request_error', 'tools.0.custom.input_schema: JSON schema is invalid') });
    const failed = await ask('x', { output: bounded });
    expect(failed).toMatchObject({ failure: 'invalid_request', message: expect.stringContaining('JSON schema is invalid') });
    expect(JSON.stringify(failed)).not.toContain('canary-key');
  });

  test('the simulated vendor itself refuses a bad key and an unknown model', async () => {
    expect(await (await startAnthropic({ apiKey: 'sk-ant-invalid' })).ask('x')).toMatchObject({ failure: 'invalid_credentials' });
    expect(await (await startAnthropic({ model: 'gpt-6-luna' })).ask('x')).toMatchObject({ failure: 'model_not_found' });
    expect(await (await startAnthropic()).ask('SIM_ERROR_429_QUOTA')).toMatchObject({ failure: 'insufficient_quota' });
    expect(await (await startAnthropic()).ask('SIM_ERROR_529')).toMatchObject({ failure: 'provider_failed', retryable: true });
  });

  test('a private address is not called, and the key goes nowhere', async () => {
    const checkHostname = async () => null;
    const { ask, talk, requests } = await startAnthropic({ urlPolicy: { allowedOrigins: [], checkHostname } });
    for (const failed of [await ask('x'), (await talk('x'))[0]!]) {
      expect(failed).toMatchObject({
        failure: 'address_not_allowed',
        retryable: false,
        message: expect.stringMatching(/^base_url may not be called: .*loopback/),
      });
      expect(JSON.stringify(failed)).not.toContain('canary');
    }
    const named = await startAnthropic({
      urlPolicy: { allowedOrigins: [], checkHostname: async () => 'it leads to 10.0.0.7' },
      baseUrl: 'https://models.example.com',
    });
    expect(await named.ask('x')).toMatchObject({ failure: 'address_not_allowed', message: expect.stringContaining('10.0.0.7') });
    expect(await requests()).toEqual([]);
  });
});

describe('what may pass is tried again', () => {
  test.each([
    ['a rate limit', { status: 429, body: refusal('rate_limit_error') }],
    ['an overload', { status: 529, body: refusal('overloaded_error') }],
    ['an error of the server', { status: 500, body: refusal('api_error') }],
    ['a connection that breaks', { drop_response: true }],
    ['an answer that is no message', { body: { hello: 'there' } }],
    ['an answer that breaks off', { body: '{"content":', headers: { 'content-type': 'application/json' } }],
  ])('%s: twice, after half a second and a whole one, of which half is random', async (_case, fault) => {
    const { ask, plan, requests, waits } = await startAnthropic();
    await plan({ times: 2, ...fault });
    expect(await ask('Hello')).toMatchObject({ text: expect.any(String) });
    expect([(await requests()).length, waits]).toEqual([3, [250, 500]]);
  });

  test('as often as the request says', async () => {
    const { ask, plan, requests } = await startAnthropic();
    await plan({ times: 9, status: 529, body: refusal('overloaded_error') });
    expect(await ask('Hello', { max_attempts: 1 })).toEqual({
      failure: 'provider_failed',
      message: 'The language model provider is overloaded',
      retryable: true,
    });
    expect(await requests()).toHaveLength(1);
  });

  test('after as long as the provider asks for, or by the caller when that is too long', async () => {
    const { ask, plan, waits } = await startAnthropic();
    await plan({ status: 429, body: refusal('rate_limit_error'), headers: { 'retry-after': '3' } });
    expect(await ask('Hello')).toMatchObject({ text: expect.any(String) });
    expect(waits).toEqual([3000]);
    await plan({ status: 429, body: refusal('rate_limit_error'), headers: { 'retry-after': '3600' } });
    expect(await ask('Hello')).toMatchObject({ failure: 'rate_limited', retryable: true, retry_after_seconds: 3600 });
  });

  test('a provider that does not answer in time is given up', async () => {
    const { ask, plan } = await startAnthropic();
    await plan({ delay_ms: 2_000 });
    expect(await ask('Hello', { timeout_seconds: 0.05 })).toEqual({
      failure: 'provider_failed',
      message: 'The language model provider gave no answer within 0.05 seconds',
      retryable: true,
    });
  });
});
