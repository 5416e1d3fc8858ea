import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { crashBeforeStart } from '../support/background.ts';
import { crashAtCall, type CrashWatch } from '../support/crashing-object.ts';
import { createActiveWorkflow, chain, waitForEndedRuns, readEverythingStored, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { testVariables } from '../support/variables.ts';
import { realFetch } from '../support/real-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const { OPENAI_API_KEY: key, OPENAI_BASE_URL: baseUrl } = testVariables;
type Body = Record<string, any>;
type Answer = (body: Body) => Response | Promise<Response>;

const completion = (content: string | null, more: Body = {}) =>
  Response.json({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-6-luna-2026-09-22',
    choices: [
      { index: 0, message: { role: 'assistant', content, refusal: more.refusal ?? null }, finish_reason: more.finish_reason ?? 'stop' },
    ],
    usage: { prompt_tokens: 21, completion_tokens: 4, total_tokens: 25 },
  });

/** The provider's error message, which repeats the key and the prompt. */
const refusal = (status: number, code: string, headers: Record<string, string> = {}, type = 'invalid_request_error') =>
  Response.json({ error: { message: `Bad ${key}: a canary prompt`, type, param: null, code } }, { status, headers });

/** The provider: gives the answers in turn, and repeats the last one. Keeps its requests. */
function provider(...answers: Answer[]): { headers: Headers; body: Body }[] {
  const asked: { headers: Headers; body: Body }[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit);
    if (request.url !== `${baseUrl}/chat/completions`) return realFetch(request);
    const body = (await request.json()) as Body;
    asked.push({ headers: request.headers, body });
    return (answers.length > 1 ? answers.shift()! : answers[0]!)(body);
  });
  return asked;
}

const ask = (data: object) => ({ id: 'ask', type: 'llm', data: { prompt: 'A canary prompt for {{ contact.first_name }}', ...data } });
const patient = { max_attempts: 2, initial_delay_seconds: 0 };

/** Executes a journey for a contact called Ada and answers the ended run with its history. */
async function execute(definition: unknown, settings: object = {}) {
  const { client, id: organizationId } = await newOrganization();
  const contact = await client.post('/contacts', { phone: newPhone(), first_name: 'Ada' });
  const workflow = await createActiveWorkflow(client, { definition, settings: { retry: { max_attempts: 1 }, ...settings } });
  await client.post(`/automation-workflows/${workflow}/execute`, { context: { order: 'A-17' }, contact_id: contact.body.id });
  const [run] = await waitForEndedRuns(client, workflow);
  return { run, client, organizationId, history: await historyOf(client, run.id) };
}

const historyOf = async (client: Client, runId: number): Promise<any[]> =>
  (await client.get(`/automation-workflows/runs/${runId}/history`)).body.history;

const mood = {
  type: 'object',
  properties: { mood: { type: 'string', enum: ['good', 'bad'] }, days: { type: 'array', items: { type: 'string' } } },
  required: ['mood', 'days'],
  additionalProperties: false,
};

test('the rendered prompt is sent, and later steps read the text under save_as and among the steps', async () => {
  const asked = provider(() => completion('Hello Ada'));
  const nodes = [
    ask({ system: 'You are kind to order {{ order }}.', save_as: 'greeting' }),
    { id: 'use', type: 'set_context', data: { assign: { subject: '{{ greeting }}!', cost: '{{ steps.ask.usage.completion_tokens }}' } } },
  ];
  const { run, history } = await execute(chain(...nodes));
  expect(run).toMatchObject({ state: 'completed', context: { greeting: 'Hello Ada', subject: 'Hello Ada!', cost: 4 } });
  expect(asked).toHaveLength(1);
  expect(asked[0]!.headers.get('authorization')).toBe(`Bearer ${key}`);
  expect(asked[0]!.body).toEqual({
    model: 'gpt-6-luna',
    messages: [
      { role: 'system', content: 'You are kind to order A-17.' },
      { role: 'user', content: 'A canary prompt for Ada' },
    ],
  });
  expect(history.find((entry) => entry.node_id === 'ask')).toMatchObject({
    status: 'completed',
    output: { result: 'Hello Ada', model: 'gpt-6-luna-2026-09-22', usage: { prompt_tokens: 21, completion_tokens: 4 } },
  });
});

test('an answer by schema is JSON that branches can read', async () => {
  const asked = provider(() => completion('{"mood":"bad","days":["Tuesday","Friday"]}'));
  const definition = {
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      ask({ output_schema: mood, save_as: 'feeling', model: 'gpt-5.4' }),
      { id: 'branch', type: 'switch', data: { value: '{{ feeling.mood }}', cases: [{ key: 'sorry', equals: 'bad' }] } },
      { id: 'sorry', type: 'exit', data: { outcome: '{{ feeling.days | last }}' } },
      { id: 'fine', type: 'exit', data: { outcome: 'fine' } },
    ],
    edges: [
      { id: 'e1', source: 'in', target: 'ask' },
      { id: 'e2', source: 'ask', target: 'branch' },
      { id: 'e3', source: 'branch', source_handle: 'sorry', target: 'sorry' },
      { id: 'e4', source: 'branch', source_handle: 'default', target: 'fine' },
    ],
  };
  const { run } = await execute(definition);
  expect(run).toMatchObject({ state: 'completed', outcome: 'Friday', context: { feeling: { mood: 'bad', days: ['Tuesday', 'Friday'] } } });
  expect(asked[0]!.body).toMatchObject({
    model: 'gpt-5.4',
    response_format: { type: 'json_schema', json_schema: { strict: true, schema: mood } },
  });
});

test.each<[string, Answer, object]>([
  ['an unknown key', () => refusal(401, 'invalid_api_key'), { type: 'invalid_credentials' }],
  [
    'an unknown model',
    () => refusal(404, 'model_not_found'),
    { type: 'model_not_found', message: expect.stringContaining('"gpt-6-luna"') },
  ],
  ['too long a prompt', () => refusal(400, 'context_length_exceeded'), { type: 'context_length_exceeded' }],
  ['an empty account', () => refusal(429, 'insufficient_quota', {}, 'insufficient_quota'), { type: 'insufficient_quota' }],
  ['another refusal', () => refusal(400, 'unsupported_value'), { type: 'invalid_request' }],
  ['a refusing model', () => completion(null, { refusal: 'I will not.' }), { type: 'refused' }],
  ['a filtered answer', () => completion('He', { finish_reason: 'content_filter' }), { type: 'content_filter' }],
  ['an answer that is cut off', () => completion('{"mood":', { finish_reason: 'length' }), { type: 'output_truncated' }],
])('%s fails the run at once with its own error type, and neither key nor prompt is shown', async (_case, answer, expected) => {
  const asked = provider(answer);
  const { run, history } = await execute(chain(ask({ output_schema: mood })), { retry: { max_attempts: 3, initial_delay_seconds: 0 } });
  expect(run).toMatchObject({ state: 'failed', error: { node_id: 'ask', attempt: 1, ...expected } });
  expect(asked).toHaveLength(1);
  for (const shown of [run.error, history.map(({ output, error }) => [output, error])]) {
    expect(JSON.stringify(shown)).not.toContain(key);
    expect(JSON.stringify(shown)).not.toContain('anary');
  }
});

test('an answer that does not fit the schema is asked for again, and in the end reported with its place', async () => {
  const asked = provider(
    () => completion('not JSON'),
    () => completion('{"mood":"good","days":[]}'),
  );
  const { run, history } = await execute(chain(ask({ output_schema: mood, save_as: 'feeling' })), { retry: patient });
  expect(run).toMatchObject({ state: 'completed', context: { feeling: { mood: 'good', days: [] } } });
  expect(asked).toHaveLength(2);
  expect(history.filter((entry) => entry.node_id === 'ask')).toMatchObject([
    { attempt: 1, status: 'retrying', error: { type: 'invalid_output' } },
    { attempt: 2, status: 'completed' },
  ]);
  vi.restoreAllMocks();
  provider(() => completion('{"mood":"fine","days":[1]}'));
  const failed = await execute(chain(ask({ output_schema: mood })), { retry: patient });
  expect(failed.run.error).toMatchObject({
    type: 'invalid_output',
    attempt: 2,
    message: expect.stringMatching(/mood: .*; days\.0: Must be string/),
  });
});

test('an error of the provider is tried again within the step, a failure of the step takes the error edge', async () => {
  const asked = provider(
    () => new Response('overloaded', { status: 503 }),
    () => completion('There'),
  );
  const { run, history } = await execute(chain(ask({ save_as: 'answer' })));
  expect(run).toMatchObject({ state: 'completed', context: { answer: 'There' } });
  expect(asked).toHaveLength(2);
  expect(history.filter((entry) => entry.node_id === 'ask')).toMatchObject([{ attempt: 1, status: 'completed' }]);
  vi.restoreAllMocks();
  provider(() => refusal(401, 'invalid_api_key'));
  const definition = chain(ask({}));
  definition.nodes.push({ id: 'apology', type: 'exit', data: { outcome: '{{ steps.ask.error.type }}' } });
  definition.edges.push({ id: 'e9', source: 'ask', source_handle: 'error', target: 'apology' } as (typeof definition.edges)[number]);
  expect((await execute(definition)).run).toMatchObject({ state: 'completed', outcome: 'invalid_credentials' });
});

test('a short Retry-After is waited out within the step, and a long one makes the run sleep', async () => {
  const waited = provider(
    () => refusal(429, 'rate_limit_exceeded', { 'retry-after': '1', 'retry-after-ms': '30' }, 'requests'),
    () => completion('There'),
  );
  expect((await execute(chain(ask({ save_as: 'answer' })))).run).toMatchObject({ context: { answer: 'There' } });
  expect(waited).toHaveLength(2);
  vi.restoreAllMocks();
  const asked = provider(() => refusal(429, 'rate_limit_exceeded', { 'retry-after': '120' }, 'requests'));
  const { client, id: organizationId } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: chain(ask({})), settings: { retry: patient } });
  const startedAt = Date.now();
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  await waitForRunState(client, body.id, 'waiting');
  expect(asked).toHaveLength(1);
  const entry = (await historyOf(client, body.id)).find(({ node_id: node }) => node === 'ask');
  expect(entry).toMatchObject({ status: 'retrying', error: { type: 'rate_limited' } });
  const wakesAt = await runInDurableObject(runStub(organizationId, body.id), (_instance, state) => state.storage.getAlarm());
  expect(wakesAt! - startedAt).toBeGreaterThan(115_000);
  await client.post(`/automation-workflows/runs/${body.id}/stop`);
});

/** More calls than such a run makes, so that the last cases run undisturbed. */
const callsOfARun = 10;

test.each(['before', 'after'] as const)(
  'an object that dies %s any of its calls, the question included, asks again in the same attempt and ends with one answer',
  { tags: 'soak', timeout: 60_000 },
  async (moment) => {
    const { client, id: organizationId } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { definition: chain(ask({ prompt: 'case {{ n }}', save_as: 'answer' })) });
    const watches = new Map<string, CrashWatch>();
    const asked = provider(({ messages }) => {
      const watch = watches.get(messages[0].content)!;
      const answer = async () => completion('There');
      return watch.died ? answer() : watch.watched(answer);
    });
    vi.spyOn(console, 'log').mockReturnValue();
    const runs: number[] = [];
    await crashBeforeStart(async () => {
      for (let n = 1; n <= callsOfARun; n++)
        runs.push((await client.post(`/automation-workflows/${workflow}/execute`, { context: { n } })).body.id);
    });
    await Promise.all(
      runs.map(async (run, index) => {
        const watch = await crashAtCall(runStub(organizationId, run), index + 1, moment);
        watches.set(`case ${index + 1}`, watch);
        const start = () => runStub(organizationId, run).start(organizationId, run);
        await start().catch(() => undefined);
        await vi.waitFor(
          async () => {
            if (watch.died) await start();
            expect((await client.get(`/automation-workflows/runs/${run}`)).body).toMatchObject({
              state: 'completed',
              context: { answer: 'There' },
            });
          },
          { timeout: 25_000, interval: 100 },
        );
        const visits = (await historyOf(client, run)).filter(({ node_id: node }) => node === 'ask');
        expect(visits).toMatchObject([{ attempt: 1, status: 'completed' }]);
      }),
    );
    const times = runs.map((_run, index) => asked.filter(({ body }) => body.messages[0].content === `case ${index + 1}`).length);
    // A run that died at the request, or before it stored the answer, asked a second time; no run asked a third time.
    expect(Math.max(...times)).toBe(2);
    expect(times.at(-1)).toBe(1);
    expect(watches.get(`case ${callsOfARun}`)!.died).toBe(false);
  },
);

test('a dry run shows the question and sends no request', async () => {
  const asked = provider(() => completion('never'));
  const { client } = await newOrganization();
  const { body: workflow } = await client.post('/automation-workflows', { name: 'Dry', definition: chain(ask({ output_schema: mood })) });
  const { body } = await client.post(`/automation-workflows/${workflow.id}/test`, { context: {} });
  expect(body.history.find((entry: { node_id: string }) => entry.node_id === 'ask')).toMatchObject({
    status: 'simulated',
    output: { simulated: true, request: { model: null, system: null, prompt: 'A canary prompt for ', output_schema: mood } },
  });
  expect(asked).toEqual([]);
});

test('the key comes out nowhere: not in the database, the files, the run or a log line, also when the provider repeats it', async () => {
  const lines: string[] = [];
  for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const)
    vi.spyOn(console, level).mockImplementation((...values) => void lines.push(values.map(String).join(' ')));
  provider(
    () => refusal(500, 'server_error'),
    () => refusal(400, 'invalid_json_schema'),
  );
  const { run, organizationId, history } = await execute(chain(ask({})));
  expect(run.state).toBe('failed');
  const texts = JSON.stringify([run, history, lines]) + (await readEverythingStored(organizationId, run.id));
  expect(texts).toContain('failed');
  expect(texts).not.toContain(key);
});
