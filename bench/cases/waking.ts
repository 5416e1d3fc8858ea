import { setTimeout as sleep } from 'node:timers/promises';
import { measureAlternately, bothSides, connections, type Bench, type Result, type Side } from '../bench.ts';
import { waitUntilIdle, waitFor } from '../local/wait-until-idle.ts';
import type { Database } from '../local/start.ts';
import type { Sample } from '../load.ts';
import {
  toAcceptedCost,
  sumCost,
  findRunEndCalls,
  floorCost,
  fullRecipe,
  postRecipe,
  record,
  requireSameCost,
  type AcceptedCost,
} from '../record.ts';
import { percentile } from '../statistics.ts';
import { toParcelArrivalData, toSenderPhone, postParcelArrival } from './exchanges.ts';
import { insertWaitingRuns, readWaitingRun, startWaitingRuns, type WaitingRun } from './waiting-runs.ts';
import { toExternalId } from './people.ts';

const recipe = 'waking';
/** The person whose run is recorded; no other number contains theirs. */
const recordedPerson = 4321;

const name = (runs: number) => `${runs} runs wait, ${runs} events wake one each`;

/** Times events that each wake the sleeping run of one contact. */
export async function measureWaking(bench: Bench): Promise<{ results: Result[]; costs: AcceptedCost[] }> {
  const { wakingRuns, wakingRounds, sleepBeforeWakingMs } = bench.pace;
  bench.progress(name(wakingRuns));
  const { sleeping, cost } = await giveWakingRecipe(bench);
  const measured = await measureAlternately(wakingRounds, bothSides, async (side) => {
    const people = Array.from({ length: wakingRuns }, (_, number) => number);
    if (side === 'service') await startWaitingRuns(bench, bench.rig.databases.service, people);
    else await insertWaitingRuns(bench, sleeping, people);
    await sleep(sleepBeforeWakingMs);
    return wake(bench, side, people);
  });
  const floorDoes = 'the same statements, the same queue and consumer; the run writes 2 rows and its end';
  return { results: [{ name: name(wakingRuns), floorDoes, compares: 'rate', count: wakingRuns, ...measured }], costs: [cost] };
}

/** Sends the events over all connections; times are from sending one to the completed run that it woke. */
async function wake(bench: Bench, side: Side, people: number[]): Promise<Sample> {
  const database = bench.rig.databases[side];
  const { base } = (await database
    .prepare("SELECT min(id) - 1 AS base FROM automation_run WHERE state = 'waiting'")
    .first<{ base: number }>())!;
  const sentAt = new Map<string, number>();
  const waiting = people.values();
  const connection = async () => {
    for (const person of waiting) {
      sentAt.set(toExternalId(person), Date.now());
      await bench.clients[side].call(postParcelArrival(bench, person, side === 'floor' ? `/events/${recipe}` : undefined));
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  await waitFor(database, people.length, 'SELECT count(*) FROM bench_completion WHERE run_id > ?', base);
  const woken = await wokenAfter(database, base);
  if (side === 'service') {
    requireOnce(woken, people.length);
    await waitUntilIdle(database);
  }
  await waitFor(database, 0, 'SELECT count(*) FROM run_waiter');
  const times = woken.map(({ external_id, completed_at }) => completed_at - sentAt.get(external_id)!);
  const seconds = (Math.max(...woken.map(({ completed_at }) => completed_at)) - Math.min(...sentAt.values())) / 1000;
  return { perSecond: people.length / seconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

interface Woken {
  external_id: string;
  outcome: string;
  /** The event that the run says it took, and whom it named. */
  event_id: number;
  customer: string;
  completed_at: number;
}

const taken = (path: string) => `r.context_changes ->> '$.outputs.wait.event.${path}'`;

async function wokenAfter(database: Database, base: number): Promise<Woken[]> {
  const { results } = await database
    .prepare(
      `SELECT c.external_id, r.outcome, ${taken('id')} AS event_id, ${taken('data.customer')} AS customer, b.completed_at
       FROM bench_completion b CROSS JOIN automation_run r CROSS JOIN contact c WHERE b.run_id > ? AND r.id = b.run_id AND c.id = r.contact_id`,
    )
    .bind(base)
    .all<Woken>();
  return results;
}

/** Throws unless each run ended once, by the event that names its contact, and no two by the same. */
function requireOnce(woken: Woken[], wanted: number): void {
  const events = new Set(woken.map(({ event_id }) => event_id));
  const wrong = woken.filter(({ external_id, outcome, customer }) => outcome !== 'woken' || external_id !== customer);
  if (woken.length === wanted && events.size === wanted && !wrong.length) return;
  throw new Error(`Of ${wanted} runs ${woken.length} ended, by ${events.size} events; ${wrong.length} otherwise than by theirs`);
}

async function giveWakingRecipe(bench: Bench): Promise<{ sleeping: WaitingRun; cost: AcceptedCost }> {
  const database = bench.rig.databases.recording;
  const sleepOne = () => startWaitingRuns(bench, database, [recordedPerson], bench.clients.recording);
  await sleepOne();
  // The first of its type also writes the type down.
  await record(bench, postParcelArrival(bench, recordedPerson));
  await sleepOne();
  const sleeping = await readWaitingRun(database);
  const recording = await record<{ event_id: number; contact_id: number }>(bench, postParcelArrival(bench, recordedPerson));
  const markers = {
    data: JSON.stringify(toParcelArrivalData(recordedPerson)),
    phone: toSenderPhone(recordedPerson),
    customer: toExternalId(recordedPerson),
    event_id: recording.answer.event_id,
    contact_id: recording.answer.contact_id,
    run_id: Number(sleeping.run.id),
  };
  await postRecipe(bench, recipe, fullRecipe(recording, markers, 0));
  await insertWaitingRuns(bench, sleeping, [recordedPerson]);
  await floorCost(bench);
  await wake(bench, 'floor', [recordedPerson]);
  const { calls } = recording;
  requireSameCost(name(1), sumCost([...calls.filter(({ by }) => by !== 'object'), ...findRunEndCalls(calls)]), await floorCost(bench, 1));
  return { sleeping, cost: toAcceptedCost('POST /events, wakes a run', calls) };
}
