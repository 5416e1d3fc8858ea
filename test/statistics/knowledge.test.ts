import { describe, expect, test } from 'vitest';
import { eraseCalls } from '../../src/calls/records/erase-calls.ts';
import { findKnowledgeQuestions, insertUnansweredQuestions } from '../../src/calls/post-call/knowledge-questions.ts';
import { insertRow } from '../support/insert-row.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { ownRows } from '../support/own-rows.ts';
import { settle, withAgent } from '../voice-agents/runs.ts';
import { beginCall, completionOf } from './counted-calls.ts';

const search = (query: unknown, payload: object) => ({
  type: 'tool_called',
  at: '2026-11-30T10:00:00.000Z',
  node_id: 'start',
  payload: { name: 'search_knowledge_base', arguments: JSON.stringify({ query }), ...payload },
});

async function read(client: Client, query = ''): Promise<any> {
  const { status, body } = await client.get(`/statistics/knowledge?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** A call that asked these questions, none of which had an answer. */
async function askInVain({ context, agent }: Awaited<ReturnType<typeof withAgent>>, questions: string[], more = {}): Promise<number> {
  const runId = await beginCall(context, agent, more);
  const knowledge = { questions: questions.length, unanswered: questions.length };
  await context.database.batch([insertUnansweredQuestions(context, runId, questions)], 'idempotent');
  await settle(context, completionOf(runId, { knowledge }));
  return runId;
}

describe('the questions of a talk', () => {
  test('are its searches in documents; those that found no passage had no answer', () => {
    const events = [
      search('How long is the  warranty?', { receipts: [{ chunk_id: 1 }] }),
      search(' Do you ship to\nPeru? ', { receipts: [] }),
      search('too slow', { answer: { error: 'Nothing was found in time' }, reason: 'slow' }),
      search('in a test', { is_mock: true }),
      { ...search('another tool', { receipts: [] }), payload: { name: 'find_order', receipts: [] } },
    ];
    expect(findKnowledgeQuestions(events)).toEqual({ asked: 2, unanswered: ['Do you ship to Peru?'] });
  });

  test('whatever a model has written as the arguments, nothing breaks, and no text has half a character', () => {
    const written = (text: unknown) => ({
      ...search('', { receipts: [] }),
      payload: { name: 'search_knowledge_base', receipts: [], arguments: text },
    });
    for (const text of ['{', 'null', '"x"', '{"query": 7}', '{}', undefined, '{"query": "  "}'])
      expect(findKnowledgeQuestions([written(text)]).unanswered).toEqual([]);
    const [long] = findKnowledgeQuestions([search(`${'x'.repeat(499)}😀`, { receipts: [] })]).unanswered;
    expect(long!.length).toBeLessThanOrEqual(500);
    expect(long!.isWellFormed()).toBe(true);
  });
});

test('questions without an answer are listed, the most frequent first, whatever their case', async () => {
  const organization = await withAgent();
  await askInVain(organization, ['Do you ship to Peru?', 'Is there a discount?'], { createdAt: Date.now() - 60_000 });
  const latest = await askInVain(organization, ['do you ship to peru?']);
  const body = await read(organization.client, 'interval=day');
  expect(body).toMatchObject({ questions: 3, unanswered: 3, unanswered_share: { rate: 1, high: 1 }, unanswered_capped: false });
  expect(body.unanswered_questions).toMatchObject([
    { question: 'do you ship to peru?', times: 2, workflow_id: organization.agent.id, run_id: latest },
    { question: 'Is there a discount?', times: 1 },
  ]);
  expect(body.over_time).toHaveLength(30);
  expect((await read(organization.client, 'limit=1')).unanswered_questions).toHaveLength(1);
  expect((await read(organization.client, `workflow_id=${organization.agent.id + 1}`)).unanswered_questions).toEqual([]);
});

test('a repeat of the end of a call stores its questions once', async () => {
  const organization = await withAgent();
  const runId = await askInVain(organization, ['Where are you?']);
  await organization.context.database.batch([insertUnansweredQuestions(organization.context, runId, ['Where are you?'])], 'idempotent');
  expect((await read(organization.client)).unanswered_questions).toMatchObject([{ times: 1 }]);
});

test('questions leave with their call and with its contact, and the counts stay', async () => {
  const organization = await withAgent();
  const { context, client, id } = organization;
  const deleted = await askInVain(organization, ['Where are you?']);
  const erased = await askInVain(organization, ['Do you know Ada Lovelace?']);
  const contactId = await insertRow('contact', { organization_id: id, tags: '[]', custom_fields: '{}', deleted_at: 1 });
  await ownRows.prepare('UPDATE voice_agent_run SET contact_id = ? WHERE id = ?').bind(contactId, erased).run();
  expect(await eraseCalls(context, contactId)).toBe('done');
  await ownRows.prepare('DELETE FROM voice_agent_run WHERE id = ?').bind(deleted).run();
  expect(await read(client)).toMatchObject({ questions: 2, unanswered: 2, unanswered_questions: [] });
  const { results } = await ownRows.prepare('SELECT 1 FROM unanswered_question WHERE organization_id = ?').bind(id).all();
  expect(results).toEqual([]);
  await context.database.batch([insertUnansweredQuestions(context, erased, ['Do you know Ada Lovelace?'])], 'idempotent');
  expect((await read(client)).unanswered_questions).toEqual([]);
});

test('wrong limits are refused, and nobody else sees the questions', async () => {
  const organization = await withAgent();
  await askInVain(organization, ['Where are you?']);
  for (const query of ['limit=0', 'limit=501', 'limit=many', 'interval=year', 'workflow_id=x']) {
    const { status, body } = await organization.client.get(`/statistics/knowledge?${query}`);
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(['query', query.split('=')[0]]);
  }
  const { client: other } = await newOrganization();
  expect(await read(other, `workflow_id=${organization.agent.id}`)).toMatchObject({ questions: 0, unanswered_questions: [] });
  expect((await new Client(undefined).get('/statistics/knowledge')).status).toBe(401);
});
