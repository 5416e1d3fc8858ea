import { setTimeout as sleep } from 'node:timers/promises';
import { prepareGround } from '../account/ground.ts';
import type { Bench } from '../bench.ts';
import { fireTrigger } from '../cases/exchanges.ts';
import { createJourney } from '../local/journeys.ts';
import { waitFor } from '../local/wait-until-idle.ts';
import { recordedCalls } from '../record.ts';
import { multiply } from './multiply.ts';

/**
 * How many runs wake within a minute, at the scales 1, 10 and 100, and at how many moments of it. A local workerd keeps the files of an object open for ten seconds
 * after its end, and may have no more than 20,000 open: with more, it wakes nobody any more.
 */
const storms = [
  { runs: 100, moments: 1 },
  { runs: 1000, moments: 1 },
  { runs: 10_000, moments: 10 },
];
const betweenMomentsMs = 4_000;
const contactsPerFiring = 100;
/** From so long a sleep on, runs wake spread over some seconds. */
const longSleepMs = 10 * 60_000;
/** Ten more minutes to start all runs. */
const untilFirstMs = 2 * longSleepMs;
const betweenMs = 45_000;
const limitMs = 600_000;

/** How runs woke that slept until the same moment, or the moments of a minute. */
export interface Storm {
  runs: number;
  /** From the first moment until the last run had ended. */
  seconds: number;
  calls: number;
  /** Of the second with the most. */
  mostCallsPerSecond: number;
  mostRunsPerSecond: number;
}

export interface Sleepers {
  /** Watches them wake, at their moments. */
  watch(): Promise<Storm[]>;
  stop(): Promise<void>;
}

/** Has runs fall asleep in a service of its own, as many as each storm has. */
export async function startSleepers(progress: Bench['progress']): Promise<Sleepers> {
  const bench = await prepareGround(progress);
  const { stop } = bench.rig;
  try {
    const contacts = await createContacts(bench);
    const first = Date.now() + untilFirstMs;
    const asleep: Asleep[] = [];
    for (const [index, { runs, moments }] of storms.entries()) {
      const at = first + index * betweenMs;
      progress(`Starting ${runs} runs that sleep until ${new Date(at).toISOString()}`);
      const share = runs / moments;
      const workflows: number[] = [];
      for (let moment = 0; moment < moments; moment += 1)
        workflows.push(await fallAsleep(bench, contacts.slice(moment * share, (moment + 1) * share), at + moment * betweenMomentsMs));
      asleep.push({ runs, at, workflows });
      if (at - Date.now() < longSleepMs) throw new Error(`The ${runs} runs fell asleep too late: this machine is too busy`);
    }
    const watch = async () => {
      const found: Storm[] = [];
      for (const one of asleep) found.push(await watchStorm(bench, one));
      return found;
    };
    return { watch, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Asleep {
  runs: number;
  workflows: number[];
  /** Epoch ms. */
  at: number;
}

async function createContacts({ clients, headers, rig }: Bench): Promise<number[]> {
  const database = rig.databases.recording;
  await database.prepare("UPDATE organization SET plan_limits = json_object('runs_per_minute', 1000000) WHERE id = 1").run();
  await clients.recording.call({ method: 'POST', path: '/api/v1/contacts', headers, body: JSON.stringify({ phone: '+447700900000' }) });
  await multiply(database, {
    table: 'contact',
    where: 'organization_id = 1',
    from: 1,
    count: Math.max(...storms.map(({ runs }) => runs)),
    replaced: { id: null, external_id: null, email: null, phone: "'+4477' || printf('%08d', n.value)" },
  });
  const { results } = await database.prepare('SELECT id FROM contact WHERE organization_id = 1').all<{ id: number }>();
  return results.map(({ id }) => id);
}

/** Answers the id of the journey. */
async function fallAsleep(bench: Bench, contacts: number[], at: number): Promise<number> {
  const { clients, headers, rig } = bench;
  const nodes = [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'nap', type: 'wait', data: { until: new Date(at).toISOString() } },
    { id: 'out', type: 'exit', data: { outcome: 'rested' } },
  ];
  const edges = [
    { id: 'a', source: 'in', target: 'nap' },
    { id: 'b', source: 'nap', target: 'out' },
  ];
  const { id, firePath } = await createJourney(clients.recording, headers, `Until ${at}`, { nodes, edges }, { type: 'manual' });
  for (let from = 0; from < contacts.length; from += contactsPerFiring) {
    await clients.recording.call(fireTrigger(bench, firePath, contacts.slice(from, from + contactsPerFiring)));
    // These recorded calls are not needed, and would pile up.
    await recordedCalls(bench);
  }
  await waitFor(
    rig.databases.recording,
    contacts.length,
    "SELECT count(*) FROM automation_run WHERE workflow_id = ? AND state = 'waiting'",
    id,
  );
  return id;
}

async function watchStorm(bench: Bench, { runs, workflows, at }: Asleep): Promise<Storm> {
  const database = bench.rig.databases.recording;
  await sleep(at - Date.now());
  await recordedCalls(bench);
  const storm: Storm = { runs, seconds: 0, calls: 0, mostCallsPerSecond: 0, mostRunsPerSecond: 0 };
  for (let ended = 0, since = Date.now(); ended < runs;) {
    if (Date.now() - at > limitMs) throw new Error(`Of ${runs} runs ${ended} ended in time`);
    await sleep(1000);
    const calls = (await recordedCalls(bench)).length;
    const { count, last } = (await database
      .prepare(
        "SELECT count(*) AS count, max(completed_at) AS last FROM automation_run WHERE workflow_id IN (SELECT value FROM json_each(?)) AND state = 'completed'",
      )
      .bind(JSON.stringify(workflows))
      .first<{ count: number; last: number }>())!;
    const seconds = (Date.now() - since) / 1000;
    since = Date.now();
    storm.calls += calls;
    storm.mostCallsPerSecond = Math.max(storm.mostCallsPerSecond, Math.round(calls / seconds));
    storm.mostRunsPerSecond = Math.max(storm.mostRunsPerSecond, Math.round((count - ended) / seconds));
    ended = count;
    storm.seconds = (last - at) / 1000;
  }
  bench.progress(`Woken: ${runs} runs in ${storm.seconds.toFixed(1)} s`);
  return storm;
}
