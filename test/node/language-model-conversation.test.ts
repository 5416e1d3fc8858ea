import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../simulators/listen.ts';
import type { ConversationDelta, ConversationRequest } from '../../src/providers/language-model/contract.ts';
import { createLanguageModel } from '../../src/providers/language-model/language-model.ts';
import type { Runtime } from '../../src/providers/http/runtime.ts';

const key = 'sk-canary-key-4711';
const sse = { 'content-type': 'text/event-stream' };
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const said = (text: string) => event({ choices: [{ index: 0, delta: { content: text } }] });
const finished = (reason = 'stop') => event({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
const counted = event({ model: 'm-1', choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } });
const done = 'data: [DONE]\n\n';

const tools = [
  { name: 'interested', description: 'The person says yes', parameters: { type: 'object', properties: {} } },
  {
    name: 'book',
    description: 'The person names a day',
    parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
  },
];

interface Options {
  apiKey?: string;
  model?: string;
  runtime?: Partial<Runtime>;
}

async function start({ apiKey = key, model = 'gpt-6-luna', runtime }: Options = {}) {
  const { url, close } = await listen({ port: 0 });
  onTestFinished(close);
  const waits: number[] = [];
  const { converse } = createLanguageModel(
    { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: `${url}/openai/v1`, LANGUAGE_MODEL: model },
    {
      fetch: (input, init) => fetch(input, init),
      sleep: async (milliseconds) => void waits.push(milliseconds),
      random: () => 0,
      now: () => waits.reduce((sum, wait) => sum + wait, 0),
      ...runtime,
    },
  );
  const stream = (text: string, more: Partial<ConversationRequest> = {}, signal = new AbortController().signal) =>
    converse({ system: 'Ask which day suits them.', messages: [{ role: 'user', content: text }], ...more }, signal);
  const ask = async (...parameters: Parameters<typeof stream>): Promise<ConversationDelta[]> => collect(stream(...parameters));
  const plan = async (fault: object) => {
    await fetch(`${url}/__sim/faults`, { method: 'POST', body: JSON.stringify({ provider: 'openai', ...fault }) });
  };
  const requests = async () => ((await (await fetch(`${url}/__sim/requests?provider=openai`)).json()) as { requests: any[] }).requests;
  return { ask, stream, plan, requests, waits };
}

async function collect(stream: AsyncIterable<ConversationDelta>): Promise<ConversationDelta[]> {
  const deltas: ConversationDelta[] = [];
  for await (const delta of stream) deltas.push(delta);
  return deltas;
}

const textOf = (deltas: ConversationDelta[]) => deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('');
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
    const { ask, requests } = await start();
    const deltas = await ask('What is it about?');
    expect(textOf(deltas)).toBe('Which day suits you?');
    expect(kinds(deltas)).toEqual([...Array(4).fill('text'), 'end']);
    expect(deltas.at(-1)).toEqual({
      type: 'end',
      tool_calls: [],
      model: 'gpt-6-luna',
      usage: { prompt_tokens: expect.any(Number), completion_tokens: expect.any(Number) },
    });
    expect((await requests())[0].body).toEqual({
      model: 'gpt-6-luna',
      stream: true,
      stream_options: { include_usage: true },
      reasoning_effort: 'none',
      messages: [
        { role: 'system', content: 'Ask which day suits them.' },
        { role: 'user', content: 'What is it about?' },
      ],
    });
  });

  test('are asked for with a seed when there is one', async () => {
    const { ask, requests } = await start();
    await ask('Hello', { seed: 7 });
    await ask('Hello', { seed: 0 });
    await ask('Hello');
    expect((await requests()).map(({ body }) => body.seed)).toEqual([7, 0, undefined]);
  });

  test.each(['gpt-5.6-pro', 'gpt-5.2-codex', 'gpt-5.3-chat-latest', 'openai/gpt-6-pro-2026-10-01'])(
    '%s reasons by its default, and the request does not change it',
    async (model) => {
      const { ask, requests } = await start();
      await ask('Hello', { model: model.replace('openai/', '') });
      expect((await requests())[0].body).not.toHaveProperty('reasoning_effort');
    },
  );

  test('a model that refuses reasoning_effort is asked again without, and without from then on', async () => {
    const { ask, requests } = await start();
    const model = 'gpt-6-thinking';
    for (let times = 0; times < 2; times++) expect(kinds(await ask('Hello', { model })).at(-1)).toBe('end');
    expect((await requests()).map(({ body }: any) => body.reasoning_effort)).toEqual(['none', undefined, undefined]);
  });

  test('a model that takes no reasoning_effort is not sent any', async () => {
    for (const [model, effort] of [
      ['gpt-6-luna', 'none'],
      ['gpt-5.6', 'none'],
      ['gpt-5', undefined],
      ['gpt-4o', undefined],
    ] as const) {
      const { ask, requests } = await start({ model });
      expect(kinds(await ask('Hello', { tools })).at(-1)).toBe('end');
      expect((await requests())[0].body.reasoning_effort).toBe(effort);
    }
  });

  test('a refusal is said, and a sentence that was cut at its length ends', async () => {
    const refused = written(event({ choices: [{ delta: { refusal: 'I cannot do that.' } }] }), finished(), counted, done);
    expect(textOf(await (await start(refused)).ask('x'))).toBe('I cannot do that.');
    const cut = await (await start(written(said('A long '), finished('length'), counted, done))).ask('x');
    expect(kinds(cut)).toEqual(['text', 'end']);
  });
});

describe('tool calls', () => {
  test('are joined from their pieces and come at the end', async () => {
    const { ask, requests } = await start();
    expect(await ask('Tuesday, please', { tools })).toEqual([
      {
        type: 'end',
        tool_calls: [{ id: expect.stringMatching(/^call_/), name: 'book', arguments: '{"day":"Tuesday"}' }],
        model: 'gpt-6-luna',
        usage: expect.any(Object),
      },
    ]);
    expect((await requests())[0].body.tools[1]).toEqual({ type: 'function', function: tools[1] });
  });

  test('with their answers they go back, and tool_choice none has the model speak', async () => {
    const { ask, requests } = await start();
    const messages: ConversationRequest['messages'] = [
      { role: 'user', content: 'Yes, on Tuesday' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'call_7', name: 'book', arguments: '{"day":"Tuesday"}' }] },
      { role: 'tool', tool_call_id: 'call_7', content: '{"status":"ok"}' },
      { role: 'assistant', content: 'Booked.' },
      { role: 'user', content: 'Yes' },
    ];
    const deltas = await ask('', { messages, tools, tool_choice: 'none' });
    expect(textOf(deltas)).not.toBe('');
    expect((await requests())[0].body.messages[2]).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_7', type: 'function', function: { name: 'book', arguments: '{"day":"Tuesday"}' } }],
    });
  });

  test('however they are cut up and mixed, each keeps its own pieces', async () => {
    const call = fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), pieces: fc.array(fc.string({ maxLength: 5 }), { maxLength: 5 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 4 }), fc.infiniteStream(fc.nat(3)), async (calls, order) => {
        const piece = (index: number, part: object) => event({ choices: [{ delta: { tool_calls: [{ index, ...part }] } }] });
        const chunks = calls.map(({ name }, index) => piece(index, { id: `c${index}`, function: { name, arguments: '' } }));
        const left = calls.map(({ pieces }) => [...pieces]);
        while (left.some((pieces) => pieces.length > 0)) {
          const index = (order.next().value as number) % calls.length;
          const next = left[index]!.shift();
          if (next !== undefined) chunks.push(piece(index, { function: { arguments: next } }));
        }
        const { runtime } = written(...chunks, finished('tool_calls'), done);
        const { converse } = createLanguageModel(
          { OPENAI_API_KEY: key, OPENAI_BASE_URL: 'https://model.example.com/v1', LANGUAGE_MODEL: 'm' },
          {
            sleep: async () => {},
            random: () => 0,
            now: () => 0,
            ...runtime,
          } as Runtime,
        );
        const deltas = await collect(converse({ messages: [] }, new AbortController().signal));
        expect(deltas).toMatchObject([
          { type: 'end', tool_calls: calls.map(({ name, pieces }, index) => ({ id: `c${index}`, name, arguments: pieces.join('') })) },
        ]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a failure', () => {
  test('is a value like that of a completion, without key and prompt', async () => {
    const { ask, plan } = await start();
    await plan({ times: 5, status: 401, body: { error: { message: `bad ${key} canary prompt`, code: 'invalid_api_key' } } });
    const deltas = await ask('canary prompt');
    expect(deltas).toEqual([{ type: 'failure', failure: 'invalid_credentials', message: expect.any(String), retryable: false }]);
    expect(JSON.stringify(deltas)).not.toMatch(/canary/);
    expect(await (await start({ apiKey: '' })).ask('x')).toMatchObject([{ type: 'failure', failure: 'not_configured' }]);
  });

  test.each([
    ['an error of the server', { status: 500 }],
    ['a rate limit', { status: 429, body: { error: { code: 'rate_limit_exceeded' } }, headers: { 'retry-after-ms': '120' } }],
    ['a lost answer', { drop_response: true }],
    ['a stream that reports an error', { body: event({ error: { message: 'overloaded', type: 'server_error' } }), headers: sse }],
    ['a stream without an end', { body: event({ choices: [] }), headers: sse }],
  ])('%s before the first word is tried once more', async (_case, fault) => {
    const { ask, plan, requests } = await start();
    await plan({ times: 1, ...fault });
    expect(kinds(await ask('Hello')).at(-1)).toBe('end');
    await plan({ times: 9, ...fault });
    expect(await ask('Hello')).toMatchObject([{ type: 'failure', retryable: true }]);
    expect(await requests()).toHaveLength(4);
  });

  test.each([
    ['breaks', 'break'],
    ['ends without its end', done],
    ['reports an error', event({ error: { message: 'overloaded' } })],
    ['is no JSON', 'data: {"choices":\n\n'],
    ['is no completion', event({ choices: 'none' })],
  ])('a stream that %s after the first word is not asked again, and keeps what was said', async (_case, last) => {
    let asked = 0;
    const { runtime } = written(said('Our hours are '), last);
    const { ask } = await start({ runtime: { fetch: (...parameters) => (asked++, runtime.fetch!(...parameters)) } });
    expect(await ask('Hello')).toMatchObject([
      { type: 'text', text: 'Our hours are ' },
      { type: 'failure', failure: 'provider_failed', retryable: true },
    ]);
    expect(asked).toBe(1);
  });

  test('silence is one, before the first word and between two', async () => {
    for (const chunks of [['stall'], [said('Our '), 'stall']]) {
      const { runtime, wasCancelled } = written(...chunks);
      const deltas = await (await start({ runtime })).ask('Hello', { silence_seconds: 0.05 });
      expect(deltas.at(-1)).toMatchObject({ failure: 'provider_failed', message: expect.stringContaining('silent for 0.05 seconds') });
      await expect.poll(wasCancelled).toBe(true);
    }
  });
});

describe('an abort', () => {
  test('ends the stream without a word more and lets the request go', async () => {
    const { runtime, wasCancelled } = written(said('Our '), 'stall');
    const controller = new AbortController();
    const { stream } = await start({ runtime });
    const deltas: ConversationDelta[] = [];
    for await (const delta of stream('Hello', {}, controller.signal)) {
      deltas.push(delta);
      setTimeout(() => controller.abort(), 1);
    }
    expect(deltas).toEqual([{ type: 'text', text: 'Our ' }]);
    await expect.poll(wasCancelled).toBe(true);
  });

  test('before the answer there is nothing at all, and nothing is tried again', async () => {
    const { ask, plan, requests } = await start();
    await plan({ times: 9, delay_ms: 200, status: 500 });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 30);
    expect(await ask('Hello', {}, controller.signal)).toEqual([]);
    const gone = new AbortController();
    gone.abort();
    expect(await ask('Hello', {}, gone.signal)).toEqual([]);
    expect((await requests()).length).toBeLessThanOrEqual(1);
  });

  test('leaving the loop lets the request go, too', async () => {
    const { runtime, wasCancelled } = written(said('Our '), said('hours '), 'stall');
    for await (const _delta of (await start({ runtime })).stream('Hello')) break;
    await expect.poll(wasCancelled).toBe(true);
  });
});
