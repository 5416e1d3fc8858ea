import { LocalError } from '../scripts/local/settings.ts';
import { runProgram } from '../scripts/local/run-program.ts';
import { connections, endBench, prepareBench, quickPace, type Bench } from './bench.ts';
import { getContacts, postEvent, postUpsert, postWebhook } from './cases/exchanges.ts';
import { Inspector } from './inspector.ts';
import { matchedType, unmatchedType } from './local/journeys.ts';
import { settle } from './local/settle.ts';
import { load, type Exchange } from './load.ts';
import { hottest } from './hottest.ts';

interface Case {
  requests: number;
  connections: number;
  exchange(bench: Bench, number: number): Exchange;
}

const cases: Record<string, Case> = {
  events: { requests: 3000, connections, exchange: (bench, number) => postEvent(bench, unmatchedType, number) },
  'matched-events': { requests: 400, connections, exchange: (bench, number) => postEvent(bench, matchedType, number) },
  webhooks: { requests: 400, connections, exchange: (bench, number) => postWebhook(number, bench.webhookPath) },
  journeys: { requests: 400, connections, exchange: (bench, number) => postWebhook(number, bench.typicalWebhookPath) },
  'bulk-upsert': { requests: 12, connections: 1, exchange: (bench) => postUpsert(bench, 0) },
  contacts: { requests: 2000, connections, exchange: (bench) => getContacts(bench, 'limit=50') },
};

// Where the service's own isolate spends its time in one case. The rest of the thread's time, shown as idle, goes to D1,
// queues and R2, which are Workers of their own here.
await runProgram(async () => {
  const name = process.argv[2] ?? '';
  const profiled = Object.hasOwn(cases, name) ? cases[name] : undefined;
  if (!profiled) throw new LocalError(`Usage: node bench/profile.ts <${Object.keys(cases).join('|')}>`);
  const bench = await prepareBench(quickPace, () => undefined, true);
  const inspector = await Inspector.attach(bench.rig.inspector!, 'core:user:service');
  try {
    const { service } = bench.clients;
    const run = async (from: number, requests: number) => {
      const exchanges = Array.from({ length: requests }, (_, index) => profiled.exchange(bench, from + index));
      const sample = await load(service, exchanges, profiled.connections);
      await settle(bench.rig.databases.service);
      return sample;
    };
    await service.call(postUpsert(bench, 0));
    const warmUp = Math.ceil(profiled.requests / 4);
    await run(0, warmUp);
    await inspector.startProfile();
    const { perSecond, p50 } = await run(warmUp, profiled.requests);
    const profile = await inspector.stopProfile();
    console.log(`${profiled.requests} requests, ${perSecond.toFixed(0)} a second, p50 ${p50.toFixed(1)} ms`);
    for (const [title, functions] of Object.entries(hottest(profile, 25))) {
      console.log(`\n${title}`);
      for (const { share, where } of functions) console.log(`${(share * 100).toFixed(1).padStart(6)} %  ${where}`);
    }
  } finally {
    inspector.close();
    await endBench(bench);
  }
});
