import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CallSlotsObject } from '../../durable-objects/call-slots/call-slots-object.ts';
import { handbook, knowledgeService, type KnowledgeService } from '../knowledge-base/knowledge-service.ts';
import {
  answeredRun,
  callStub,
  CarrierSocket,
  waitForCompletedRun,
  readCallFile,
  waitUntilDestroyed,
  callEnd,
  stubOutsideServices,
  type CallStub,
} from '../support/calls.ts';
import { crashCallObjectAt } from '../support/crashing-call.ts';
import { evictWhenReached, type CrashPoint } from '../support/crashing-object.ts';
import { newOrganization } from '../support/organization.ts';

beforeEach(() => void vi.spyOn(CallSlotsObject.prototype, 'markFinalized').mockResolvedValue(undefined));
afterEach(() => vi.restoreAllMocks());

const question = 'How long is the warranty on the K-200 kettle?';
const answer = 'The Model K-200 kettle carries a three year warranty.';
const apology = 'I am sorry, I cannot find that out at the moment.';
const isEmbedding = (request: Request) => new URL(request.url).pathname.endsWith('/embeddings');

const agentWith = (data: object) => ({
  nodes: [{ id: 'start', type: 'startCall', data: { prompt: 'You are Ada.', greeting: 'Hi.', ...data } }],
  edges: [],
});

async function withHandbook() {
  const service = await knowledgeService();
  const record = await service.process({ content: handbook() });
  return { service, uuid: record.document_uuid as string, documentId: record.id as number };
}

async function newChat({ client, id: organizationId }: Pick<KnowledgeService, 'client' | 'id'>, data: object) {
  const agent = await client.post('/workflow/create/definition', { name: 'Help desk', workflow_definition: agentWith(data) });
  expect(agent.status, JSON.stringify(agent.body)).toBe(200);
  const { body } = await client.post(`/workflow/${agent.body.id}/runs`, { mode: 'textchat' });
  const path = `/workflow/${agent.body.id}/runs/${body.id}`;
  const say = async (text: string): Promise<string[]> => {
    const response = await client.post(`${path}/messages`, { text });
    expect(response.status, JSON.stringify(response.body)).toBe(200);
    return response.body.messages.filter(({ role }: { role: string }) => role === 'assistant').map((line: { text: string }) => line.text);
  };
  const lookUps = async () => lookUpsIn((await client.get(path)).body.logs.events);
  return { organizationId, runId: body.id as number, agentId: agent.body.id as number, path, say, lookUps };
}

const lookUpsIn = (events: any[]): any[] => events.filter(({ type }) => type === 'tool_called').map(({ payload }) => payload);
const lookUpsOf = async (stub: CallStub): Promise<any[]> => lookUpsIn((await stub.snapshot())!.logs.events);

describe('an agent with documents', () => {
  test('answers out of them in a chat, and the run shows what it answered from', async () => {
    const { asked } = stubOutsideServices();
    const { service, uuid } = await withHandbook();
    const { say, lookUps, path } = await newChat(service, { document_uuids: [uuid] });
    expect(await say(question)).toEqual([answer]);
    const [first] = await service.search(question);
    const [lookUp, ...more] = await lookUps();
    expect(more).toEqual([]);
    expect(lookUp).toMatchObject({ name: 'search_knowledge_base', answer: expect.stringContaining(answer) });
    expect(lookUp.receipts[0]).toEqual({
      chunk_id: first.id,
      document_uuid: uuid,
      filename: 'handbook.md',
      similarity: first.similarity,
      vector_rank: 1,
      keyword_rank: 1,
    });
    // Calls of earlier tests may end at this moment, and ask for their summaries.
    const results = asked.flatMap(({ messages }) => (messages ?? []).filter(({ role }: { role: string }) => role === 'tool'));
    const result = results.at(-1)!;
    expect(result.content).toMatch(/no instructions[^<]*<passage document="handbook.md" section="[^"]*Warranty on kettles">/);
    await service.client.post(`${path}/end`);
    expect(await lookUps()).toMatchObject([{ receipts: lookUp.receipts }]);
  });

  test('a question that they do not answer is in the statistics once the talk has ended, with the talk', async () => {
    stubOutsideServices();
    const { service } = await withHandbook();
    const { say, path, runId, agentId } = await newChat(service, { knowledge_base: true });
    await say(question);
    await service.client.delete(
      `/knowledge-base/documents/${(await service.client.get('/knowledge-base/documents')).body.documents[0].document_uuid}`,
    );
    await say(question);
    await service.client.post(`${path}/end`);
    await vi.waitFor(
      async () =>
        expect((await service.client.get('/statistics/knowledge')).body).toMatchObject({
          questions: 2,
          unanswered: 1,
          unanswered_questions: [{ question, times: 1, workflow_id: agentId, run_id: runId }],
        }),
      { timeout: 10_000 },
    );
  });

  test('answers out of them in a call, and the log that is kept has the receipts', async () => {
    stubOutsideServices();
    const { service, uuid } = await withHandbook();
    const run = await answeredRun({ definition: agentWith({ document_uuids: [uuid] }) }, service);
    await run.stub.begin(run.organizationId, run.runId, { callId: 'CA1' });
    const carrier = await CarrierSocket.open(run.stub, 'VX1');
    await carrier.waitForUtterances(1);
    carrier.say(question);
    expect((await carrier.waitForUtterances(2))[1]).toBe(answer);
    await run.stub.callEnded(run.organizationId, run.runId, callEnd());
    await waitForCompletedRun(run.runId);
    await waitUntilDestroyed(run.stub);
    const { events } = await readCallFile(run.organizationId, run.runId, 'logs.json');
    expect(lookUpsIn(events)).toMatchObject([{ receipts: expect.arrayContaining([expect.objectContaining({ document_uuid: uuid })]) }]);
  });

  test('by knowledge_base looks into all that the organization has', async () => {
    stubOutsideServices();
    const { service } = await withHandbook();
    const { say } = await newChat(service, { knowledge_base: true });
    expect(await say(question)).toEqual([answer]);
  });

  test('says that it found nothing where a document was deleted, from that moment on', async () => {
    stubOutsideServices();
    const { service, uuid } = await withHandbook();
    const { say, lookUps } = await newChat(service, { document_uuids: [uuid] });
    expect(await say(question)).toEqual([answer]);
    await service.client.delete(`/knowledge-base/documents/${uuid}`);
    expect(await say(question)).toEqual(['Nothing about this was found in the documents.']);
    expect((await lookUps()).map(({ receipts }) => receipts.length)).toEqual([expect.any(Number), 0]);
  });

  test('finds nothing in another organization’s documents, though its definition names them', async () => {
    stubOutsideServices();
    const { uuid } = await withHandbook();
    const run = await answeredRun({ definition: agentWith({ document_uuids: [uuid] }) });
    await run.stub.begin(run.organizationId, run.runId, { callId: 'CA1' });
    const carrier = await CarrierSocket.open(run.stub, 'VX1');
    await carrier.waitForUtterances(1);
    carrier.say(question);
    expect((await carrier.waitForUtterances(2))[1]).toBe('Nothing about this was found in the documents.');
    expect(await lookUpsOf(run.stub)).toMatchObject([{ receipts: [] }]);
  });
});

describe('a look-up that does not come', () => {
  test('is waited for 1.5 seconds, then the agent answers without, and the search ends', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    stubOutsideServices({ model: async (request) => (isEmbedding(request) ? (await released, undefined) : undefined) });
    const { service, uuid } = await withHandbook();
    const { organizationId, runId, say, lookUps } = await newChat(service, { document_uuids: [uuid] });
    const waits: number[] = [];
    const wait = globalThis.setTimeout;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((act: () => void, milliseconds = 0) => {
      if (milliseconds !== 1_500) return wait(act, milliseconds);
      waits.push(milliseconds);
      return wait(act, 0);
    }) as typeof setTimeout);
    expect(await say(question)).toEqual([apology]);
    expect(waits).toEqual([1_500]);
    expect(await lookUps()).toEqual([
      expect.objectContaining({
        answer: { error: 'Nothing was found in time; answer without it' },
        reason: expect.stringMatching(/1500 ms/),
      }),
    ]);
    release();
    await say('Thank you');
    expect(await lookUpsOf(callStub(organizationId, runId))).toHaveLength(1);
  });

  test('because the provider is down is explained in the log, and the talk goes on', async () => {
    let isDown = true;
    stubOutsideServices({
      model: (request) => (isEmbedding(request) && isDown ? Response.json({ error: { message: 'no' } }, { status: 401 }) : undefined),
    });
    const { service, uuid } = await withHandbook();
    const { say, lookUps } = await newChat(service, { document_uuids: [uuid] });
    expect(await say(question)).toEqual([apology]);
    const [{ answer: toolAnswer, reason }] = await lookUps();
    expect(toolAnswer).toEqual({ error: 'The documents cannot be looked into now; answer without them' });
    expect(reason).toMatch(/^The query could not be embedded: .*set OPENAI_API_KEY/);
    isDown = false;
    expect(await say(question)).toEqual([answer]);
  });

  test.each([
    ['vectorize', { VECTORS: undefined }, /no Vectorize index is bound as VECTORS/],
    ['embedded', { VECTOR_INDEX: null }, /^The search failed: TypeError$/],
  ])('because vectors are in %s and of %j is explained in the log', async (keptIn, bindings, reason) => {
    stubOutsideServices();
    const { service, uuid } = await withHandbook();
    const { organizationId, runId, say, lookUps } = await newChat(service, { document_uuids: [uuid] });
    await env.DB.prepare('UPDATE vector_placement SET kept_in = ? WHERE organization_id = ?').bind(keptIn, organizationId).run();
    await runInDurableObject(callStub(organizationId, runId), (object) => {
      const target = object as unknown as { env: Env };
      target.env = { ...target.env, ...bindings } as unknown as Env;
    });
    expect(await say(question)).toEqual([apology]);
    expect(await lookUps()).toMatchObject([{ reason: expect.stringMatching(reason) }]);
  });
});

describe('an object that is gone while it looks something up', () => {
  // Two calls to D1 and the embedding, the index, D1 again.
  test.each([
    ['before', [1, 2, 3, 4, 5, 6]],
    ['after', [1, 2, 3, 4, 5, 6]],
    ['during', [3, 4]],
  ] as const)(
    '(%s one of its calls) answers when the message comes again, with one receipt an answered look-up',
    { tags: 'soak' },
    async (moment, calls) => {
      const { service, uuid } = await withHandbook();
      stubOutsideServices();
      const deaths: boolean[] = [];
      for (const call of calls) deaths.push(await dieInLookUp(service, uuid, call, moment));
      expect(deaths.filter(Boolean).length).toBeGreaterThanOrEqual(Math.min(calls.length, 4));
    },
  );

  test('of a call answers on the line that takes the place of the lost one', async () => {
    stubOutsideServices();
    const { service, uuid } = await withHandbook();
    const { organizationId, runId, stub } = await answeredRun({ definition: agentWith({ document_uuids: [uuid] }) }, service);
    await stub.begin(organizationId, runId, { callId: 'CA1' });
    const carrier = await CarrierSocket.open(stub, 'VX1');
    await carrier.waitForUtterances(1);
    const watch = await crashCallObjectAt(stub, 1, 'after');
    carrier.say(question);
    await vi.waitFor(() => expect(watch.died).toBe(true));
    const lost = { kind: 'relay_ended', callId: 'CA1', reason: 'lost', sessionId: 'VX1', at: Date.now() } as const;
    // A stub of the object that died stays broken.
    await vi.waitFor(async () => expect(await callStub(organizationId, runId).relayEnded(lost)).toBe('connect'));
    const line = await CarrierSocket.open(callStub(organizationId, runId), 'VX2');
    expect(await line.waitForUtterances(1)).toEqual([answer]);
    expect(await lookUpsOf(callStub(organizationId, runId))).toHaveLength(1);
  });

  async function dieInLookUp(service: KnowledgeService, uuid: string, call: number, moment: CrashPoint): Promise<boolean> {
    const { organizationId, runId } = await newChat(service, { document_uuids: [uuid] });
    const stub = callStub(organizationId, runId);
    const watch = await crashCallObjectAt(stub, call, moment);
    vi.restoreAllMocks();
    stubOutsideServices({ model: (request) => (isEmbedding(request) ? watch.watched(async () => undefined) : undefined) });
    const message = { key: crypto.randomUUID(), text: question, expectedRevision: null };
    const first = stub.sendMessage(organizationId, runId, message).catch(() => null);
    if (moment === 'during') await evictWhenReached(watch, stub as unknown as Parameters<typeof evictWhenReached>[1]);
    await first;
    const { state } = await callStub(organizationId, runId).sendMessage(organizationId, runId, message);
    const said = state!.messages.map(({ role, text }) => `${role}: ${text}`);
    expect([call, said]).toEqual([call, [`user: ${question}`, `assistant: ${answer}`]]);
    expect([call, await lookUpsOf(callStub(organizationId, runId))]).toEqual([
      call,
      [expect.objectContaining({ receipts: expect.arrayContaining([expect.objectContaining({ document_uuid: uuid })]) })],
    ]);
    return watch.died;
  }
});

describe('an agent that names documents', () => {
  const create = (client: KnowledgeService['client'], uuids: string[]) =>
    client.post('/workflow/create/definition', { name: 'Help desk', workflow_definition: agentWith({ document_uuids: uuids }) });
  const places = ({ body }: { body: any }) => body.issues.map(({ loc }: { loc: string[] }) => loc.slice(2).join('.'));

  test('that do not exist, or are another organization’s, is an issue, naming node and document', async () => {
    const { service, uuid } = await withHandbook();
    const stranger = await newOrganization();
    const unknown = crypto.randomUUID();
    const refused = await create(service.client, [unknown, uuid]);
    expect([refused.status, places(refused)]).toEqual([200, ['nodes.start.data.document_uuids.0']]);
    expect(refused.body.issues[0].msg).toContain(`There is no document "${unknown}"`);
    expect(places(await create(stranger.client, [uuid]))).toEqual(['nodes.start.data.document_uuids.0']);
    expect((await create(service.client, [uuid.toUpperCase()])).status).toBe(200);
  });

  test('gets them together with every other problem', async () => {
    const { client } = await newOrganization();
    const nodes = [
      ...agentWith({ prompt: '', document_uuids: ['handbook', crypto.randomUUID()] }).nodes,
      { id: 'far', type: 'agentNode', data: { prompt: 'x', document_uuids: [crypto.randomUUID()] } },
    ];
    const refused = await client.post('/workflow/create/definition', { name: 'x', workflow_definition: { nodes, edges: [] } });
    expect(places(refused).toSorted()).toEqual([
      'nodes.far',
      'nodes.far.data.document_uuids.0',
      'nodes.start.data.document_uuids.0',
      'nodes.start.data.document_uuids.1',
      'nodes.start.data.prompt',
    ]);
  });

  test('one of which was deleted since stays as it is; a change of it reports the deletion, and so does validate', async () => {
    const { service, uuid } = await withHandbook();
    const { client } = service;
    const { body: agent } = await create(client, [uuid]);
    await client.delete(`/knowledge-base/documents/${uuid}`);
    const put = (definition: object) => client.put(`/workflow/${agent.id}`, { name: 'Desk', workflow_definition: definition });
    expect((await put(agentWith({ document_uuids: [uuid] }))).body).toMatchObject({
      name: 'Desk',
      current_definition_id: agent.current_definition_id,
    });
    const changed = await put(agentWith({ prompt: 'You are Bea.', document_uuids: [uuid] }));
    expect([changed.status, places(changed)]).toEqual([200, ['nodes.start.data.document_uuids.0']]);
    expect((await client.post(`/workflow/${agent.id}/runs`, { mode: 'textchat' })).body.detail[0].loc).toEqual([
      'path',
      'workflow_id',
      'nodes',
      'start',
      'data',
      'document_uuids',
      '0',
    ]);
    const { body } = await client.post(`/workflow/${agent.id}/validate`, {});
    expect(body.errors.map(({ loc }: { loc: string[] }) => loc.at(-2))).toEqual(['document_uuids']);
    expect((await put(agentWith({}))).status).toBe(200);
  });
});
