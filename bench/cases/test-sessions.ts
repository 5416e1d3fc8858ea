import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { workerdSeconds } from '../local/processor-time.ts';
import { recordedCalls, recordedUsage } from '../record.ts';
import { rowCost, rowUse } from '../row-cost.ts';
import { percentile } from '../statistics.ts';
import type { TargetedFigure } from '../targets.ts';
import { waitUntil } from './campaigns.ts';
import { TestAgents } from './test-agents.ts';
import { measureTestTurns } from './test-turns.ts';

const concurrency = 50;
const turns = 4;
/** With the model's own time about a second a turn, as with a model that talks. */
const delayMs = 800;
/** Spreads the ends: the model takes the same time for every answer, so sessions that begin together would end together. */
const rampSeconds = 4;
const costedTurns = 10;
const pollMs = 1000;

/** What conversation tests cost, and whether a load test has as many sessions at once as were asked for. */
export async function measureTestSessions(bench: Bench): Promise<TargetedFigure[]> {
  return [...(await measureTestTurns(bench)), ...(await measureLoadTest(bench)), ...(await measureCost(bench))];
}

async function measureLoadTest(bench: Bench): Promise<TargetedFigure[]> {
  const { testSessions: count } = bench.pace;
  bench.progress(`A load test of ${count} sessions of ${turns} turns, one a second, ${concurrency} at once`);
  const agents = await TestAgents.create(bench, 'service');
  // The first sessions only warm up.
  await waitUntilOver(bench, 'service', await agents.startLoadTest(concurrency, concurrency, { max_turns: turns }));
  const id = await agents.startLoadTest(count, concurrency, { max_turns: turns, turn_delay_ms: delayMs }, rampSeconds);
  const liveMs: number[] = [];
  for (let left = await listSessions(bench, id); left.pending + left.running > 0; left = await listSessions(bench, id)) {
    if (left.pending > 0) liveMs.push(await timeOf(agents.read(`/load-tests/${id}/stats`)));
    await sleep(pollMs);
  }
  const statistics = await agents.read<{ passed: number; achieved_concurrency_max: number }>(`/load-tests/${id}/stats`);
  if (statistics.passed !== count || statistics.achieved_concurrency_max !== concurrency)
    throw new Error(
      `Of ${count} sessions ${statistics.passed} have passed, ${statistics.achieved_concurrency_max} of ${concurrency} at once`,
    );
  const endedMs: number[] = [];
  while (endedMs.length < 50) endedMs.push(await timeOf(agents.read(`/load-tests/${id}/stats`)));
  const name = `Load test of ${count} sessions of ${turns} turns, one a second, ${concurrency} at once`;
  const target = { atMost: 100 };
  return [
    {
      name: `${name}: how many of those talk, while sessions are left`,
      unit: '',
      target: { atLeast: 0.95 },
      service: [await shareRunning(bench, id)],
    },
    { name: `${name}: its statistics, in the midst of it, p50`, unit: 'ms', target, service: [percentile(liveMs, 0.5)] },
    { name: `${name}: its statistics, when it has ended, p95`, unit: 'ms', target, service: [percentile(endedMs, 0.95)] },
  ];
}

/** How many of those that may run at once do, from the end of the ramp to the last start; one whose end is being written does not. */
async function shareRunning({ rig }: Bench, loadTestId: number): Promise<number> {
  const { results: sessions } = await rig.databases.service
    .prepare('SELECT started_at, completed_at FROM test_session WHERE load_test_id = ?')
    .bind(loadTestId)
    .all<{ started_at: number; completed_at: number }>();
  const starts = sessions.map(({ started_at: startedAt }) => startedAt);
  const [from, to] = [Math.min(...starts) + rampSeconds * 1000, Math.max(...starts)];
  const within = (start: number, end: number) => Math.max(0, Math.min(end, to) - Math.max(start, from));
  const together = sessions.reduce((sum, session) => sum + within(session.started_at, session.completed_at), 0);
  return together / ((to - from) * concurrency);
}

/** Looks into the database, so that looking takes none of the service's time. */
async function listSessions(
  { rig }: Bench,
  loadTestId: number,
  caller: 'service' | 'recording' = 'service',
): Promise<{ pending: number; running: number }> {
  const counts = `SELECT count(*) FILTER (WHERE status = 'pending') AS pending, count(*) FILTER (WHERE status = 'running') AS running
    FROM test_session WHERE load_test_id = ?`;
  return (await rig.databases[caller].prepare(counts).bind(loadTestId).first<{ pending: number; running: number }>())!;
}

async function waitUntilOver(bench: Bench, caller: 'service' | 'recording', loadTestId: number): Promise<void> {
  const isOver = async () => {
    const { pending, running } = await listSessions(bench, loadTestId, caller);
    return pending + running === 0;
  };
  await waitUntil('every session has ended', 180_000, isOver);
  // Finished objects delete themselves.
  await sleep(1500);
}

async function timeOf(work: Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work;
  return performance.now() - startedAt;
}

/** Of a session in a load test, its share of the load test's start and end included. */
async function measureCost(bench: Bench): Promise<TargetedFigure[]> {
  const { costedSessions: count } = bench.pace;
  bench.progress(`What a test session of ${costedTurns} turns is billed for`);
  const agents = await TestAgents.create(bench, 'recording');
  await waitUntilOver(bench, 'recording', await agents.startLoadTest(2, 2, { max_turns: costedTurns }));
  await recordedCalls(bench);
  await recordedUsage(bench);
  const before = workerdSeconds();
  await waitUntilOver(bench, 'recording', await agents.startLoadTest(count, concurrency, { max_turns: costedTurns }));
  const processorSeconds = workerdSeconds() - before;
  const use = rowUse('session', count, await recordedUsage(bench), await recordedCalls(bench), processorSeconds);
  const name = `A test session of ${costedTurns} turns, concluded for both sides`;
  return [
    { name: `${name}: rows of its object written`, unit: '', service: [use.objectRowsWritten] },
    { name: `${name}: alarms set, each billed as a row`, unit: '', service: [use.alarmsSet] },
    { name: `${name}: rows of D1 written`, unit: '', service: [use.d1RowsWritten] },
    { name: `${name}: calls to D1`, unit: '', service: [use.d1Calls] },
    { name: `${name}: all that is billed of a million of them`, unit: '$', service: [rowCost(use).dollarsPerMillion] },
  ];
}
