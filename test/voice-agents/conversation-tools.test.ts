import { describe, expect, test, vi } from 'vitest';
import { ServiceError } from '../../src/library/errors.ts';
import type { GuardedResponse } from '../../src/providers/http/guarded-request.ts';
import { findUnknownMocks } from '../../src/voice-agents/conversation/tool-offers.ts';
import { parseAgentDefinition } from '../../src/voice-agents/definition/definition.ts';
import { answer, begin, historyFault, type Options } from './begin.ts';
import { type Answer, FakeModel } from './fake-model.ts';

const book = {
  name: 'book',
  description: 'Books a table',
  parameters: { type: 'object', properties: { day: { type: 'string' }, people: { type: 'integer' } }, required: ['day'] },
  http: { url: 'https://example.com/tables', headers: { authorization: 'Bearer {{ token }}' } },
};
const find = {
  name: 'find',
  description: 'Finds an order',
  parameters: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
  http: { method: 'GET', url: 'https://example.com/orders/{{ arguments.number }}' },
};
const agent = (data: object = {}) => ({
  nodes: [
    { id: 'start', type: 'startCall', data: { prompt: 'Help.', greeting: 'Hi', tools: [book, find], ...data } },
    { id: 'bye', type: 'endCall', data: { prompt: 'Say goodbye.' } },
  ],
  edges: [{ id: 'e', source: 'start', target: 'bye', data: { label: 'done', condition: 'all is done' } }],
});

/** One turn in which the model gives `answers`. */
async function turn(answers: Answer[], { definition = agent(), ...options }: Options = {}) {
  const model = new FakeModel(...answers);
  const talk = begin(model, { definition, ...options });
  await talk.conversation.start();
  const outcome = await talk.conversation.userTurn('A table, please');
  for (const { messages } of model.asked) expect(historyFault(messages)).toBeNull();
  const toolTexts = model.asked
    .at(-1)!
    .messages.filter(({ role }) => role === 'tool')
    .map(({ content }) => content!);
  return { ...talk, model, outcome, results: toolTexts.map((text) => (/^[[{]/.test(text) ? JSON.parse(text) : text)) };
}

const sends = (response: GuardedResponse) => ({ sendHttp: async () => response });

describe('an HTTP tool', () => {
  test('is called with the arguments, and the model gets the answer', async () => {
    const { sent, outcome, results, events } = await turn([{ calls: [['book', { day: 'Tuesday', people: 4 }]] }, 'Booked.'], {
      setup: { initialContext: { token: 't-1' } },
    });
    expect(sent).toEqual([
      {
        method: 'POST',
        url: 'https://example.com/tables',
        headers: { authorization: 'Bearer t-1', 'content-type': 'application/json', 'idempotency-key': 'run-7:call_3_0' },
        body: '{"day":"Tuesday","people":4}',
        timeout_seconds: 10,
      },
    ]);
    expect(results).toEqual([{ status: 200, body: { found: true } }]);
    expect(outcome.said).toEqual(['Booked.']);
    expect(events('tool_called')).toEqual([
      { name: 'book', arguments: '{"day":"Tuesday","people":4}', answer: { status: 200, body: { found: true } }, duration_ms: 0 },
    ]);
    expect(JSON.stringify(events('tool_called'))).not.toContain('t-1');
  });

  test('has its secrets opened for the call alone', async () => {
    const http = { url: 'https://example.com/', headers: { 'x-key': 'sealed' } };
    const { sent, memory } = await turn([{ calls: [['book', { day: 'Tuesday' }]] }, 'Booked.'], {
      definition: agent({ tools: [{ ...book, http }] }),
      world: { openSecrets: async (value) => JSON.parse(JSON.stringify(value).replace('sealed', 'opened')) },
    });
    expect(sent[0]!.headers).toMatchObject({ 'x-key': 'opened' });
    expect(JSON.stringify([memory.messages(), memory.events])).not.toContain('opened');
  });

  test('with GET has its arguments in the URL, encoded: nobody talks his way to another address', async () => {
    const addresses = async (number: string, url = find.http.url) => {
      const { sent, results } = await turn([{ calls: [['find', { number }]] }, 'x'], {
        definition: agent({ tools: [{ ...find, http: { method: 'GET', url } }] }),
      });
      return sent[0]?.url ?? results[0].error;
    };
    expect(await addresses('A 17/2')).toBe('https://example.com/orders/A%2017%2F2');
    expect(await addresses('../customers?all=1#')).toBe('https://example.com/orders/..%2Fcustomers%3Fall%3D1%23');
    expect(await addresses('..')).toContain('cannot be a part of an address');
    expect(await addresses('{{ now }}')).toBe('https://example.com/orders/%7B%7B%20now%20%7D%7D');
    expect(await addresses('https://evil.example/', '{{ arguments.number }}')).toContain('no absolute http:// or https:// URL');
    expect(await addresses('A&b=1', 'https://example.com/find?kind=order')).toBe('https://example.com/find?kind=order&number=A%26b%3D1');
  });

  test('with a body of its own sends that, and nothing in the arguments is taken for a template', async () => {
    const http = { url: 'https://example.com/', body: { when: '{{ arguments.day }}', who: '{{ first_name }}' } };
    const { sent } = await turn([{ calls: [['book', { day: '{{ first_name }}' }]] }, 'x'], {
      definition: agent({ tools: [{ ...book, http }] }),
    });
    expect(JSON.parse(sent[0]!.body!)).toEqual({ when: '{{ first_name }}', who: 'Ada' });
    const { sent: plain } = await turn([{ calls: [['book', { day: '{{ first_name }}' }]] }, 'x']);
    expect(plain[0]!.body).toBe('{"day":"{{ first_name }}"}');
  });

  test('that fails is an answer, too', async () => {
    const results = async (response: GuardedResponse) =>
      (await turn([{ calls: [['book', { day: 'Tuesday' }]] }, 'Sorry.'], { world: sends(response) })).results[0];
    expect(await results(answer({ detail: 'full' }, 409))).toEqual({ status: 409, body: { detail: 'full' } });
    expect(await results({ failure: 'network', message: 'No answer within 10 seconds' })).toEqual({ error: 'No answer within 10 seconds' });
    expect(await results({ status: 200, headers: {}, body: 'x'.repeat(9_000), is_cut: false })).toEqual({
      status: 200,
      body: 'x'.repeat(8192),
      is_cut: true,
    });
    const throwing = await turn([{ calls: [['book', { day: 'Tuesday' }]] }, 'Sorry.'], {
      world: {
        sendHttp: async () => {
          throw new TypeError('a defect');
        },
      },
    });
    expect([throwing.results, throwing.outcome.said]).toEqual([[{ error: 'The tool failed: TypeError' }], ['Sorry.']]);
  });

  test('several are called at once, then the edge is taken', async () => {
    let open = 0;
    let most = 0;
    const { outcome, results } = await turn(
      [{ text: 'One moment.', calls: [['done'], ['book', { day: 'Tuesday' }], ['find', { number: '1' }]] }, 'Goodbye.'],
      {
        world: {
          sendHttp: async () => {
            most = Math.max(most, ++open);
            await new Promise((resolve) => setTimeout(resolve, 1));
            open--;
            return answer('ok');
          },
        },
      },
    );
    expect(most).toBe(2);
    expect(outcome).toMatchObject({ said: ['One moment.', 'Goodbye.'], end: 'end_node' });
    expect(results).toEqual([{ status: 'ok' }, { status: 200, body: 'ok' }, { status: 200, body: 'ok' }]);
  });
});

describe('a call that cannot be', () => {
  test.each<[string, Answer, RegExp]>([
    ['an unknown tool', { calls: [['bokk', {}]] }, /^There is no tool "bokk" here; there are: done, book, find, end_call$/],
    ['arguments that are no JSON', { calls: [['book', '{"day":']] }, /^The arguments are no JSON object/],
    ['arguments that are no object', { calls: [['book', '"Tuesday"']] }, /^The arguments are no JSON object/],
    ['missing arguments', { calls: [['book', '']] }, /^The arguments do not fit: day: Field required/],
    [
      'arguments of the wrong type',
      { calls: [['book', { day: 'Tuesday', people: 'four' }]] },
      /^The arguments do not fit: people: Must be integer/,
    ],
  ])('%s is reported to the model, which may do better', async (_case, call, error) => {
    const { results, sent, outcome, model } = await turn([call, { calls: [['book', { day: 'Tuesday' }]] }, 'Booked.']);
    expect(results).toEqual([{ error: expect.stringMatching(error) }, { status: 200, body: { found: true } }]);
    expect([sent.length, outcome.said, model.asked.length]).toEqual([1, ['Booked.'], 3]);
  });
});

describe('a model that only calls tools', () => {
  test('must speak after eight rounds', async () => {
    const { outcome, model, sent } = await turn([
      ...Array.from({ length: 8 }, (): Answer => ({ calls: [['find', { number: '1' }]] })),
      'I found it.',
    ]);
    expect(outcome.said).toEqual(['I found it.']);
    expect([sent.length, model.asked.length]).toEqual([8, 9]);
    expect(model.asked.map(({ tool_choice: choice }) => choice)).toEqual([...Array.from({ length: 8 }, () => undefined), 'none']);
  });

  test('and will not speak even then is passed over', async () => {
    const { outcome, sent, model } = await turn([{ calls: [['find', { number: '1' }]] }]);
    expect(outcome).toMatchObject({ said: ['I am sorry, could you say that again?'], end: null });
    expect([sent.length, model.asked.length]).toEqual([8, 10]);
  });

  test('running along edges in a circle must speak, too', async () => {
    const node = (id: string, type: string) => ({
      id,
      type,
      data: { prompt: `You are at ${id}.`, ...(type === 'startCall' && { greeting: 'Hi' }) },
    });
    const definition = {
      nodes: [node('start', 'startCall'), node('a', 'agentNode'), node('b', 'agentNode')],
      edges: ['start-a', 'a-b', 'b-a'].map((id) => {
        const [source, target] = id.split('-') as [string, string];
        return { id, source, target, data: { label: 'on', condition: 'always' } };
      }),
    };
    const { outcome, model, conversation } = await turn([{ calls: [['on']] }], { definition });
    expect(conversation.state!.nodesVisited).toEqual(['start', 'a', 'b']);
    expect([outcome.status, model.asked.length]).toEqual(['answered', 10]);
  });
});

describe('in a test', () => {
  const call: Answer = { calls: [['book', { day: 'Tuesday' }]] };
  const test_ = (mocks: object[]) => ({ setup: { tools: { live: false as const, mocks: mocks as never } } });

  test('a tool answers what its mock says, after its delay, and nothing goes out', async () => {
    const sleep = vi.fn(async () => {});
    const { results, sent, events } = await turn([call, 'Booked.'], {
      ...test_([{ name: 'book', response: { table: 4 }, delay_ms: 700 }]),
      world: { sleep },
    });
    expect([results, sent]).toEqual([[{ table: 4 }], []]);
    expect(sleep).toHaveBeenCalledWith(700);
    expect(events('tool_called')).toMatchObject([{ name: 'book', answer: { table: 4 }, is_mock: true }]);
  });

  test('a mock may fail, and a tool without one is not called', async () => {
    expect((await turn([call, 'x'], test_([{ name: 'book', error: 'The kitchen is closed' }]))).results).toEqual([
      { error: 'The kitchen is closed' },
    ]);
    const { results, sent } = await turn([call, 'x'], test_([]));
    expect([results, sent]).toEqual([[{ status: 'not called in a test' }], []]);
  });

  test('a mock is held to the parameters of the tool like the tool', async () => {
    const { results } = await turn([{ calls: [['book', {}]] }, 'x'], test_([{ name: 'book', response: 1 }]));
    expect(results[0].error).toContain('do not fit');
  });

  test('a mock of no tool is named', () => {
    expect(findUnknownMocks(parseAgentDefinition(agent()), [{ name: 'book' }, { name: 'bok' }])).toEqual(['bok']);
  });
});

describe('looking things up', () => {
  const uuid = '5a8a4f4e-32d0-4d2c-8d2a-8fbb4ff52c6f';
  const ask: Answer = { calls: [['search_knowledge_base', { query: 'How long is the warranty?' }]] };
  const names = (model: FakeModel) => model.asked[0]!.tools!.map(({ name }) => name);
  const found = { text: 'Two years.', receipts: [{ chunk_id: 5, similarity: 0.9 }] };

  test('is offered only where there are documents and somebody to look', async () => {
    const retrieve = async () => found;
    for (const [data, world, isOffered] of [
      [{}, { retrieve }, false],
      [{ document_uuids: [uuid] }, {}, false],
      [{ document_uuids: [uuid] }, { retrieve }, true],
      [{ knowledge_base: true }, { retrieve }, true],
    ] as const)
      expect(names((await turn(['x'], { definition: agent(data), world })).model).includes('search_knowledge_base')).toBe(isOffered);
  });

  test('asks the documents of the node, or all of them, and logs the receipts', async () => {
    const retrieve = vi.fn(async (_query: string, _uuids: string[] | null, _signal: AbortSignal) => found);
    const one = await turn([ask, 'Two years.'], {
      definition: agent({ document_uuids: [uuid] }),
      world: { retrieve, sleep: () => new Promise(() => {}) },
    });
    expect(one.results).toEqual(['Two years.']);
    await turn([ask, 'x'], {
      definition: agent({ knowledge_base: true, document_uuids: [uuid] }),
      world: { retrieve, sleep: () => new Promise(() => {}) },
    });
    const query = 'How long is the warranty?';
    expect(retrieve.mock.calls).toEqual([
      [query, [uuid], expect.any(AbortSignal)],
      [query, null, expect.any(AbortSignal)],
    ]);
    expect(one.events('tool_called')).toMatchObject([{ answer: 'Two years.', receipts: found.receipts }]);
  });

  test('logs every receipt, however much was found: only the model gets all of it', async () => {
    const text = '"Two" years.\n'.repeat(800);
    const receipts = Array.from({ length: 5 }, (_, index) => ({
      chunk_id: 2 ** 40 + index,
      document_uuid: uuid,
      filename: 'n'.repeat(255),
      similarity: 0.123_456_789_012_345_6,
      vector_rank: 100,
      keyword_rank: null,
    }));
    const { results, events } = await turn([{ calls: [['search_knowledge_base', { query: '"'.repeat(500) }]] }, 'x'], {
      definition: agent({ knowledge_base: true }),
      world: { retrieve: async () => ({ text, receipts }), sleep: () => new Promise(() => {}) },
    });
    expect(results).toEqual([text]);
    expect(events('tool_called')).toMatchObject([{ receipts, answer: `${text.slice(0, 2_000)}...` }]);
  });

  test('takes no query that is longer than a question', async () => {
    const retrieve = vi.fn(async () => found);
    const { results } = await turn([{ calls: [['search_knowledge_base', { query: 'x'.repeat(501) }]] }, 'x'], {
      definition: agent({ knowledge_base: true }),
      world: { retrieve },
    });
    expect([results[0].error, retrieve.mock.calls.length]).toEqual([expect.stringMatching(/^The arguments do not fit: query: /), 0]);
  });

  test('takes 1.5 seconds at most, then the agent answers without', async () => {
    const sleep = vi.fn(async () => {});
    let signal: AbortSignal | undefined;
    const retrieve = async (_query: string, _uuids: string[] | null, given: AbortSignal) => {
      signal = given;
      return new Promise<never>(() => {});
    };
    const { results, outcome, events } = await turn([ask, 'I cannot say.'], {
      definition: agent({ knowledge_base: true }),
      world: { retrieve, sleep },
    });
    expect(results).toEqual([{ error: 'Nothing was found in time; answer without it' }]);
    expect([outcome.said, signal!.aborted]).toEqual([['I cannot say.'], true]);
    expect(sleep).toHaveBeenCalledWith(1_500);
    expect(events('tool_called')).toMatchObject([{ reason: 'The search took longer than 1500 ms' }]);
  });

  test.each([
    [new ServiceError('provider_failed', 'No index is bound'), 'No index is bound'],
    [new TypeError('a secret of the service'), 'The search failed: TypeError'],
  ])('that fails does not disturb the talk, and only the log has the reason: %s', async (error, reason) => {
    const retrieve = async () => {
      throw error;
    };
    const { results, outcome, events } = await turn([ask, 'x'], {
      definition: agent({ knowledge_base: true }),
      world: { retrieve, sleep: () => new Promise(() => {}) },
    });
    expect(results).toEqual([{ error: 'The documents cannot be looked into now; answer without them' }]);
    expect([outcome.said, events('tool_called')]).toMatchObject([['x'], [{ reason, answer: results[0] }]]);
  });
});
