import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { Campaign, toCampaignFile, waitUntil } from '../cases/campaigns.ts';
import { postEvent, postParcelArrival, postWebhook } from '../cases/exchanges.ts';
import { fillKnowledgeBase } from '../cases/fill-knowledge-base.ts';
import { Books } from '../cases/sync.ts';
import { TestAgents } from '../cases/test-agents.ts';
import { startWaitingRuns } from '../cases/waiting-runs.ts';
import { postUpsert } from '../cases/exchanges.ts';
import { accounts, SimulatedCarrier } from '../local/carrier.ts';
import { matchedType, unmatchedType } from '../local/journeys.ts';
import { workerdMegabytes } from '../local/memory.ts';
import { waitUntilIdle } from '../local/wait-until-idle.ts';
import { resetReceiver } from '../receiver.ts';
import { latencyFinding, memoryFinding, sumFinding, type Finding, type Measured } from './verdict.ts';

const perMinute = { rows: 500, tests: 20, sleepers: 40 };
const perSecond = { events: 4, startingEvents: 2, webhooks: 2, searches: 1 };
const chunks = 500;
const syncedContacts = 450;
const slots = 10;
const testConcurrency = 5;
const testTurns = 4;
const drainLimitMs = 300_000;
const minuteMs = 60_000;
/** Whom the sleeping runs are about; events and webhooks are about the others, too, which wakes nobody. */
const firstSleeper = 0;

/** Everything at once for so many minutes; returns what was right and wrong at the end. */
export async function runSustainedLoad(bench: Bench, minutes: number): Promise<Finding[]> {
  const { rig, clients, headers, progress } = bench;
  const database = rig.databases.service;
  const lengthMs = minutes * minuteMs;
  progress('Contacts, documents, agents and books come in');
  await clients.service.call(postUpsert(bench, 0));
  await fillKnowledgeBase(bench, chunks);
  const agents = await TestAgents.create(bench, 'service');
  const books = await Books.connect(bench, 'service', syncedContacts);
  await new SimulatedCarrier(rig.outside).behave({ ring_ms: '200-600', turn_ms: '200-400' });
  await resetReceiver(bench);
  const count = async (sql: string) => (await database.prepare(sql).first<{ count: number }>())!.count;
  const before = {
    events: await count('SELECT count(*) AS count FROM event WHERE organization_id > 0'),
    completed: await count("SELECT count(*) AS count FROM automation_run WHERE state = 'completed'"),
  };
  const errorsBefore = rig.loggedErrors();

  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const times: Record<string, Measured[]> = {};
  const failures: string[] = [];
  const sent: Record<string, number> = {};
  const timed = async (what: string, work: () => Promise<unknown>) => {
    sent[what] = (sent[what] ?? 0) + 1;
    const at = elapsed();
    try {
      await work();
      (times[what] ??= []).push({ at, value: elapsed() - at });
    } catch (error) {
      failures.push(`${what}: ${String(error).slice(0, 300)}`);
    }
  };
  /** Does the work at a steady rate, whether or not earlier work is answered. */
  const steadily = async (what: string, aSecond: number, work: (number: number) => Promise<unknown>) => {
    const under: Promise<void>[] = [];
    for (let number = 0; elapsed() < lengthMs; number++) {
      under.push(timed(what, () => work(number)));
      await sleep(Math.max(0, ((number + 1) * 1000) / aSecond - elapsed()));
    }
    await Promise.all(under);
  };
  const memory: Measured[] = [];
  const watchMemory = async () => {
    for (; elapsed() < lengthMs; await sleep(2000)) memory.push({ at: elapsed(), value: workerdMegabytes() });
  };
  const tick = async () => {
    for (; elapsed() < lengthMs; await sleep(minuteMs / 2)) await timed('minute ticks', () => rig.tick());
  };
  const tell = async () => {
    for (let minute = 1; minute < minutes; minute++) {
      await sleep(Math.max(0, minute * minuteMs - elapsed()));
      progress(
        `Minute ${minute} of ${minutes}: ${JSON.stringify(sent)}, ${failures.length} failures, workerd ${workerdMegabytes().toFixed(0)} MB`,
      );
    }
  };
  let woken = 0;
  const wakeUps = async () => {
    for (let minute = 0; minute < minutes; minute++) {
      const people = Array.from({ length: perMinute.sleepers }, (_, index) => firstSleeper + minute * perMinute.sleepers + index);
      await timed('starts of sleeping runs', () => startWaitingRuns(bench, database, people));
      for (const person of people) await timed('waking events', () => clients.service.call(postParcelArrival(bench, person)));
      woken += people.length;
      await waitUntil(
        'the sleeping runs are awake',
        drainLimitMs,
        async () => (await count('SELECT count(*) AS count FROM run_waiter')) === 0,
      );
      await sleep(Math.max(0, Math.min((minute + 1) * minuteMs, lengthMs) - elapsed()));
    }
  };
  const rows = perMinute.rows * minutes;
  const tests = perMinute.tests * minutes;
  progress(`${minutes} minutes of everything: a campaign of ${rows} rows, ${tests} tests, events, webhooks, searches, syncs and wake-ups`);
  const campaign = await Campaign.draft(bench, 'service', toCampaignFile(0, rows, 'busy'), slots);
  const loadTest = await agents.startLoadTest(tests, testConcurrency, { max_turns: testTurns });
  await campaign.act('start');
  const search = JSON.stringify({ query: 'How do I convert a string to a number?', limit: 5 });
  await Promise.all([
    steadily('events', perSecond.events, (number) => clients.service.call(postEvent(bench, unmatchedType, number))),
    steadily('events that start runs', perSecond.startingEvents, (number) => clients.service.call(postEvent(bench, matchedType, number))),
    steadily('webhooks', perSecond.webhooks, (number) => clients.service.call(postWebhook(number, bench.typicalWebhookPath))),
    steadily('searches', perSecond.searches, () =>
      clients.service.call({ method: 'POST', path: '/api/v1/knowledge-base/search', headers, body: search }),
    ),
    timed('syncs', async () => {
      await books.sync({ created: syncedContacts, unchanged: 0 });
      await books.sync({ created: 0, unchanged: syncedContacts });
    }),
    wakeUps(),
    watchMemory(),
    tick(),
    tell(),
  ]);

  progress('The load has ended; queues, calls and tests are drained');
  const drainedAt = performance.now();
  const openTests = "SELECT count(*) AS count FROM test_session WHERE status IN ('pending', 'running')";
  const unfinished = [
    ...(await drained('events, deliveries and runs', () => waitUntilIdle(database))),
    ...(await drained('campaign', () =>
      waitUntil('it has ended', drainLimitMs, async () => (await campaign.read()).state === 'completed'),
    )),
    ...(await drained('tests', () => waitUntil('they have ended', drainLimitMs, async () => (await count(openTests)) === 0))),
  ];
  progress(`Drained after ${((performance.now() - drainedAt) / 1000).toFixed(0)} s`);
  const standing = await campaign.read();
  const statistics = await agents.read<{ passed: number }>(`/load-tests/${loadTest}/stats`);
  const calls = await new SimulatedCarrier(rig.outside).callsOf(accounts.service);
  const received = await fetch(`${rig.outside}/__sim/requests?provider=receiver&path=/service`);
  const { requests } = (await received.json()) as { requests: { headers: Record<string, string> }[] };
  const of = (what: string) => sent[what] ?? 0;
  const runs = of('events that start runs') + of('webhooks') + woken;
  for (const failure of failures.slice(0, 10)) progress(failure);
  return [
    ...unfinished,
    sumFinding('requests that failed', 0, failures.length),
    sumFinding('errors in the log', 0, rig.loggedErrors() - errorsBefore),
    sumFinding(
      'events stored',
      of('events') + of('events that start runs') + of('waking events'),
      (await count('SELECT count(*) AS count FROM event WHERE organization_id > 0')) - before.events,
    ),
    sumFinding('events unhandled', 0, await count('SELECT count(*) AS count FROM event WHERE handled_at IS NULL')),
    sumFinding('deliveries unhandled', 0, await count('SELECT count(*) AS count FROM webhook_delivery WHERE handled_at IS NULL')),
    sumFinding(
      'runs completed',
      runs,
      (await count("SELECT count(*) AS count FROM automation_run WHERE state = 'completed'")) - before.completed,
    ),
    sumFinding('runs that wait', 0, await count('SELECT count(*) AS count FROM run_waiter')),
    sumFinding('requests of runs received', of('webhooks'), requests.length),
    sumFinding(
      'requests of runs received under keys of their own',
      of('webhooks'),
      new Set(requests.map((one) => one.headers['idempotency-key'])).size,
    ),
    sumFinding('rows of the campaign processed', rows, standing.processed_rows),
    sumFinding('calls that the carrier took', rows, calls.length),
    sumFinding('tests passed', tests, statistics.passed),
    ...['events', 'events that start runs', 'webhooks', 'searches'].map((what) => latencyFinding(what, times[what] ?? [], lengthMs)),
    memoryFinding(memory, lengthMs),
  ];
}

/** Nothing, or that the wait for the end has failed. */
async function drained(what: string, wait: () => Promise<unknown>): Promise<Finding[]> {
  try {
    await wait();
    return [];
  } catch (error) {
    return [{ isRight: false, what: `${what}: ${String(error).slice(0, 300)}` }];
  }
}
