import { expect, test } from 'vitest';
import { Database } from '../../src/database/client.ts';
import { settle, withAgent } from '../voice-agents/runs.ts';
import { beginCall, completionOf } from './counted-calls.ts';
import { insertRow } from '../support/insert-row.ts';
import { createActiveWorkflow } from '../support/journeys.ts';
import { newOrganization } from '../support/organization.ts';
import { ownRows } from '../support/own-rows.ts';
import { recordedClient, recordedDatabase, rowsRead, rowsWritten, type Recording } from '../support/recorded-database.ts';

const days = 20;

/** An organization with this many calls that ended by the statement that ends them, spread evenly over the same agents, results and days. */
async function withCalls(count: number): Promise<{ id: number; key: string }> {
  const { id, key } = await newOrganization();
  const begin = Math.floor(Date.now() / 900_000) * 900_000 - days * 86_400_000;
  const perStatement = 50_000;
  for (let from = 0; from < count; from += perStatement) {
    await ownRows
      .prepare(
        `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, initial_context, created_at)
         WITH RECURSIVE n (i) AS (SELECT ?2 UNION ALL SELECT i + 1 FROM n WHERE i < ?3 - 1)
         SELECT ?1, 900000 + i % 3, 1, 'call', 'twilio', 'outbound', 'cost:' || i, '{}', ?4 + (i % 100) * 17280000 FROM n`,
      )
      .bind(id, from, Math.min(count, from + perStatement), begin)
      .run();
    await ownRows
      .prepare(
        `UPDATE voice_agent_run SET is_completed = 1, outcome = iif(agent_id % 2, 'completed', 'busy'), disposition = iif(agent_id % 2, 'interested', NULL),
           talk_seconds = 30, result = '{"cost_info":{"total_cost_usd":0.01}}'
         WHERE organization_id = ?1 AND attempt_key >= 'cost:' AND is_completed = 0`,
      )
      .bind(id)
      .run();
  }
  return { id, key };
}

const journey = {
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'out', type: 'exit', data: { outcome: 'told' } },
  ],
  edges: [{ id: 'a', source: 'in', target: 'out' }],
};

/** A journey with this many runs that ended by the statement that ends them, spread evenly over the same ends and days. */
async function withRuns(count: number): Promise<{ key: string; path: string }> {
  const { id, key, client } = await newOrganization();
  const workflowId = await createActiveWorkflow(client, { definition: journey });
  const run = {
    organization_id: id,
    workflow_id: workflowId,
    workflow_version: 1,
    state: 'completed',
    outcome: 'told',
    current_node_id: 'out',
  };
  const first = await insertRow('automation_run', { ...run, trail: '{"nodes":["in","out"]}', source: 'run' });
  const { results } = await ownRows.prepare("SELECT name FROM pragma_table_info('automation_run')").all<{ name: string }>();
  const columns = results.map(({ name }) => name).filter((name) => !['id', 'created_at', 'dedup_key'].includes(name));
  const begin = Math.floor(Date.now() / 900_000) * 900_000 - days * 86_400_000;
  await ownRows
    .prepare(
      `INSERT INTO automation_run (${columns.join(', ')}, created_at, dedup_key)
       WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)
       SELECT ${columns.map((name) => `r.${name}`).join(', ')}, ?3 + (n.i % 100) * 17280000, 'cost:' || n.i FROM n CROSS JOIN automation_run r WHERE r.id = ?1`,
    )
    .bind(first, count, begin)
    .run();
  await ownRows.prepare('DELETE FROM automation_run WHERE id = ?').bind(first).run();
  await ownRows.prepare('UPDATE automation_run SET completed_at = created_at + 1 WHERE workflow_id = ?').bind(workflowId).run();
  return { key, path: `/statistics/journeys/${workflowId}` };
}

/** The rows that D1 reads for the statistics of a journey, and the number of runs that are counted. */
async function costOfJourney({ key, path }: { key: string; path: string }): Promise<{ rows: number; runs: number }> {
  const { client, recording } = recordedClient(key);
  const { status, body } = await client.get(path);
  expect(status, JSON.stringify(body)).toBe(200);
  return { rows: rowsRead(recording), runs: body.runs };
}

const paths = [
  '/statistics/calls',
  '/statistics/calls?group_by=day,workflow_id,disposition',
  '/statistics/calls?group_by=hour',
  '/statistics/usage?interval=week',
  '/statistics/knowledge',
];

/** The rows that D1 reads for each path, and the number of calls that are counted. */
async function costOf(key: string): Promise<{ rows: number[]; calls: number }> {
  const rows: number[] = [];
  let calls = 0;
  for (const path of paths) {
    const { client, recording } = recordedClient(key);
    const { status, body } = await client.get(path);
    expect(status, JSON.stringify(body)).toBe(200);
    calls ||= body.totals.calls;
    rows.push(rowsRead(recording));
  }
  return { rows, calls };
}

test('reading statistics costs the same with 1,000 calls and with 20,000', async () => {
  const few = await costOf((await withCalls(1000)).key);
  const many = await costOf((await withCalls(20_000)).key);
  expect([few.calls, many.calls]).toEqual([1000, 20_000]);
  expect(many.rows).toEqual(few.rows);
  for (const rows of few.rows) expect(rows).toBeLessThan(5000);
}, 60_000);

test('reading statistics costs the same when the counters of 1,000 calls are those of 1,000,000', async () => {
  const few = await withCalls(1000);
  // The first request of a key reads the key, too.
  await costOf(few.key);
  const before = await costOf(few.key);
  // As many more calls of the same agents and results leave them, at the same times.
  await ownRows
    .prepare('UPDATE call_statistic SET calls = calls * 1000, talk_seconds = talk_seconds * 1000 WHERE organization_id = ?')
    .bind(few.id)
    .run();
  const after = await costOf(few.key);
  expect([before.calls, after.calls]).toEqual([1000, 1_000_000]);
  expect(after.rows).toEqual(before.rows);
});

test('reading the statistics of a journey costs the same with 1,000 ended runs and with 20,000', async () => {
  const few = await costOfJourney(await withRuns(1000));
  const many = await costOfJourney(await withRuns(20_000));
  expect([few.runs, many.runs]).toEqual([1000, 20_000]);
  expect(many.rows).toBe(few.rows);
  expect(few.rows).toBeLessThan(1000);
}, 60_000);

test('reading statistics costs the same with 1,000 calls and with 1,000,000', { tags: 'soak', timeout: 900_000 }, async () => {
  const few = await costOf((await withCalls(1000)).key);
  const many = await costOf((await withCalls(1_000_000)).key);
  expect([few.calls, many.calls]).toEqual([1000, 1_000_000]);
  expect(many.rows).toEqual(few.rows);
});

test('a settlement writes one row of counters, and a repeat of it none', async () => {
  const { id } = await newOrganization();
  const begin = await ownRows
    .prepare(
      `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, initial_context, created_at)
       VALUES (?, 1, 1, 'call', 'twilio', 'outbound', ?, '{}', ?) RETURNING id`,
    )
    .bind(id, crypto.randomUUID(), Date.now())
    .first<{ id: number }>();
  const written = async (sql: string) => (await ownRows.prepare(sql).bind(begin!.id).run()).meta.rows_written;
  // Without a trigger the row itself: the index of open calls loses an entry, which is no row.
  const settleSql = "UPDATE voice_agent_run SET is_completed = 1, outcome = 'busy' WHERE id = ? AND is_completed = 0";
  const first = await written(settleSql);
  expect(await written(settleSql)).toBe(0);
  await ownRows.prepare('UPDATE voice_agent_run SET is_completed = 0 WHERE id = ?').bind(begin!.id).run();
  await ownRows.prepare("INSERT INTO transit (subject_id, stage, holder) VALUES (?, 'arriving', 1)").bind(id).run();
  expect(first - (await written(settleSql))).toBe(1);
  await ownRows.prepare('DELETE FROM transit WHERE subject_id = ?').bind(id).run();
});

test('a run that ends writes two rows of counters, one of its journey and one of all journeys, and a retry takes both back', async () => {
  const { id } = await newOrganization();
  const runId = await insertRow('automation_run', { organization_id: id, workflow_id: id + 8_000_000, state: 'running', source: 'run' });
  const written = async (completedAt: number | null) =>
    (await ownRows.prepare('UPDATE automation_run SET completed_at = ? WHERE id = ?').bind(completedAt, runId).run()).meta.rows_written;
  const counted = await written(1);
  const sums = () =>
    ownRows
      .prepare(
        "SELECT (SELECT sum(calls) FROM call_statistic WHERE organization_id = ?1 AND direction = 'run') AS total, (SELECT sum(runs) FROM journey_statistic WHERE workflow_id = ?2) AS own",
      )
      .bind(id, id + 8_000_000)
      .first();
  expect(await sums()).toEqual({ total: 1, own: 1 });
  await written(null);
  expect(await sums()).toEqual({ total: 0, own: 0 });
  await ownRows.prepare("INSERT INTO transit (subject_id, stage, holder) VALUES (?, 'arriving', 1)").bind(id).run();
  expect(counted - (await written(1))).toBe(2);
  await ownRows.prepare('DELETE FROM transit WHERE subject_id = ?').bind(id).run();
});

test('a talk that is settled writes one row of counters beside its own rows', async () => {
  const { context, agent, id } = await withAgent();
  const [counted, arriving] = [await beginCall(context, agent), await beginCall(context, agent)];
  const written = async (runId: number) => {
    const recording: Recording = { statements: [], calls: 0 };
    const database = new Database(recordedDatabase(ownRows, recording), true);
    expect(await settle({ ...context, database }, completionOf(runId))).toBe(true);
    return rowsWritten(recording);
  };
  const withCounters = await written(counted);
  await ownRows.prepare("INSERT INTO transit (subject_id, stage, holder) VALUES (?, 'arriving', 1)").bind(id).run();
  expect(withCounters - (await written(arriving))).toBe(1);
  await ownRows.prepare('DELETE FROM transit WHERE subject_id = ?').bind(id).run();
});
