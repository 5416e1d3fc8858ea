import { afterEach, expect, test, vi } from 'vitest';
import * as queryBudget from '../../src/database/query-budget.ts';
import { askForMove, first, holdMoves, moveUntil, second } from '../support/moves.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { holdObjects, newReceiver, newSender, path } from '../webhook-endpoints/endpoints.ts';

afterEach(() => vi.restoreAllMocks());

const messagesIn = async (database: D1Database, id: number): Promise<any[]> =>
  (await database.prepare('SELECT * FROM webhook_message WHERE organization_id = ? ORDER BY sequence').bind(id).all()).results;

test('an endpoint moves with its organization: each event is recorded once and sent in order, before, during and after', async () => {
  holdMoves();
  holdObjects();
  const { id, client } = await newOrganization({ shard: 0 });
  const receiver = newReceiver();
  const endpoint = (await client.post(path, { url: receiver.url })).body;
  const run = (database: D1Database) =>
    database
      .prepare(
        `INSERT INTO automation_run (organization_id, workflow_id, workflow_version, state, dedup_key, source, created_at)
         VALUES (?, 1, 1, 'running', ?, 'run', 0) RETURNING id`,
      )
      .bind(id, crypto.randomUUID())
      .first<{ id: number }>();
  const fail = (database: D1Database, runId: number) =>
    database.prepare("UPDATE automation_run SET state = 'failed' WHERE id = ?").bind(runId).run();
  const phones: string[] = [];
  const suppress = async () => {
    const phone = newPhone();
    phones.push(phone);
    expect((await client.post('/contacts/suppressions', { phone })).status).toBe(200);
  };
  const ended = (await run(first))!.id;
  await suppress();
  // Each invocation copies as little as it can, so that the row changes between two of them.
  vi.spyOn(queryBudget, 'isQueryBudgetSpent').mockReturnValue(true);
  await askForMove(id);
  let isCopied = false;
  await moveUntil(id, 'left', async ({ phase }) => {
    // The row is copied as running first, and changes in the source: its copy in the target must tell nobody a second time.
    const isThere = await second.prepare('SELECT 1 FROM automation_run WHERE id = ?').bind(ended).first();
    if (isCopied || phase !== 'copying' || !isThere) return;
    isCopied = true;
    await fail(first, ended);
    await suppress();
  });
  expect(isCopied).toBe(true);
  await suppress();
  const moved = await messagesIn(second, id);
  expect(moved.map(({ type }) => type)).toEqual(['suppression.added', 'run.failed', 'suppression.added', 'suppression.added']);
  expect(new Set(moved.map(({ event_id }) => event_id)).size).toBe(4);
  const sender = await newSender({ organizationId: id, id: endpoint.id }, second);
  await sender.deliver();
  expect(receiver.received.flatMap(({ event }) => event.data['phone'] ?? [])).toEqual(phones);
  await moveUntil(id, 'moved');
  expect(await messagesIn(first, id)).toEqual([]);
  expect((await client.get(`${path}/${endpoint.id}/deliveries`)).body).toMatchObject({ total: 4 });
});
