import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { embeddings } from '../../src/providers/embeddings/embeddings.ts';
import type { EmbeddingPurpose, EmbeddingSettings } from '../../src/providers/embeddings/contract.ts';
import type { Runtime } from '../../src/providers/http/runtime.ts';
import { splitIntoRequests } from '../../src/providers/embeddings/split-requests.ts';
import { cosineSimilarity } from '../../src/providers/vector-index/cosine.ts';
import { simulatorsUrl } from '../support/carrier.ts';

const key = 'sk-canary-key-4711';

/** The adapter against the simulated provider, with a clock that only its own waits move. */
function start(more: Partial<EmbeddingSettings> = {}, outside: Partial<Runtime> = {}) {
  const settings = {
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: `${simulatorsUrl}/openai/v1`,
    EMBEDDING_MODEL: 'text-embedding-3-small',
    ...more,
  };
  const bodies: any[] = [];
  const waits: number[] = [];
  const { embed } = embeddings(settings, {
    fetch: (input, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      return fetch(input, init);
    },
    sleep: async (milliseconds) => void waits.push(milliseconds),
    random: () => 0,
    now: () => waits.reduce((sum, wait) => sum + wait, 0),
    ...outside,
  });
  return { embed, bodies, waits };
}

/** A provider that answers `body` to everything. */
const answering = (body: unknown, status = 200) => ({ fetch: async () => Response.json(body, { status }) });
const refusal = (message: string, more: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...more },
});

async function embedded(outcome: ReturnType<ReturnType<typeof start>['embed']>) {
  const answer = await outcome;
  if ('failure' in answer) throw new Error(answer.message);
  return answer;
}

async function plan(fault: object) {
  const body = JSON.stringify({ provider: 'openai', match: { path: '/v1/embeddings' }, ...fault });
  expect((await fetch(`${simulatorsUrl}/__sim/faults`, { method: 'POST', body })).status).toBe(201);
}

describe('vectors', () => {
  test('come in the order of the texts, with the tokens and the model; texts that share words are nearer', async () => {
    const { embed, bodies } = start();
    const texts = ['Returns are free within thirty days.', 'The office dog is called Rex.', 'Are returns free?'];
    const { vectors, tokens, model } = await embedded(embed(texts));
    expect(model).toBe('text-embedding-3-small');
    expect(tokens).toBeGreaterThan(15);
    expect(vectors.map(({ length }) => length)).toEqual([1536, 1536, 1536]);
    expect(cosineSimilarity(vectors[0]!, vectors[2]!)).toBeGreaterThan(cosineSimilarity(vectors[1]!, vectors[2]!) + 0.2);
    expect(bodies).toEqual([{ model, input: texts, encoding_format: 'base64', dimensions: 1536 }]);
  });

  test('are the same to the bit as those sent as plain numbers, in whatever order they come', async () => {
    const answer = async (format: string) => {
      const body = JSON.stringify({ model: 'text-embedding-3-small', input: ['one', 'two'], encoding_format: format });
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
      return (await fetch(`${simulatorsUrl}/openai/v1/embeddings`, { method: 'POST', headers, body })).json<{ data: object[] }>();
    };
    const asNumbers = await answer('float');
    const plain = start({}, answering({ ...asNumbers, data: asNumbers.data.toReversed() }));
    const { vectors } = await embedded(start().embed(['one', 'two']));
    expect((await embedded(plain.embed(['one', 'two']))).vectors).toEqual(vectors);
  });

  test('of no texts cost no request', async () => {
    const { embed, bodies } = start();
    expect(await embed([])).toEqual({ vectors: [], tokens: 0, model: 'text-embedding-3-small' });
    expect(bodies).toEqual([]);
  });

  test('of a larger model are asked for in 1536 numbers, and of a model that cannot be asked, as they are', async () => {
    const large = start({ EMBEDDING_MODEL: 'text-embedding-3-large' });
    expect((await embedded(large.embed(['one']))).vectors[0]).toHaveLength(1536);
    const old = start({ EMBEDDING_MODEL: 'text-embedding-ada-002' });
    expect(await embedded(old.embed(['one']))).toMatchObject({ model: 'text-embedding-ada-002' });
    expect(old.bodies[0]).not.toHaveProperty('dimensions');
  });

  test('of a service that does not count tokens have none', async () => {
    const answer = { data: [{ embedding: Array.from({ length: 1536 }, () => 0.1) }] };
    expect(await embedded(start({}, answering(answer)).embed(['one']))).toMatchObject({ tokens: 0 });
  });
});

describe('requests', () => {
  test('hold at most 512 texts', async () => {
    const { embed, bodies } = start();
    const texts = Array.from({ length: 1030 }, (_, index) => `passage ${index}`);
    const { vectors } = await embedded(embed(texts));
    expect(bodies.map(({ input }) => input.length)).toEqual([512, 512, 6]);
    const [last] = (await embedded(embed(['passage 1029']))).vectors;
    expect(cosineSimilarity(vectors[1029]!, last!)).toBeCloseTo(1, 5);
  });

  test('hold all texts once, in their order, and fewer than 300,000 tokens unless one text alone has more', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 50 }),
      fc.nat(60_000).map((length) => 'x '.repeat(length)),
      fc.nat(60_000).map((length) => '字'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 40 }), (texts) => {
        const requests = splitIntoRequests(texts);
        expect(requests.flat()).toEqual(texts);
        for (const request of requests) {
          const characters = request.join('');
          const chinese = characters.replace(/[^字]/g, '').length;
          expect(request.length === 1 || chinese + (characters.length - chinese) / 4 < 300_000).toBe(true);
          expect(request.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('that turn out to have too many tokens are halved until the provider takes them', async () => {
    const { embed, bodies, waits } = start();
    // The provider counts a token for each sign, far more than is usual for these letters.
    const texts = Array.from({ length: 60 }, (_, index) => `${index} ${'. '.repeat(8000)}`);
    const { vectors } = await embedded(embed(texts));
    expect(vectors).toHaveLength(60);
    expect(new Set(bodies.map(({ input }) => input.length)).size).toBeGreaterThan(1);
    expect(waits).toEqual([]);
    const [first] = (await embedded(embed([texts[37]!]))).vectors;
    expect(cosineSimilarity(vectors[37]!, first!)).toBeCloseTo(1, 5);
  });

  test('are tried again when what failed may pass, as the provider asks for', async () => {
    const { embed, bodies, waits } = start();
    await plan({ status: 429, headers: { 'retry-after-ms': '900' }, body: refusal('slow down', { code: 'rate_limit_exceeded' }) });
    await plan({ status: 503, body: 'overloaded' });
    expect((await embedded(embed(['one']))).vectors).toHaveLength(1);
    expect(bodies).toHaveLength(3);
    expect(waits).toEqual([900, 500]);
  });
});

describe('a signal that is aborted', () => {
  test('ends the request under way, and no other is made', async () => {
    const controller = new AbortController();
    const reason = vi.fn();
    const { embed, bodies } = start(
      {},
      {
        fetch: (_input, init) => {
          bodies.push(init?.body);
          init!.signal!.addEventListener('abort', reason);
          return new Promise((_resolve, reject) => {
            init!.signal!.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
            controller.abort();
          });
        },
      },
    );
    await expect(embed(['one'], 'question', controller.signal)).rejects.toThrow();
    await expect(embed(['two'], 'question', controller.signal)).rejects.toThrow();
    expect([bodies.length, reason.mock.calls.length]).toEqual([1, 1]);
  });

  test('while the provider is waited for, no further try is made', async () => {
    const controller = new AbortController();
    const { embed, bodies } = start(
      {},
      {
        fetch: async (_input, init) => (bodies.push(init?.body), Response.json(refusal('busy'), { status: 503 })),
        sleep: async () => controller.abort(),
      },
    );
    await expect(embed(['one'], 'question', controller.signal)).rejects.toThrow();
    expect(bodies).toHaveLength(1);
  });
});

describe('a failure', () => {
  const cases: [string, number, object | string, object][] = [
    ['a key that is not known', 401, refusal('bad key', { code: 'invalid_api_key' }), { failure: 'invalid_credentials', retryable: false }],
    ['an empty account', 429, refusal('', { code: 'insufficient_quota' }), { failure: 'insufficient_quota', retryable: false }],
    [
      'an unknown model',
      404,
      refusal('', { code: 'model_not_found' }),
      { failure: 'model_not_found', message: expect.stringMatching(/"text-embedding-3-small".*EMBEDDING_MODEL/) },
    ],
    [
      'an address without embeddings',
      404,
      { detail: 'nothing here' },
      { failure: 'invalid_request', message: 'There are no embeddings at OPENAI_BASE_URL: status 404' },
    ],
    [
      'a text that is too long',
      400,
      refusal("Invalid 'input[3]': maximum input length is 8192 tokens."),
      {
        failure: 'text_too_long',
        retryable: false,
        message: expect.stringMatching(/^Text 4 of a request is longer than the 8,192 tokens/),
      },
    ],
    [
      'anything else that is refused',
      400,
      refusal('no'),
      { failure: 'invalid_request', message: expect.stringContaining('EMBEDDING_MODEL and OPENAI_BASE_URL') },
    ],
    ['a provider that is down', 500, 'oops', { failure: 'provider_failed', retryable: true }],
  ];
  test.each(cases)('%s: says what to do, and neither the key nor a text', async (_, status, body, expected) => {
    const told =
      typeof body === 'string' ? body : JSON.parse(JSON.stringify(body).replace('"message":"', `"message":"${key} canary text `));
    const failure = await start({}, { fetch: async () => Response.json(told, { status }) }).embed(['canary text']);
    expect(failure).toMatchObject(expected);
    expect(JSON.stringify(failure)).not.toMatch(/canary/);
  });

  test('there is no key: no request is made', async () => {
    const { embed, bodies } = start({ OPENAI_API_KEY: '' });
    expect(await embed(['one'])).toMatchObject({
      failure: 'not_configured',
      retryable: false,
      message: expect.stringContaining('OPENAI_API_KEY'),
    });
    expect(bodies).toEqual([]);
  });

  test('an empty text is named before anything is sent', async () => {
    const { embed, bodies } = start();
    expect(await embed(['one', ''])).toMatchObject({ failure: 'invalid_request', message: expect.stringContaining('Text 2 is empty') });
    expect(bodies).toEqual([]);
  });

  test('a provider that goes down in the middle: no vectors at all, and when to come again', async () => {
    const { embed, bodies } = start();
    let count = 0;
    const failing = start(
      {},
      {
        fetch: async (input, init) =>
          (count += 1) === 2 ? Response.json(refusal(''), { status: 429, headers: { 'retry-after': '30' } }) : fetch(input, init),
      },
    );
    const texts = Array.from({ length: 600 }, (_, index) => `passage ${index}`);
    expect(await failing.embed(texts)).toMatchObject({ failure: 'rate_limited', retryable: true, retryAfterSeconds: 30 });
    expect((await embedded(embed(texts))).vectors).toHaveLength(600);
    expect(bodies).toHaveLength(2);
  });

  const patience: [EmbeddingPurpose, number][] = [
    ['question', 10],
    ['document', 60],
  ];
  test.each(patience)('silence: for a %s it is given up after %i seconds', async (purpose, seconds) => {
    let now = 0;
    const silent = start(
      {},
      {
        now: () => now,
        fetch: async () => {
          now += seconds * 1000;
          throw new DOMException('timed out', 'TimeoutError');
        },
      },
    );
    expect(await silent.embed(['one'], purpose)).toMatchObject({ failure: 'provider_failed', retryable: true });
    expect(now).toBe(seconds * 1000);
  });

  const ofLength = (length: number, value: unknown = 0.1) => ({ index: 0, embedding: Array.from({ length }, () => value) });
  const answers: [string, object, RegExp][] = [
    ['vectors of another length', { data: [ofLength(768)] }, /768 numbers and 1536 are needed; set EMBEDDING_MODEL/],
    ['too few', { data: [] }, /answered 0 vectors to 1 texts/],
    ['none', { object: 'list' }, /answered no vectors/],
    ['something that is no number', { data: [ofLength(1536, 'x')] }, /not made of finite numbers/],
    ['base64 that is cut off', { data: [{ index: 0, embedding: 'AAAA' }] }, /no numbers and 1536 are needed/],
    ['vectors of texts that it was not given', { data: [{ ...ofLength(1536), index: 5 }] }, /none to another/],
  ];
  test.each(answers)('an answer of %s is not taken for vectors', async (_, answer, message) => {
    const failure = await start({}, answering(answer)).embed(['one']);
    expect(failure).toEqual({ failure: 'invalid_answer', message: expect.stringMatching(message), retryable: false });
  });
});
