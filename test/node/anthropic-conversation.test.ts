import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Runtime } from '../../src/providers/http/runtime.ts';
import type { ConversationDelta, ConversationMessage, ConversationRequest } from '../../src/providers/language-model/contract.ts';
import { toWireMessages } from '../../src/providers/language-model/anthropic/messages.ts';
import { collect, refusal, sse, startAnthropic, textOf } from './anthropic-world.ts';

const event = (data: { type: string } & Record<string, unknown>) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const started = event({ type: 'message_start', message: { model: 'm-1', usage: { input_tokens: 7, output_tokens: 1 } } });
const said = (text: string) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
const finished = (stop_reason = 'end_turn') => event({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 2 } });
const stopped = event({ type: 'message_stop' });
const ping = event({ type: 'ping' });
const overloaded = event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });

const tools = [
  { name: 'interested', description: 'The person says yes', parameters: { type: 'object', properties: {} } },
  {
    name: 'book',
    description: 'The person names a day',
    parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
  },
];
const kinds = (deltas: ConversationDelta[]) => deltas.map(({ type }) => type);

/** A provider whose answer the test writes chunk by chunk. */
function written(...chunks: (string | 'stall' | 'break')[]): { runtime: Partial<Runtime>; wasCancelled: () => boolean } {
  let cancelled = false;
  const body = () => {
    const left = [...chunks];
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = left.shift();
        if (chunk === 'stall') return new Promise(() => {});
        if (chunk === 'break') return controller.error(new TypeError('terminated'));
        if (chunk === undefined) return controller.close();
        controller.enqueue(new TextEncoder().encode(chunk));
      },
      cancel: () => void (cancelled = true),
    });
  };
  return { runtime: { fetch: async () => new Response(body(), { headers: sse }) }, wasCancelled: () => cancelled };
}

describe('words', () => {
  test('come as the provider sends them, and at the end what they cost', async () => {
    const { talk, requests } = await startAnthropic();
    const deltas = await talk('What is it about?');
    expect(textOf(deltas)).toBe('Which day suits you?');
    expect(kinds(deltas)).toEqual([...Array(4).fill('text'), 'end']);
    expect(deltas.at(-1)).toEqual({
      type: 'end',
      tool_calls: [],
      model: 'claude-haiku-4-5',
      usage: { prompt_tokens: expect.any(Number), completion_tokens: expect.any(Number) },
    });
    expect((await requests())[0].body).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 4096,
      stream: true,
      system: 'Ask which day suits them.',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it about?' }] }],
    });
  });

  test('are counted by the last event; events and parts of unknown types are skipped', async () => {
    const unknown =
      event({ type: 'news', what: 1 }) +
      event({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } });
    const { talk } = await startAnthropic(written(started, ping, unknown, said('Hello'), finished(), stopped));
    expect(await talk('x')).toEqual([
      { type: 'text', text: 'Hello' },
      { type: 'end', tool_calls: [], model: 'm-1', usage: { prompt_tokens: 7, completion_tokens: 2 } },
    ]);
  });

  test('a sentence that was cut at its length ends', async () => {
    const { talk } = await startAnthropic(written(started, said('A long '), finished('max_tokens'), stopped));
    expect(kinds(await talk('x'))).toEqual(['text', 'end']);
  });
});

describe('tool calls', () => {
  test('are joined from their pieces and come at the end', async () => {
    const { talk, requests } = await startAnthropic();
    expect(await talk('Tuesday, please', { tools })).toEqual([
      {
        type: 'end',
        tool_calls: [{ id: expect.stringMatching(/^toolu_/), name: 'book', arguments: '{"day":"Tuesday"}' }],
        model: 'claude-haiku-4-5',
        usage: expect.any(Object),
      },
    ]);
    expect((await requests())[0].body.tools[1]).toEqual({
      name: 'book',
      description: 'The person names a day',
      input_schema: tools[1]!.parameters,
    });
  });

  test('without a piece of arguments have an empty object; one that came whole is whole', async () => {
    const block = (index: number, name: string, input: object) =>
      event({ type: 'content_block_start', index, content_block: { type: 'tool_use', id: `t${index}`, name, input } });
    const { talk } = await startAnthropic(
      written(started, block(0, 'interested', {}), block(1, 'book', { day: 'Monday' }), finished('tool_use'), stopped),
    );
    expect(await talk('x', { tools })).toMatchObject([
      {
        type: 'end',
        tool_calls: [
          { id: 't0', name: 'interested', arguments: '{}' },
          { id: 't1', name: 'book', arguments: '{"day":"Monday"}' },
        ],
      },
    ]);
  });

  test('with their answers they go back, and tool_choice none has the model speak', async () => {
    const { talk, requests } = await startAnthropic();
    const messages: ConversationRequest['messages'] = [
      { role: 'user', content: 'Yes, on Tuesday' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'call_7', name: 'book', arguments: '{"day":"Tuesday"}' }] },
      { role: 'tool', tool_call_id: 'call_7', content: '{"status":"ok"}' },
      { role: 'assistant', content: 'Booked.' },
      { role: 'user', content: 'Yes' },
    ];
    expect(textOf(await talk('', { messages, tools, tool_choice: 'none' }))).not.toBe('');
    const [{ body }] = await requests();
    expect(body.tool_choice).toEqual({ type: 'none' });
    expect(body.messages.slice(1, 3)).toEqual([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_7', name: 'book', input: { day: 'Tuesday' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_7', content: '{"status":"ok"}' }] },
    ]);
  });

  test('of earlier stand in the history of a point without tools', async () => {
    const { talk, requests } = await startAnthropic();
    const messages: ConversationRequest['messages'] = [
      { role: 'assistant', content: 'Hello, this is Acme.' },
      { role: 'user', content: 'Yes' },
      { role: 'assistant', content: 'A moment.', tool_calls: [{ id: 'call_1', name: 'interested', arguments: 'broken {' }] },
      { role: 'tool', tool_call_id: 'call_1', content: '' },
    ];
    expect(kinds(await talk('', { messages })).at(-1)).toBe('end');
    const [{ body }] = await requests();
    expect(body.tools.map(({ name }: any) => name)).toEqual(['interested']);
    expect(body.tool_choice).toEqual({ type: 'none' });
  });
});

test('a model that wants its thoughts back, which are not kept, is told of its calls in words, and from then on', async () => {
  const { talk, plan, requests } = await startAnthropic({ model: 'claude-opus-5-5' });
  await plan({
    status: 400,
    body: refusal('invalid_request_error', 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.'),
  });
  const messages: ConversationRequest['messages'] = [
    { role: 'user', content: 'Yes, on Tuesday' },
    { role: 'assistant', content: 'A moment.', tool_calls: [{ id: 'call_1', name: 'book', arguments: '{"day":"Tuesday"}' }] },
    { role: 'tool', tool_call_id: 'call_1', content: '{"status":"ok"}' },
  ];
  for (let times = 0; times < 2; times++) expect((await talk('', { messages, tools })).at(-1)).toMatchObject({ type: 'end' });
  const [, ...told] = (await requests()).map(({ body }) => body);
  expect(told).toHaveLength(2);
  for (const body of told) {
    expect(body.messages[1].content).toEqual([{ type: 'text', text: 'A moment.\n[Called the tool book with {"day":"Tuesday"}]' }]);
    expect(body.messages[2].content).toEqual([{ type: 'text', text: '[Answer of the tool: {"status":"ok"}]' }]);
    expect([body.output_config, body.tools.length]).toEqual([{ effort: 'low' }, 2]);
  }
});

test('every history is one that the vendor takes: roles alternate, begin and end with the user, and every call is answered', async () => {
  const { talk } = await startAnthropic();
  const text = fc.constantFrom('', ' ', 'Hello', 'Yes, on Tuesday ');
  let next = 0;
  const turn = fc.oneof(
    text.map((content): ConversationMessage[] => [{ role: 'user', content }]),
    text.map((content): ConversationMessage[] => [{ role: 'assistant', content }]),
    text.map((content): ConversationMessage[] => [{ role: 'system', content }]),
    fc.tuple(text, fc.integer({ min: 1, max: 3 })).map(([content, count]): ConversationMessage[] => {
      const ids = Array.from({ length: count }, () => `call_${next++}`);
      return [
        { role: 'assistant', content: content || null, tool_calls: ids.map((id) => ({ id, name: 'book', arguments: '{}' })) },
        ...ids.map((id) => ({ role: 'tool' as const, tool_call_id: id, content: '{"status":"ok"}' })),
      ];
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 8 }), async (turns) => {
      const messages = turns.flat();
      const wire = toWireMessages(messages);
      expect(wire.map(({ role }) => role)).toEqual(wire.map((_, index) => (index % 2 === 0 ? 'user' : 'assistant')));
      expect(wire.at(-1)!.role).toBe('user');
      expect((await talk('', { messages })).at(-1)).toMatchObject({ type: 'end' });
    }),
    { numRuns: 60 },
  );
});

describe('a failure', () => {
  test('is a value like that of a completion, without key and prompt', async () => {
    const { talk, plan } = await startAnthropic();
    await plan({ times: 5, status: 401, body: refusal('authentication_error', 'invalid x-api-key') });
    const deltas = await talk('canary prompt');
    expect(deltas).toEqual([{ type: 'failure', failure: 'invalid_credentials', message: expect.any(String), retryable: false }]);
    expect(JSON.stringify(deltas)).not.toMatch(/canary/);
  });

  test.each([
    ['an error of the server', { status: 500, body: refusal('api_error') }],
    ['an overload', { status: 529, body: refusal('overloaded_error') }],
    ['a rate limit', { status: 429, body: refusal('rate_limit_error'), headers: { 'retry-after': '0' } }],
    ['a lost answer', { drop_response: true }],
    ['a stream that reports an error', { body: started + overloaded, headers: sse }],
    ['a stream without an end', { body: started, headers: sse }],
  ])('%s before the first word is tried once more', async (_case, fault) => {
    const { talk, plan, requests } = await startAnthropic();
    await plan({ times: 1, ...fault });
    expect(kinds(await talk('Hello')).at(-1)).toBe('end');
    await plan({ times: 9, ...fault });
    expect(await talk('Hello')).toMatchObject([{ type: 'failure', retryable: true }]);
    expect(await requests()).toHaveLength(4);
  });

  test.each([
    ['breaks', 'break'],
    ['ends without its end', stopped],
    ['reports an error', overloaded],
    ['is no JSON', 'data: {"type":\n\n'],
    ['is no event of the API', 'data: {"type":7}\n\n'],
  ])('a stream that %s after the first word is not asked again, and keeps what was said', async (_case, last) => {
    let asked = 0;
    const { runtime } = written(started, said('Our hours are '), last);
    const { talk } = await startAnthropic({ runtime: { fetch: (...parameters) => (asked++, runtime.fetch!(...parameters)) } });
    expect(await talk('Hello')).toMatchObject([
      { type: 'text', text: 'Our hours are ' },
      { type: 'failure', failure: 'provider_failed', retryable: true },
    ]);
    expect(asked).toBe(1);
  });

  test('the simulated vendor breaks off in the middle when it is told to', async () => {
    const { talk } = await startAnthropic();
    expect(kinds(await talk('SIM_ERROR_MIDWAY'))).toEqual(['text', 'failure']);
  });

  test('a refusal without a word is one', async () => {
    const { talk } = await startAnthropic(written(started, finished('refusal'), stopped));
    expect(await talk('x')).toMatchObject([{ type: 'failure', failure: 'refused', retryable: false }]);
  });

  test('silence is one, before the first word and between two; pings are no words', async () => {
    for (const chunks of [['stall'], [started, ping, 'stall'], [started, said('Our '), 'stall']]) {
      const { runtime, wasCancelled } = written(...chunks);
      const deltas = await (await startAnthropic({ runtime })).talk('Hello', { silence_seconds: 0.05 });
      expect(deltas.at(-1)).toMatchObject({ failure: 'provider_failed', message: expect.stringContaining('silent for 0.05 seconds') });
      await expect.poll(wasCancelled).toBe(true);
    }
  });

  test('the first token has its own deadline', async () => {
    const { runtime } = written(started, 'stall');
    const deltas = await (await startAnthropic({ runtime })).talk('Hello', { silence_seconds: 30, first_token_seconds: 0.05 });
    expect(deltas).toMatchObject([{ failure: 'provider_failed', message: expect.stringContaining('silent for 0.05 seconds') }]);
  });
});

describe('an abort', () => {
  test('ends the stream without a word more and lets the request go', async () => {
    const { runtime, wasCancelled } = written(started, said('Our '), 'stall');
    const controller = new AbortController();
    const { stream } = await startAnthropic({ runtime });
    const deltas: ConversationDelta[] = [];
    for await (const delta of stream('Hello', {}, controller.signal)) {
      deltas.push(delta);
      setTimeout(() => controller.abort(), 1);
    }
    expect(deltas).toEqual([{ type: 'text', text: 'Our ' }]);
    await expect.poll(wasCancelled).toBe(true);
  });

  test('before the answer there is nothing at all, and nothing is tried again', async () => {
    const { talk, plan, requests } = await startAnthropic();
    await plan({ times: 9, delay_ms: 200, status: 500 });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 30);
    expect(await talk('Hello', {}, controller.signal)).toEqual([]);
    const gone = new AbortController();
    gone.abort();
    expect(await talk('Hello', {}, gone.signal)).toEqual([]);
    expect((await requests()).length).toBeLessThanOrEqual(1);
  });

  test('leaving the loop lets the request go, too', async () => {
    const { runtime, wasCancelled } = written(started, said('Our '), said('hours '), 'stall');
    for await (const _delta of (await startAnthropic({ runtime })).stream('Hello')) break;
    await expect.poll(wasCancelled).toBe(true);
  });
});

test('a stream may be cut into chunks anywhere', async () => {
  const whole = started + said('Grüße, ') + said('你好 👋') + finished() + stopped;
  let chunks: Uint8Array[] = [];
  const body = () =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
  const { stream } = await startAnthropic({ runtime: { fetch: async () => new Response(body(), { headers: sse }) } });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 40 }), fc.boolean(), async (sizes, hasCarriageReturns) => {
      const bytes = new TextEncoder().encode(hasCarriageReturns ? whole.replaceAll('\n', '\r\n') : whole);
      chunks = [];
      for (let at = 0; at < bytes.length;) {
        const size = sizes[chunks.length] ?? bytes.length;
        chunks.push(bytes.slice(at, at + size));
        at += size;
      }
      const deltas = await collect(stream('x'));
      expect([textOf(deltas), deltas.at(-1)]).toEqual(['Grüße, 你好 👋', expect.objectContaining({ type: 'end' })]);
    }),
  );
});
