import { onTestFinished, expect, test } from 'vitest';
import { listen } from '../../simulators/listen.ts';

async function start() {
  const { url, close } = await listen({ port: 0 });
  onTestFinished(close);
  const headers = { 'content-type': 'application/json', 'x-api-key': 'sk-ant-1', 'anthropic-version': '2023-06-01' };
  const send = (body: unknown, more: Record<string, string | undefined> = {}) => {
    const all = Object.entries({ ...headers, ...more }).filter(([, value]) => value !== undefined) as [string, string][];
    return fetch(`${url}/anthropic/v1/messages`, {
      method: 'POST',
      headers: all,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  };
  return { url, send };
}

const hello = { model: 'claude-haiku-4-5', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };
const call = (id: string) => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'book', input: {} }] });
const result = (id: string) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] });
const tools = [{ name: 'book', input_schema: { type: 'object' } }];

test('a message has the fields of the vendor', async () => {
  const { send } = await start();
  const response = await send(hello);
  expect(response.headers.get('request-id')).toMatch(/^req_/);
  expect(await response.json()).toEqual({
    id: expect.stringMatching(/^msg_/),
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5',
    content: [{ type: 'text', text: expect.any(String) }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: expect.any(Number),
      output_tokens: expect.any(Number),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
  });
});

test('a stream has the events of the vendor in their order', async () => {
  const { send } = await start();
  const response = await send({ ...hello, stream: true });
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const types = [...(await response.text()).matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, type, data]) => {
    expect(JSON.parse(data!).type).toBe(type);
    return type;
  });
  expect(types.slice(0, 3)).toEqual(['message_start', 'content_block_start', 'ping']);
  expect(types.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
  expect(new Set(types.slice(3, -3))).toEqual(new Set(['content_block_delta']));
});

test.each<[string, object | string, Record<string, string | undefined>, number, string, RegExp]>([
  ['no key', hello, { 'x-api-key': undefined }, 401, 'authentication_error', /x-api-key header is required/],
  ['a bad key', hello, { 'x-api-key': 'sk-invalid' }, 401, 'authentication_error', /invalid x-api-key/],
  ['no version', hello, { 'anthropic-version': undefined }, 400, 'invalid_request_error', /anthropic-version: header is required/],
  ['another content type', hello, { 'content-type': 'text/plain' }, 400, 'invalid_request_error', /Content-Type/],
  ['no JSON', '{"model":', {}, 400, 'invalid_request_error', /not valid JSON/],
  ['no maximum', { ...hello, max_tokens: undefined }, {}, 400, 'invalid_request_error', /^max_tokens: Field required/],
  ['an unknown field', { ...hello, seed: 7 }, {}, 400, 'invalid_request_error', /^seed: Extra inputs are not permitted/],
  ['an unknown model', { ...hello, model: 'gpt-6-luna' }, {}, 404, 'not_found_error', /^model: gpt-6-luna/],
  [
    'a message of the system',
    { ...hello, messages: [{ role: 'system', content: 'x' }] },
    {},
    400,
    'invalid_request_error',
    /^messages\.0\.role/,
  ],
  ['no message', { ...hello, messages: [] }, {}, 400, 'invalid_request_error', /^messages/],
  [
    'the assistant first',
    { ...hello, messages: [{ role: 'assistant', content: 'x' }] },
    {},
    400,
    'invalid_request_error',
    /first message must use the "user" role/,
  ],
  ['an empty text', { ...hello, messages: [{ role: 'user', content: ' ' }] }, {}, 400, 'invalid_request_error', /non-whitespace/],
  [
    'an unanswered call',
    { ...hello, tools, messages: [...hello.messages, call('t1'), { role: 'user', content: 'x' }] },
    {},
    400,
    'invalid_request_error',
    /without `tool_result` blocks.*t1/,
  ],
  ['an answer without a call', { ...hello, tools, messages: [result('t1')] }, {}, 400, 'invalid_request_error', /unexpected `tool_use_id`/],
  [
    'calls without tools',
    { ...hello, messages: [...hello.messages, call('t1'), result('t1')] },
    {},
    400,
    'invalid_request_error',
    /must define tools/,
  ],
  ['a choice without tools', { ...hello, tool_choice: { type: 'none' } }, {}, 400, 'invalid_request_error', /tool_choice/],
  [
    'parameters that are no object',
    { ...hello, tools: [{ name: 'book', input_schema: { type: 'string' } }] },
    {},
    400,
    'invalid_request_error',
    /^tools\.0\.input_schema\.type/,
  ],
  [
    'a forced tool of a new model',
    { ...hello, model: 'claude-opus-5-5', tools, tool_choice: { type: 'any' } },
    {},
    400,
    'invalid_request_error',
    /^tool_choice/,
  ],
  [
    'thinking off where it is always on',
    { ...hello, model: 'claude-opus-5-5', thinking: { type: 'disabled' } },
    {},
    400,
    'invalid_request_error',
    /^thinking/,
  ],
  [
    'an open object in a format',
    { ...hello, output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    {},
    400,
    'invalid_request_error',
    /additionalProperties/,
  ],
  [
    'a format of an old model',
    {
      ...hello,
      model: 'claude-3-haiku-20240307',
      output_config: { format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } } },
    },
    {},
    400,
    'invalid_request_error',
    /^output_config\.format/,
  ],
])('%s is refused in the words of the vendor', async (_case, body, headers, status, type, words) => {
  const { send } = await start();
  const response = await send(body, headers);
  const answer = (await response.json()) as any;
  expect([response.status, answer.type, answer.error?.type]).toEqual([status, 'error', type]);
  expect(answer.error.message).toMatch(words);
  expect(answer.request_id).toMatch(/^req_/);
});

test('other paths and methods are refused', async () => {
  const { url } = await start();
  expect((await fetch(`${url}/anthropic/v1/complete`, { method: 'POST' })).status).toBe(404);
  expect((await fetch(`${url}/anthropic/v1/messages`)).status).toBe(405);
});
