import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { workerdSeconds } from '../local/processor-time.ts';
import { waitFor } from '../local/wait-until-idle.ts';
import { sumCost, recordedCalls, recordedUsage } from '../record.ts';
import { fireTrigger } from './exchanges.ts';

/** What the service does in a period without requests. */
export interface Idle {
  /** Processor time of workerd. */
  millisecondsPerSecond: number;
  alarmsFired: number;
  /** Calls of the minute tick to D1 and the rows that they read. */
  tickCalls: number;
  tickRowsRead: number;
}

export interface Sleep {
  runs: number;
  seconds: number;
  startedPerSecond: number;
  without: Idle;
  with: Idle;
}

const contactsPerFiring = 100;
/** Local objects leave memory after 10 s without a call. */
const untilEvictedMs = 11_000;

/** Compares the service with and without sleeping runs. Uses the recording service, since that counts alarms. */
export async function measureSleeping(bench: Bench): Promise<Sleep> {
  const { sleepingRuns: runs, sleepingSeconds: seconds } = bench.pace;
  // All of them may start within a minute. The Worker keeps the plan that it knows for a minute, which is over when they do.
  const database = bench.rig.databases.recording;
  await database.prepare("UPDATE organization SET plan_limits = json_object('runs_per_minute', 1000000)").run();
  await sleep(untilEvictedMs);
  bench.progress(`${seconds} s without sleeping runs`);
  // Three ticks do the work that the ticks of earlier hours would have done.
  const soon = Date.now() + 60_000;
  for (let tick = 0; tick < 3; tick++) await bench.clients.recording.call({ method: 'POST', path: `/tick?at=${soon}` });
  const without = await idle(bench, seconds);
  bench.progress(`Starting ${runs} runs that sleep`);
  const startedPerSecond = await startSleepers(bench, runs);
  await sleep(untilEvictedMs);
  bench.progress(`${seconds} s with them`);
  return { runs, seconds, startedPerSecond, without, with: await idle(bench, seconds) };
}

/** Measures a period that begins with one tick, as each minute does. */
async function idle(bench: Bench, seconds: number): Promise<Idle> {
  await recordedCalls(bench);
  await recordedUsage(bench);
  const before = workerdSeconds();
  await bench.clients.recording.call({ method: 'POST', path: '/tick' });
  await sleep(seconds * 1000);
  const used = workerdSeconds() - before;
  const ticks = sumCost((await recordedCalls(bench)).filter(({ by }) => by === 'tick'));
  const { alarmsFired } = await recordedUsage(bench);
  return { millisecondsPerSecond: (used / seconds) * 1000, alarmsFired, tickCalls: ticks.calls, tickRowsRead: ticks.rowsRead };
}

/** Returns how many runs a second were started and fell asleep. */
async function startSleepers(bench: Bench, runs: number): Promise<number> {
  const { clients, rig, sleepingPath } = bench;
  const database = rig.databases.recording;
  const { results } = await database
    .prepare('SELECT id FROM contact WHERE external_id IS NOT NULL AND deleted_at IS NULL ORDER BY id LIMIT ?')
    .bind(runs)
    .all<{ id: number }>();
  const ids = results.map(({ id }) => id);
  const startedAt = performance.now();
  for (let at = 0; at < ids.length; at += contactsPerFiring) {
    await clients.recording.call(fireTrigger(bench, sleepingPath, ids.slice(at, at + contactsPerFiring)));
    // These recorded calls are not needed, and would pile up.
    await recordedCalls(bench);
  }
  await waitFor(database, runs, "SELECT count(*) FROM automation_run WHERE state = 'waiting'");
  return runs / ((performance.now() - startedAt) / 1000);
}
