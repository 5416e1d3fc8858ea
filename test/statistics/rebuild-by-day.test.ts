import { expect, test } from 'vitest';
import { Database } from '../../src/database/client.ts';
import { idsPerShard } from '../../src/database/shard-anchors.ts';
import { readJourneyStatistics } from '../../src/statistics/journey-statistics.ts';
import { rebuildStep } from '../../src/statistics/rebuild.ts';
import type { RebuildPlace } from '../../src/statistics/rebuild-store.ts';
import { readUsage } from '../../src/statistics/usage-statistics.ts';
import { insertRow } from '../support/insert-row.ts';
import { createActiveWorkflow } from '../support/journeys.ts';
import { ownRows } from '../support/own-rows.ts';
import { recordedDatabase, rowsRead, rowsWritten, type Recording } from '../support/recorded-database.ts';
import { withAgent } from '../voice-agents/runs.ts';
import { endCall } from './counted-calls.ts';

const dayMs = 86_400_000;
const days = 20;

/** An organization with as many messages, chats and runs of a journey on each of the last days, made in the order of their moments. */
async function withRecords(each: number, timezone = 'UTC') {
  const organization = await withAgent({ timezone });
  const { client, agent, id } = organization;
  // Days before the first record only take time.
  const settings = { ...organization.context.settings, RETENTION_DAYS: days + 5, CALL_RETENTION_DAYS: days + 3 };
  const context = { ...organization.context, settings };
  const workflowId = await createActiveWorkflow(client, {});
  const now = Date.now();
  for (let place = 0; place < days * each; place++) {
    const created_at = now - days * dayMs + Math.floor(((place + 0.5) * dayMs) / each);
    await insertRow('message', {
      organization_id: id,
      provider: place % 3 ? 'wati' : 'meta',
      status: 'sent',
      status_rank: 2,
      history: '[]',
      created_at,
    });
    await endCall(context, agent, { isChat: place % 2 === 0, createdAt: created_at });
    await insertRow('automation_run', {
      organization_id: id,
      workflow_id: workflowId,
      workflow_version: 1,
      trigger_id: [null, 5, 9][place % 3]!,
      is_test: place % 5 === 0 ? 1 : 0,
      state: 'completed',
      source: 'run',
      trail: '{"nodes":["in"],"tokens":[3,4]}',
      created_at,
      completed_at: created_at,
    });
  }
  return { ...organization, context, workflowId, now };
}

type Records = Awaited<ReturnType<typeof withRecords>>;

async function readAll({ context, workflowId, now }: Records) {
  const range = { from: new Date(now - 30 * dayMs).toISOString() };
  const { ended, over_time } = await readJourneyStatistics(context, workflowId, { ...range, interval: 'day' });
  return { usage: await readUsage(context, { ...range, interval: 'day' }), journey: { ended, over_time } };
}

async function spoil({ id, workflowId }: Records): Promise<void> {
  for (const sql of [
    `UPDATE usage_statistic SET items = items + 70 WHERE organization_id = ${id}`,
    `UPDATE call_statistic SET calls = calls + 70 WHERE organization_id = ${id}`,
    `UPDATE journey_statistic SET runs = runs + 70 WHERE workflow_id = ${workflowId}`,
  ])
    await ownRows.prepare(sql).run();
}

/** Rebuilds all, day by day, and answers the most rows that a step reads, and writes. */
async function rebuildByDay({ context, now }: Records): Promise<{ read: number; written: number; steps: number }> {
  const most = { read: 0, written: 0, steps: 0 };
  for (let place: RebuildPlace | null = {}; place; most.steps++) {
    const recording: Recording = { statements: [], calls: 0 };
    const database = new Database(recordedDatabase(ownRows, recording), true);
    place = await rebuildStep({ ...context, database }, place, now, 0);
    most.read = Math.max(most.read, rowsRead(recording));
    most.written = Math.max(most.written, rowsWritten(recording));
  }
  return most;
}

test('many records are counted again day by day, and the counts are the same as before', async () => {
  const records = await withRecords(3, 'Asia/Kolkata');
  const before = await readAll(records);
  expect(before.usage.totals).toMatchObject({ messages: 60, chats: 30, calls: 30, journey_runs: 48, prompt_tokens: 60 * 10 + 48 * 3 });
  await spoil(records);
  expect(await readAll(records)).not.toEqual(before);
  await rebuildByDay(records);
  expect(await readAll(records)).toEqual(before);
  // A repeat counts nothing twice.
  await rebuildByDay(records);
  expect(await readAll(records)).toEqual(before);
}, 60_000);

test('records that were made in another shard are found, though their ids do not follow on each other', async () => {
  const records = await withRecords(1);
  // The organization was in shard 3 in between.
  const high: [string, number][] = [];
  for (const [table, ago] of [
    ['message', 12],
    ['automation_run', 7],
  ] as const) {
    const { results } = await ownRows
      .prepare(`SELECT id FROM ${table} WHERE organization_id = ? AND created_at > ? ORDER BY created_at LIMIT 3`)
      .bind(records.id, records.now - ago * dayMs)
      .all<{ id: number }>();
    for (const [place, { id }] of results.entries()) {
      await ownRows
        .prepare(`UPDATE ${table} SET id = ? WHERE id = ?`)
        .bind(3 * idsPerShard + 5 + place, id)
        .run();
      high.push([table, 3 * idsPerShard + 5 + place]);
    }
  }
  const before = await readAll(records);
  await spoil(records);
  await rebuildByDay(records);
  expect(await readAll(records)).toEqual(before);
  for (const [table, id] of high) await ownRows.prepare(`DELETE FROM ${table} WHERE id = ?`).bind(id).run();
}, 60_000);

test('a step of a rebuild writes and reads about a day, however many days there are records of', async () => {
  const records = await withRecords(20);
  const { read, written } = await rebuildByDay(records);
  // All 20 messages of a day, its 10 chats, and what each of them writes; of 400 messages and 400 calls in all.
  expect(written).toBeLessThan(400);
  expect(read).toBeLessThan(4000);
}, 60_000);
