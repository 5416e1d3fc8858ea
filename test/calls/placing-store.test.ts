import * as rows from '../../src/calls/placing/store.ts';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { Database } from '../../src/database/client.ts';
import { findNewestRunByPrefix } from '../../src/calls/records/idempotent-run.ts';
import { findAgentRun } from '../../src/calls/records/store.ts';
import { insertRow } from '../support/insert-row.ts';
import { newPhone } from '../support/organization.ts';
import { explainQueryPlans, recordedDatabase, type Recording } from '../support/recorded-database.ts';
import { newRun, withAgent } from '../voice-agents/runs.ts';

/** An organization with runs, and a database that records its statements. */
async function setUp() {
  const { id: organizationId, agent, context } = await withAgent();
  const recording: Recording = { statements: [], calls: 0 };
  const database = new Database(recordedDatabase(env.DB, recording), true);
  const first = await newRun(context, agent, { attemptKey: 'single:0:first', wakeAt: 5 });
  const last = () => recording.statements.at(-1)!;
  return { organizationId, agent, context, recording, database, first, last };
}

const call = (attemptKey: string, agentId: number): rows.NewCallRun => ({
  attempt_key: attemptKey,
  agent_id: agentId,
  name: 'Sales to somebody',
  phone: newPhone(),
  own_number: null,
  mode: 'twilio',
  call_type: 'outbound',
  contact_id: null,
  campaign_id: null,
  automation_run_id: null,
  initial_context: '{}',
});

const end = (attemptKey: string): rows.UnansweredEnd => ({
  attempt_key: attemptKey,
  outcome: 'busy',
  reason: null,
  result: '{}',
  own_number: null,
  started_at: null,
  completed_at: 7,
});

const writeMany = (agentId: number, count: number) =>
  env.DB.prepare(
    `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, initial_context, created_at)
     SELECT a.organization_id, a.id, a.current_definition_id, 'x', 'twilio', 'outbound', 'single:0:other-' || j.value, '{}', 1
     FROM json_each(?) j CROSS JOIN voice_agent a WHERE a.id = ?`,
  )
    .bind(JSON.stringify(Array.from({ length: count }, (_, index) => index)), agentId)
    .run();

test('every statement finds its rows by their keys: none scans the runs, agents or contacts of an organization', async () => {
  const { organizationId, agent, recording, database, first } = await setUp();
  const ids = JSON.stringify([first.id]);
  const asked = JSON.stringify([
    { attempt_key: 'single:0:first', agent_id: agent.id, phone: newPhone(), contact_id: 1, automation_run_id: 1 },
  ]);
  await database.batch([
    rows.insertCallRuns(database, organizationId, JSON.stringify([call('single:0:second', agent.id)]), Date.now()),
    rows.selectPreDialRows(database, organizationId, asked, Date.now()),
    rows.selectCallRunByKey(database, organizationId, 'single:0:first'),
    rows.selectOpenCallRuns(database, organizationId, ids),
    rows.clearWakeAt(database, organizationId, ids),
    ...rows.completeUnansweredRuns(database, organizationId, JSON.stringify([end('single:0:first')])),
  ]);
  await rows.findStalledCalls(database, Date.now(), 500);
  await findNewestRunByPrefix(database, organizationId, 'single:0:', 0);
  const plans = await explainQueryPlans(recording);
  expect(plans).toHaveLength(9);
  const byKey =
    /\(rowid=\?\)|\(organization_id=\? AND (attempt_key=\?|attempt_key>\? AND attempt_key<\?|phone=\?)\)|INDEX voice_agent_run_wake \(wake_at<\?\)/;
  const isBounded = (step: string) => !/^(SCAN|SEARCH)/.test(step) || /^SCAN (j|e|found|json_each)\b/.test(step) || byKey.test(step);
  for (const { sql, plan } of plans) expect([sql, plan.filter((step) => !isBounded(step))]).toEqual([sql, []]);
});

test('completing calls costs rows in proportion to the calls, not to the organization', async () => {
  const { organizationId, agent, database, last } = await setUp();
  const ends = JSON.stringify([end('single:0:first'), ...Array.from({ length: 99 }, (_, index) => end(`none:${index}`))]);
  const cost = async () => {
    await database.batch([rows.completeUnansweredRuns(database, organizationId, ends)[0]!]);
    return last().rowsRead;
  };
  await cost();
  const before = await cost();
  await writeMany(agent.id, 1000);
  expect(await cost()).toBe(before);
});

test('a completed call is not woken, and its completion stays', async () => {
  const { organizationId, context, first } = await setUp();
  const { database } = context;
  const complete = (change: Partial<rows.UnansweredEnd>) =>
    database.batch(rows.completeUnansweredRuns(database, organizationId, JSON.stringify([{ ...end('single:0:first'), ...change }])));
  const [, completedRows] = await complete({ own_number: '+15005550006', reason: 'busy: the line was taken' });
  expect(completedRows).toMatchObject([{ id: first.id, attempt_key: 'single:0:first', agent_name: 'Sales', outcome: 'busy' }]);
  const completed = await findAgentRun(context, first.id);
  expect(completed).toMatchObject({ is_completed: true, wake_at: null, own_number: '+15005550006', completed_at: 7, revision: 1 });
  expect((await complete({ outcome: 'failed' }))[1]).toMatchObject([{ id: first.id, outcome: 'busy' }]);
  expect(await findAgentRun(context, first.id)).toEqual(completed);
});

test('calls of other organizations are neither completed, read nor cleared', async () => {
  const { first, context } = await setUp();
  const stranger = await withAgent();
  const { database } = stranger.context;
  const ids = JSON.stringify([first.id]);
  const [, completedRows, open] = await database.batch([
    ...rows.completeUnansweredRuns(database, stranger.id, JSON.stringify([end('single:0:first')])),
    rows.selectOpenCallRuns(database, stranger.id, ids),
    rows.clearWakeAt(database, stranger.id, ids),
  ]);
  expect([completedRows, open]).toEqual([[], []]);
  expect(await findAgentRun(context, first.id)).toEqual(first);
});

test('a call of a journey keeps the journey, not only the run; a run of another organization gives it none', async () => {
  const { organizationId, agent, database } = await setUp();
  const journeyRun = (organization: number) =>
    insertRow('automation_run', {
      organization_id: organization,
      workflow_id: 812,
      state: 'waiting',
      dedup_key: crypto.randomUUID(),
      created_at: 1,
    });
  const [own, foreign] = [await journeyRun(organizationId), await journeyRun(organizationId + 1)];
  const calls = [own, foreign].map((run) => ({ ...call(`journey:${run}:call:1:1`, agent.id), automation_run_id: run }));
  await database.batch([rows.insertCallRuns(database, organizationId, JSON.stringify(calls), 1)], 'voice_agent_run.attempt_key');
  const { results } = await env.DB.prepare(
    "SELECT automation_run_id, automation_workflow_id FROM voice_agent_run WHERE organization_id = ? AND attempt_key LIKE 'journey:%' ORDER BY id",
  )
    .bind(organizationId)
    .all();
  expect(results).toEqual([
    { automation_run_id: own, automation_workflow_id: 812 },
    { automation_run_id: foreign, automation_workflow_id: null },
  ]);
});
