import { LocalError } from '../scripts/local/settings.ts';
import { runProgram } from '../scripts/local/run-program.ts';
import { connections, endBench, prepareBench, quickPace, type Bench } from './bench.ts';
import { sendCallbacks } from './cases/callbacks.ts';
import { Campaign, toCampaignFile, waitUntil, type CallOutcome } from './cases/campaigns.ts';
import { getContacts, postEvent, postUpsert, postWebhook } from './cases/exchanges.ts';
import { serviceOverheads } from './cases/turns.ts';
import { Inspector } from './inspector.ts';
import { SimulatedCarrier } from './local/carrier.ts';
import { matchedType, unmatchedType } from './local/journeys.ts';
import { waitUntilIdle } from './local/wait-until-idle.ts';
import { load, type HttpExchange } from './load.ts';
import { findHotFunctions } from './hot-functions.ts';
import { percentile } from './statistics.ts';

/** The profiled work. `share` is the part of its size to do; below 1 to warm up. Returns a line about the result. */
type Case = (bench: Bench, share: number) => Promise<string>;

/** Numbers go on from call to call: no two requests are the same. */
const requests = (count: number, over: number, exchange: (bench: Bench, number: number) => HttpExchange): Case => {
  let sent = 0;
  return async (bench, share) => {
    const exchanges = Array.from({ length: Math.ceil(count * share) }, () => exchange(bench, sent++));
    const { perSecond, p50 } = await load(bench.clients.service, exchanges, over);
    await waitUntilIdle(bench.rig.databases.service);
    return `${exchanges.length} requests, ${perSecond.toFixed(0)} a second, p50 ${p50.toFixed(1)} ms`;
  };
};

const rows =
  (count: number, ending: CallOutcome): Case =>
  async (bench, share) => {
    const slots = 100;
    await new SimulatedCarrier(bench.rig.outside).behave({ ring_ms: '200-600', turn_ms: 200 });
    const campaign = await Campaign.draft(bench, 'service', toCampaignFile(0, Math.ceil(count * share), ending), slots);
    const startedAt = Date.now();
    await campaign.act('start');
    await waitUntil('every row is done', 120_000, async () => (await campaign.read()).state === 'completed');
    return `${((Math.ceil(count * share) * 1000) / (Date.now() - startedAt)).toFixed(0)} rows a second over ${slots} slots`;
  };

const cases: Record<string, Case> = {
  events: requests(3000, connections, (bench, number) => postEvent(bench, unmatchedType, number)),
  'matched-events': requests(400, connections, (bench, number) => postEvent(bench, matchedType, number)),
  webhooks: requests(400, connections, (bench, number) => postWebhook(number, bench.webhookPath)),
  journeys: requests(400, connections, (bench, number) => postWebhook(number, bench.typicalWebhookPath)),
  'bulk-upsert': requests(12, 1, (bench) => postUpsert(bench, 0)),
  contacts: requests(2000, connections, (bench) => getContacts(bench, 'limit=50')),
  'busy-rows': rows(1500, 'busy'),
  'answered-rows': rows(300, 'hangsUp'),
  callbacks: async (bench, share) => {
    const { perSecond } = await sendCallbacks(bench, Math.ceil(500 * share));
    return `${perSecond.toFixed(0)} callbacks a second`;
  },
  turns: async (bench, share) => {
    const overheads = await serviceOverheads(bench, Math.ceil(16 * share));
    return `${overheads.length} turns, p50 ${percentile(overheads, 0.5).toFixed(1)} ms, p95 ${percentile(overheads, 0.95).toFixed(1)} ms`;
  },
};

// Where the service's own isolate spends its time in one case. The rest of the thread's time, shown as idle, goes to D1,
// queues and R2, which are Workers of their own here.
await runProgram(async () => {
  const name = process.argv[2] ?? '';
  const profiled = Object.hasOwn(cases, name) ? cases[name] : undefined;
  if (!profiled) throw new LocalError(`Usage: node bench/profile.ts <${Object.keys(cases).join('|')}>`);
  const bench = await prepareBench(quickPace, () => undefined, { isInspected: true, hasNames: true });
  const inspector = await Inspector.attach(bench.rig.inspector!, 'core:user:service');
  try {
    await bench.clients.service.call(postUpsert(bench, 0));
    await profiled(bench, 0.25);
    await inspector.startProfile();
    const report = await profiled(bench, 1);
    const profile = await inspector.stopProfile();
    console.log(report);
    for (const [title, functions] of Object.entries(findHotFunctions(profile, 25))) {
      console.log(`\n${title}`);
      for (const { share, where } of functions) console.log(`${(share * 100).toFixed(1).padStart(6)} %  ${where}`);
    }
  } finally {
    inspector.close();
    await endBench(bench);
  }
});
