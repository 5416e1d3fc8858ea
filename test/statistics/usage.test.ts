import * as fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { advanceStatement } from '../../src/messaging/messages/store.ts';
import { rebuildUsage } from '../../src/statistics/rebuild-store.ts';
import { stubOutsideServices } from '../support/calls.ts';
import { insertRow } from '../support/insert-row.ts';
import { createActiveWorkflow, chain, waitForEndedRuns } from '../support/journeys.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { ownRows } from '../support/own-rows.ts';
import { recordedClient, rowsRead } from '../support/recorded-database.ts';
import { contextOf, withAgent } from '../voice-agents/runs.ts';
import { endCall } from './counted-calls.ts';

afterEach(() => vi.restoreAllMocks());

async function read(client: Client, query = ''): Promise<any> {
  const { status, body } = await client.get(`/statistics/usage?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

const newMessage = (organizationId: number, provider = 'wati') =>
  insertRow('message', {
    organization_id: organizationId,
    provider,
    kind: 'text',
    recipient: '+12125550100',
    status: 'sending',
    status_rank: 0,
    history: '[]',
    created_at: Date.now(),
  });

const newDocument = (organizationId: number) =>
  insertRow('knowledge_document', {
    organization_id: organizationId,
    status: 'pending',
    size_bytes: 0,
    parser_metadata: '{}',
    created_at: Date.now(),
  });

test('calls, chats, tokens, minutes and cost of the organization are added up, in all and over time', async () => {
  const { client, context, agent } = await withAgent();
  const lastWeek = Date.now() - 7 * 86_400_000;
  await endCall(context, agent, { talkSeconds: 90, createdAt: lastWeek });
  await endCall(context, agent, { outcome: 'voicemail' });
  await endCall(context, agent, { isChat: true, costUsd: null });
  const workflow = await createActiveWorkflow(client, { definition: chain() });
  await client.post(`/automation-workflows/${workflow}/execute`, {});
  await waitForEndedRuns(client, workflow);
  const body = await read(client, 'interval=day');
  expect(body.totals).toEqual({
    calls: 2,
    chats: 1,
    call_minutes: 1.62,
    prompt_tokens: 30,
    completion_tokens: 15,
    cost_usd: 0.02,
    calls_without_price: 1,
    journey_runs: 1,
    messages: 0,
    messages_by_provider: {},
    documents: 0,
    document_bytes: 0,
  });
  expect(body.over_time).toHaveLength(30);
  expect(body.over_time.filter(({ calls }: any) => calls > 0)).toMatchObject([
    { period: new Date(lastWeek).toISOString().slice(0, 10), calls: 1, call_minutes: 1.5 },
    { calls: 1, chats: 1, journey_runs: 1 },
  ]);
  expect((await read(client)).over_time).toEqual([]);
});

test('the tokens of language models in journeys count, each answer once', async () => {
  stubOutsideServices();
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {
    definition: chain(
      { id: 'ask', type: 'llm', data: { prompt: 'Say hello' } },
      { id: 'again', type: 'llm', data: { prompt: 'Say it again' } },
    ),
  });
  await client.post(`/automation-workflows/${workflow}/execute`, {});
  const [run] = await waitForEndedRuns(client, workflow);
  expect(run.state, JSON.stringify(run.error)).toBe('completed');
  const { body: history } = await client.get(`/automation-workflows/runs/${run.id}/history`);
  const usages = history.history.flatMap(({ output }: any) => output?.usage ?? []);
  expect(usages).toHaveLength(2);
  const sum = (name: string) => usages.reduce((total: number, usage: any) => total + usage[name], 0);
  expect((await read(client)).totals).toMatchObject({ prompt_tokens: sum('prompt_tokens'), completion_tokens: sum('completion_tokens') });
});

test('messages and documents equal a full count after any changes of their states, and after a rebuild', async () => {
  const statuses = fc.constantFrom('unknown', 'accepted', 'sent', 'failed', 'delivered', 'read');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat({ max: 3 }), statuses), { maxLength: 20 }),
      fc.array(fc.tuple(fc.nat({ max: 1 }), fc.constantFrom('processing', 'completed', 'failed'), fc.integer({ min: 1, max: 9 })), {
        maxLength: 8,
      }),
      async (reports, readings) => {
        const { id, client } = await newOrganization();
        const { database } = await contextOf(id);
        const messages = await Promise.all(['wati', 'wati', 'meta', 'gupshup'].map((provider) => newMessage(id, provider)));
        const documents = await Promise.all([newDocument(id), newDocument(id)]);
        for (const [message, status] of reports)
          await database.batch(
            [advanceStatement(database, id, messages[message]!, { status, at: Date.now() } as never, Date.now())],
            'idempotent',
          );
        for (const [document, status, bytes] of readings)
          await ownRows
            .prepare(
              "UPDATE knowledge_document SET status = ?1, size_bytes = ?2, generation = generation + (?1 = 'completed') WHERE id = ?3",
            )
            .bind(status, bytes, documents[document])
            .run();
        const all = (sql: string) => ownRows.prepare(sql).bind(id).all<any>();
        const { results: sent } = await all(
          "SELECT provider, count(*) AS items FROM message WHERE organization_id = ? AND status IN ('accepted', 'sent', 'delivered', 'read') GROUP BY provider",
        );
        const { results: done } = await all(
          'SELECT count(*) AS documents, coalesce(sum(size_bytes), 0) AS document_bytes FROM knowledge_document WHERE organization_id = ? AND generation > 0',
        );
        const expected = { messages_by_provider: Object.fromEntries(sent.map(({ provider, items }) => [provider, items])), ...done[0] };
        expect((await read(client)).totals).toMatchObject(expected);
        const since = { moment: 0, day: 0 };
        await rebuildUsage(database, id, { calls: since, others: since });
        const { totals } = await read(client);
        expect(totals).toMatchObject(expected);
        expect(Object.keys(totals.messages_by_provider)).toHaveLength(sent.length);
      },
    ),
    { numRuns: 20 },
  );
}, 60_000);

test('reading the usage costs the same with one journey and with 60', async () => {
  const cost = async (journeys: number) => {
    const { id, key } = await newOrganization();
    for (let journey = 0; journey < journeys; journey++) {
      const workflow_id = await insertRow('automation_workflow', { organization_id: id, status: 'active', created_at: 0 });
      for (let run = 0; run < 60 / journeys; run++)
        await insertRow('automation_run', {
          organization_id: id,
          workflow_id,
          state: 'completed',
          source: 'run',
          trail: '{"nodes":[],"tokens":[2,1]}',
          created_at: Date.now() - 3_600_000,
          completed_at: 1,
        });
    }
    const { client, recording } = recordedClient(key);
    const body = await read(client, 'interval=day');
    expect(body.totals).toMatchObject({ journey_runs: 60, prompt_tokens: 120, completion_tokens: 60, calls: 0, chats: 0 });
    return rowsRead(recording);
  };
  expect(await cost(60)).toBe(await cost(1));
}, 60_000);

test('a wrong interval is refused, and nobody else sees what was used', async () => {
  const { client, context, agent } = await withAgent();
  await endCall(context, agent);
  const { status, body } = await client.get('/statistics/usage?interval=decade');
  expect(status).toBe(422);
  expect(body.detail[0].loc).toEqual(['query', 'interval']);
  const { client: other } = await newOrganization();
  expect((await read(other)).totals.calls).toBe(0);
  expect((await new Client(undefined).get('/statistics/usage')).status).toBe(401);
});
