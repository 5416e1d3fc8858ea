import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { handbook, knowledgeService } from '../knowledge-base/knowledge-service.ts';
import { crashBeforeStart } from '../support/background.ts';
import { simulatorsUrl } from '../support/carrier.ts';
import { crashAtCall, evictWhenReached, type CrashPoint, type CrashWatch } from '../support/crashing-object.ts';
import { createActiveWorkflow, chain, waitForEndedRuns, readEverythingStored, waitForRunState, runStub } from '../support/journeys.ts';
import type { Client } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';
import { testVariables } from '../support/variables.ts';
import { realFetch } from '../support/real-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const { OPENAI_API_KEY: key, OPENAI_BASE_URL: baseUrl } = testVariables;
const asked = 'How long can customers send an item back?';

/** The simulated provider answers the queries of runs, as it embeds the documents. */
const simulated = (request: Request) => fetch(`${simulatorsUrl}/openai/v1/embeddings`, request);
const embeddings = (answer: (request: Request) => Response | Promise<Response> = simulated) => stubFetch(`${baseUrl}/embeddings`, answer);

/** The provider's error message, which repeats the key. */
const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ error: { message: `Bad ${key}`, type: 'invalid_request_error', param: null, code } }, { status, headers });

const look = (data: object = {}) => ({ id: 'look', type: 'knowledge_search', data: { query: '{{ question }}', ...data } });

/** `look`, with an exit of its own at each of these handles. */
const branching = (data: object, handles: string[]) => ({
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    look(data),
    ...handles.map((handle) => ({ id: handle, type: 'exit', data: { outcome: `${handle} {{ steps.look.error.type }}` } })),
  ],
  edges: [
    { id: 'e', source: 'in', target: 'look' },
    ...handles.map((handle) => ({ id: handle, source: 'look', source_handle: handle, target: handle })),
  ],
});

const historyOf = async (client: Client, run: number): Promise<any[]> =>
  (await client.get(`/automation-workflows/runs/${run}/history`)).body.history;

/** Executes a journey and answers its ended run. */
async function execute(client: Client, definition: unknown, context: object = { question: asked }, settings: object = {}) {
  const workflow = await createActiveWorkflow(client, { definition, settings: { retry: { max_attempts: 1 }, ...settings } });
  await client.post(`/automation-workflows/${workflow}/execute`, { context });
  const [run] = await waitForEndedRuns(client, workflow);
  return { run, history: (await historyOf(client, run.id)).filter(({ node_id: node }) => node === 'look') };
}

/** Tests a draft without side effects. */
async function dryRun(client: Client, definition: unknown, context: object = { question: asked }, settings: object = {}) {
  const { body } = await client.post('/automation-workflows', { name: 'Journey', definition, settings });
  return (await client.post(`/automation-workflows/${body.id}/test`, { context })).body;
}

async function withHandbook() {
  const service = await knowledgeService();
  const { document_uuid: uuid } = await service.process({ content: handbook() });
  return { ...service, uuid };
}

describe('a search in a journey', () => {
  test('finds what the endpoint finds, for later steps to read', async () => {
    const { client, uuid, search } = await withHandbook();
    embeddings();
    const nodes = [
      look({ limit: 2, save_as: 'facts' }),
      { id: 'use', type: 'set_context', data: { assign: { best: '{{ steps.look.chunks[0].chunk_text }}', length: '{{ facts | size }}' } } },
    ];
    const { run, history } = await execute(client, chain(...nodes));
    const { look: output } = run.context.steps;
    const chunks = await search(asked, { limit: 2 });
    expect(output).toEqual({
      query: asked,
      total_results: 2,
      chunks: chunks.map(({ contextualized_text: _text, ...chunk }) => ({
        ...chunk,
        vector_rank: expect.any(Number),
        keyword_rank: chunk.id === chunks[0].id ? 1 : expect.toBeOneOf([null, expect.any(Number)]),
      })),
      text: expect.stringContaining('within 45 days'),
    });
    expect(output.chunks[0].document_uuid).toBe(uuid);
    expect(run).toMatchObject({ state: 'completed', outcome: 'done' });
    expect(run.context).toMatchObject({
      facts: output.text,
      best: expect.stringContaining('within 45 days'),
      length: output.text.length,
    });
    expect(history).toMatchObject([{ status: 'completed', attempt: 1, input: { query: '{{ question }}' }, output }]);
  });

  test('keeps to the named documents, the similarity threshold and the mode', async () => {
    const { client, process, uuid } = await withHandbook();
    const { document_uuid: other } = await process({ content: handbook('of the other shop'), filename: 'other.md' });
    embeddings();
    const found = async (data: object) => (await execute(client, chain(look({ limit: 50, ...data })))).run.context.steps.look.chunks;
    const all = await found({});
    expect(new Set(all.map((chunk: any) => chunk.document_uuid))).toEqual(new Set([uuid, other]));
    const there = await found({ document_uuids: [other.toUpperCase()] });
    expect(new Set(there.map((chunk: any) => chunk.document_uuid))).toEqual(new Set([other]));
    const least = all[0].similarity - 0.01;
    for (const chunk of await found({ min_similarity: least })) expect(chunk.similarity).toBeGreaterThanOrEqual(least);
    for (const { keyword_rank: rank } of await found({ mode: 'keyword' })) expect(rank).toEqual(expect.any(Number));
    for (const { keyword_rank: rank } of await found({ mode: 'vector' })) expect(rank).toBeNull();
  });

  test('goes on at found or empty, and at default without such an edge', async () => {
    const { client } = await withHandbook();
    embeddings();
    const outcomeOf = async (question: string, handles: string[]) =>
      (await execute(client, branching({ mode: 'keyword' }, handles), { question })).run.outcome;
    expect(await outcomeOf('kettles', ['found', 'empty', 'default'])).toBe('found ');
    expect(await outcomeOf('zeppelins', ['found', 'empty', 'default'])).toBe('empty ');
    expect(await outcomeOf('kettles', ['empty', 'default'])).toBe('default ');
    expect(await outcomeOf('zeppelins', ['found', 'default'])).toBe('default ');
  });

  test('finds nothing of a document that was deleted after the activation', async () => {
    const { client, uuid, work } = await withHandbook();
    embeddings();
    const workflow = await createActiveWorkflow(client, { definition: branching({ document_uuids: [uuid] }, ['found', 'empty']) });
    const outcome = async (run: number) => (await waitForRunState(client, run, 'completed')).outcome;
    const start = async () => (await client.post(`/automation-workflows/${workflow}/execute`, { context: { question: asked } })).body.id;
    expect(await outcome(await start())).toBe('found ');
    await client.delete(`/knowledge-base/documents/${uuid}`);
    expect(await outcome(await start())).toBe('empty ');
    await work();
    expect(await outcome(await start())).toBe('empty ');
  });

  test('adds at most half of the room for the context', async () => {
    const { client, process } = await knowledgeService();
    const sentence = (section: number) =>
      `The gadget of part ${section} has a “long” story, and parts of it are told here again and again. `;
    const content = Array.from({ length: 60 }, (_, section) => `## Part ${section}\n\n${sentence(section).repeat(16)}\n`).join('\n');
    await process({ content, filename: 'gadgets.md' });
    embeddings();
    const { run } = await execute(
      client,
      chain(look({ limit: 50, save_as: 'facts' }), { ...look({ limit: 50, save_as: 'others' }), id: 'again' }),
      { question: 'gadget' },
    );
    expect(run).toMatchObject({ state: 'completed', outcome: 'done' });
    const { total_results: total, chunks, note, text } = run.context.steps.look;
    expect(total).toBe(50);
    expect(chunks.length).toBeLessThan(50);
    expect(note).toContain(`${50 - chunks.length} of 50 passages are left out`);
    expect(text).toContain(note);
  });
});

describe('a search that cannot be made', { tags: 'soak' }, () => {
  test('is retried while the provider is down, and fails in the end', async () => {
    const { client } = await knowledgeService();
    embeddings(() => new Response('overloaded', { status: 503 }));
    const retry = { max_attempts: 2, initial_delay_seconds: 0 };
    const { run, history } = await execute(client, chain(look()), { question: asked }, { retry });
    expect(run).toMatchObject({
      state: 'failed',
      error: {
        node_id: 'look',
        type: 'provider_failed',
        attempt: 2,
        message: expect.stringMatching(/^The query could not be embedded: .*503/),
      },
    });
    expect(history).toMatchObject([
      { attempt: 1, status: 'retrying', error: { type: 'provider_failed' } },
      { attempt: 2, status: 'failed', error: { type: 'provider_failed' } },
    ]);
  });

  test('continues normally when the provider works again', async () => {
    const { client } = await withHandbook();
    let answers = 0;
    embeddings((request) => (answers++ < 3 ? new Response('overloaded', { status: 503 }) : simulated(request)));
    const retry = { max_attempts: 2, initial_delay_seconds: 0 };
    const { run, history } = await execute(client, branching({}, ['found', 'empty', 'error']), { question: asked }, { retry });
    expect(run.outcome).toBe('found ');
    expect(history.map(({ status }) => status)).toEqual(['retrying', 'completed']);
  });

  test('is not retried when a retry is useless, and takes the error edge', async () => {
    const { client } = await knowledgeService();
    const requests = embeddings(() => refusal(401, 'invalid_api_key'));
    const retry = { max_attempts: 3, initial_delay_seconds: 0 };
    const { run } = await execute(client, branching({}, ['found', 'error']), { question: asked }, { retry });
    expect(run).toMatchObject({ state: 'completed', outcome: 'error invalid_credentials' });
    expect(requests).toHaveLength(1);
  });

  test('fails with the missing setting when no provider is configured', async () => {
    const { client, id } = await knowledgeService();
    const requests = embeddings();
    const workflow = await createActiveWorkflow(client, { definition: chain(look()) });
    const { body } = await crashBeforeStart(() =>
      client.post(`/automation-workflows/${workflow}/execute`, { context: { question: asked } }),
    );
    await runInDurableObject(runStub(id, body.id), (instance) => {
      const object = instance as unknown as { env: Env };
      object.env = Object.assign({}, object.env, { OPENAI_API_KEY: '' });
    });
    await runStub(id, body.id).start(id, body.id);
    const run = await waitForRunState(client, body.id, 'failed');
    expect(run.error).toMatchObject({ type: 'not_configured', attempt: 1, message: expect.stringContaining('OPENAI_API_KEY is empty') });
    expect(requests).toEqual([]);
  });

  test('sends no request for a query that renders to nothing, and names the field', async () => {
    const { client } = await knowledgeService();
    const requests = embeddings();
    const { run, history } = await execute(client, chain(look()), {});
    expect(run.error).toMatchObject({
      node_id: 'look',
      type: 'invalid_query',
      attempt: 1,
      message: expect.stringMatching(/^query renders to nothing/),
    });
    expect(history).toHaveLength(1);
    expect(requests).toEqual([]);
  });

  test('shows the key nowhere, even if the provider repeats it', async () => {
    const lines: string[] = [];
    for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(console, level).mockImplementation((...values) => void lines.push(values.map(String).join(' ')));
    const { client, id } = await knowledgeService();
    embeddings(() => refusal(400, 'bad_request'));
    const { run, history } = await execute(client, chain(look()));
    const texts = JSON.stringify([run, history, lines]) + (await readEverythingStored(id, run.id));
    expect(texts).toContain('failed');
    expect(texts).not.toContain(key);
  });
});

describe('the definition of a search', () => {
  const problemsOf = async (client: Client, data: object) => {
    const { body } = await client.post('/automation-workflows', { name: 'Draft', definition: chain(look(data)) });
    const answer = await client.patch(`/automation-workflows/${body.id}`, { status: 'active' });
    expect(answer.status).toBe(422);
    const validated = await client.post(`/automation-workflows/${body.id}/validate`, {});
    expect(validated.body).toMatchObject({ valid: false, errors: answer.body.detail });
    return answer.body.detail.map(({ loc, msg }: { loc: string[]; msg: string }) => `${loc.join('.')}: ${msg}`);
  };
  const place = 'body.definition.nodes.look.data';

  test.each<[string, object]>([
    ['query', { query: ' ' }],
    ['query', { query: '{{ question' }],
    ['limit', { limit: 101 }],
    ['document_uuids.0', { document_uuids: ['handbook.md'] }],
    ['min_similarity', { min_similarity: 2 }],
    ['mode', { mode: 'fuzzy' }],
    ['save_as', { save_as: 'now' }],
  ])('is refused with the place of the fault in %s', async (field, data) => {
    const { client } = await knowledgeService();
    const problems = await problemsOf(client, data);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${place}.${field}: .`));
  });

  test('accepts existing documents of this organization, and reports every other document', async () => {
    const { client, uuid, process } = await withHandbook();
    const { document_uuid: gone } = await process({ content: handbook('of old'), filename: 'old.md' });
    await client.delete(`/knowledge-base/documents/${gone}`);
    const { uuid: theirs } = await withHandbook();
    const nowhere = crypto.randomUUID();
    expect(await problemsOf(client, { document_uuids: [uuid, theirs, gone, nowhere] })).toEqual(
      [theirs, gone, nowhere].map(
        (named, index) =>
          `${place}.document_uuids.${index + 1}: There is no document ${named} in this organization; name one of GET /knowledge-base/documents`,
      ),
    );
    await createActiveWorkflow(client, { definition: chain(look({ document_uuids: [uuid.toUpperCase()] })) });
  });
});

describe('a search by another organization', () => {
  test('finds nothing, neither by its query nor by naming the documents', async () => {
    const { uuid: theirs } = await withHandbook();
    const { client } = await knowledgeService();
    embeddings();
    expect((await execute(client, branching({ limit: 50 }, ['found', 'empty']))).run.outcome).toBe('empty ');
    const other = await withHandbook();
    const definition = branching({ document_uuids: [other.uuid], limit: 50 }, ['found', 'empty']);
    const workflow = await createActiveWorkflow(other.client, { definition });
    // No definition with a document of another organization goes active, so the test inserts it directly.
    await env.DB.prepare('UPDATE automation_version SET definition = replace(definition, ?, ?) WHERE workflow_id = ?')
      .bind(other.uuid, theirs, workflow)
      .run();
    await other.client.post(`/automation-workflows/${workflow}/execute`, { context: { question: asked } });
    const [run] = await waitForEndedRuns(other.client, workflow);
    expect((await historyOf(other.client, run.id))[1].input.document_uuids).toEqual([theirs]);
    expect(run.outcome).toBe('empty ');
  });
});

describe('a dry run', () => {
  test('searches for real, since a search changes nothing', async () => {
    const { client } = await withHandbook();
    const tried = await dryRun(client, branching({ limit: 1, save_as: 'facts' }, ['found', 'empty']));
    expect(tried).toMatchObject({ state: 'completed', outcome: 'found ', context: { facts: expect.stringContaining('within 45 days') } });
    expect(tried.history.find(({ node_id: node }: any) => node === 'look')).toMatchObject({
      status: 'completed',
      output: { query: asked, total_results: 1 },
    });
  });

  test('sends the same query once, however often a loop repeats it', async () => {
    const { client } = await withHandbook();
    const requests = stubFetch(`${simulatorsUrl}/openai/v1/embeddings`, (request) => realFetch(request));
    const definition = {
      nodes: [{ id: 'in', type: 'trigger', data: {} }, look({ limit: 1 }), { id: 'day', type: 'wait', data: { duration: 'P1D' } }],
      edges: [
        { id: 'a', source: 'in', target: 'look' },
        { id: 'b', source: 'look', target: 'day' },
        { id: 'c', source: 'day', target: 'look' },
      ],
    };
    const tried = await dryRun(client, definition, { question: asked }, { timeout: 'P20D' });
    expect(tried.error).toMatchObject({ type: 'timeout' });
    expect(tried.history.filter(({ node_id: node }: any) => node === 'look').length).toBeGreaterThan(15);
    expect(requests).toHaveLength(1);
  });

  test('reports the errors of a real run', async () => {
    const { client } = await knowledgeService({ bindings: { OPENAI_API_KEY: '' } });
    expect(await dryRun(client, chain(look()))).toMatchObject({ state: 'failed', error: { type: 'not_configured', attempt: 1 } });
    expect(await dryRun(client, chain(look()), {})).toMatchObject({ state: 'failed', error: { type: 'invalid_query' } });
  });
});

/** More calls than such a run makes, so that the last cases run undisturbed. */
const callsOfARun = 14;

for (const moment of ['before', 'after', 'during'] as CrashPoint[])
  test(
    `a run whose object dies at any of its calls (${moment}), those of the search included, ends with what was found, once`,
    { tags: 'soak', timeout: 60_000 },
    async () => {
      const { client, id } = await withHandbook();
      const workflow = await createActiveWorkflow(client, {
        definition: chain(look({ query: 'kettle {{ n }}', limit: 1, save_as: 'facts' })),
      });
      const watches = new Map<string, CrashWatch>();
      const times = new Map<string, number>();
      embeddings(async (request) => {
        const [input] = ((await request.clone().json()) as { input: string[] }).input;
        times.set(input!, (times.get(input!) ?? 0) + 1);
        const watch = watches.get(input!)!;
        return watch.died ? simulated(request) : watch.watched(() => simulated(request));
      });
      vi.spyOn(console, 'log').mockReturnValue();
      const runs: number[] = [];
      await crashBeforeStart(async () => {
        for (let n = 1; n <= callsOfARun; n++)
          runs.push((await client.post(`/automation-workflows/${workflow}/execute`, { context: { n } })).body.id);
      });
      const deaths = await Promise.all(
        runs.map(async (run, index) => {
          const watch = await crashAtCall(runStub(id, run), index + 1, moment);
          watches.set(`kettle ${index + 1}`, watch);
          const start = () => runStub(id, run).start(id, run);
          const started = start().catch(() => undefined);
          if (moment === 'during') await evictWhenReached(watch, runStub(id, run));
          await started;
          await vi.waitFor(
            async () => {
              if (watch.died) await start();
              expect((await client.get(`/automation-workflows/runs/${run}`)).body, `call ${index + 1}`).toMatchObject({
                state: 'completed',
                context: { facts: expect.stringContaining('three year warranty') },
              });
            },
            { timeout: 25_000, interval: 100 },
          );
          expect((await historyOf(client, run)).map(({ node_id, status, attempt }) => `${node_id} ${status} ${attempt}`)).toEqual(
            ['in', 'look', 'out'].map((node) => `${node} completed 1`),
          );
          return watch.died;
        }),
      );
      expect(deaths.filter(Boolean).length).toBeGreaterThan(5);
      expect(deaths.at(-1)).toBe(false);
      // A run that died before it stored the answer asked a second time; no run asked a third time. An eviction waits for the answer.
      expect(Math.max(...times.values())).toBe(moment === 'during' ? 1 : 2);
      expect(times.get(`kettle ${callsOfARun}`)).toBe(1);
    },
  );
