import { afterEach, expect, test, vi } from 'vitest';
import * as queryBudget from '../../src/database/query-budget.ts';
import { askForMove, first, holdMoves, moveUntil, second } from '../support/moves.ts';
import { newOrganization } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const begin = async (database: D1Database, id: number): Promise<number> => {
  const row = await database
    .prepare(
      `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, initial_context, created_at)
       VALUES (?, 1, 1, 'call', 'twilio', 'outbound', ?, '{}', ?) RETURNING id`,
    )
    .bind(id, crypto.randomUUID(), Date.now() - 60_000)
    .first<{ id: number }>();
  const run = await database
    .prepare(
      `INSERT INTO automation_run (id, organization_id, workflow_id, workflow_version, state, dedup_key, source, created_at)
       VALUES (?, ?, ?, 1, 'running', ?, 'run', ?) RETURNING id`,
    )
    .bind(row!.id + 500_000, id, id + 7_000_000, crypto.randomUUID(), Date.now() - 60_000)
    .first<{ id: number }>();
  expect(run!.id).toBe(row!.id + 500_000);
  return row!.id;
};

const end = (database: D1Database, id: number) =>
  database.batch([
    database.prepare("UPDATE voice_agent_run SET is_completed = 1, outcome = 'busy' WHERE id = ? AND is_completed = 0").bind(id),
    database
      .prepare("UPDATE automation_run SET state = 'completed', completed_at = 1 WHERE id = ? AND completed_at IS NULL")
      .bind(id + 500_000),
  ]);

const countsIn = async (database: D1Database, id: number) => ({
  calls: await database
    .prepare("SELECT total(calls) AS n FROM call_statistic WHERE organization_id = ? AND direction = 'outbound'")
    .bind(id)
    .first('n'),
  allRuns: await database
    .prepare("SELECT total(calls) AS n FROM call_statistic WHERE organization_id = ? AND direction = 'run'")
    .bind(id)
    .first('n'),
  runs: await database.prepare('SELECT total(runs) AS n FROM journey_statistic WHERE organization_id = ?').bind(id).first('n'),
});

test('statistics move with their organization: each end counts once, before, during and after, also between the switch and the end', async () => {
  holdMoves();
  const { id, client } = await newOrganization({ shard: 0 });
  await first
    .prepare(
      `INSERT INTO automation_workflow (id, organization_id, name, description, version, status, definition, "trigger", context_schema, settings, created_at)
       VALUES (?, ?, 'Journey', '', 1, 'active', '{}', '{}', '{}', '{}', 0)`,
    )
    .bind(id + 7_000_000, id)
    .run();
  const calls = [await begin(first, id), await begin(first, id), await begin(first, id)];
  await end(first, calls[0]!);
  // Each invocation copies as little as it can, so that rows change between two of them.
  vi.spyOn(queryBudget, 'isQueryBudgetSpent').mockReturnValue(true);
  await askForMove(id);
  let isEnded = false;
  await moveUntil(id, 'left', async ({ phase }) => {
    // The rows are copied as live first, and end in the source.
    const isThere = await second.prepare('SELECT 1 FROM voice_agent_run WHERE id = ?').bind(calls[1]!).first();
    const isRunThere = await second
      .prepare('SELECT 1 FROM automation_run WHERE id = ?')
      .bind(calls[1]! + 500_000)
      .first();
    if (isEnded || phase !== 'copying' || !isThere || !isRunThere) return;
    isEnded = true;
    await end(first, calls[1]!);
  });
  expect(isEnded).toBe(true);
  expect(await countsIn(second, id)).toEqual({ calls: 2, allRuns: 2, runs: 2 });
  // The organization works in the second shard from the switch on.
  await end(second, calls[2]!);
  expect(await countsIn(second, id)).toEqual({ calls: 3, allRuns: 3, runs: 3 });
  await moveUntil(id, 'moved');
  expect(await countsIn(second, id)).toEqual({ calls: 3, allRuns: 3, runs: 3 });
  expect(await countsIn(first, id)).toEqual({ calls: 0, allRuns: 0, runs: 0 });
  expect((await client.get('/statistics/calls')).body.totals.calls).toBe(3);
});
