import { LocalError } from '../scripts/local/settings.ts';
import { runProgram } from '../scripts/local/run-program.ts';
import { endBench, fullPace, prepareBench, quickPace } from './bench.ts';
import { measureBulkUpserts, measureContactPages } from './cases/contacts.ts';
import { measureEvents } from './cases/events.ts';
import { measureHealth } from './cases/health.ts';
import { measureSleeping } from './cases/sleeping.ts';
import { measureTypicalJourney } from './cases/typical-journey.ts';
import { measureWaking } from './cases/waking.ts';
import { measureWebhooks } from './cases/webhooks.ts';
import { machineFacts } from './facts.ts';
import { report, writeReport } from './report.ts';

await runProgram(async () => {
  const parameters = process.argv.slice(2);
  const isQuick = parameters.includes('--quick');
  if (parameters.some((parameter) => parameter !== '--quick')) throw new LocalError('Usage: npm run bench [-- --quick]');
  const startedAt = performance.now();
  const progress = (text: string) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${text}`);
  progress('Bundling and starting the service, its recording and the floor');
  const bench = await prepareBench(isQuick ? quickPace : fullPace, progress);
  process.once('SIGINT', () => void endBench(bench).finally(() => process.exit(130)));
  try {
    const facts = machineFacts(bench);
    const bulkUpserts = await measureBulkUpserts(bench);
    const pages = await measureContactPages(bench);
    const events = await measureEvents(bench);
    const webhooks = await measureWebhooks(bench);
    const typical = await measureTypicalJourney(bench);
    const health = await measureHealth(bench);
    const waking = await measureWaking(bench);
    const sleeping = await measureSleeping(bench);
    const results = [...events.results, ...webhooks.results, ...typical.results, ...waking.results, ...bulkUpserts, ...pages, ...health];
    const seconds = (performance.now() - startedAt) / 1000;
    const costs = [...events.costs, ...waking.costs, ...webhooks.costs, ...typical.costs];
    const written = report({ facts, results, costs, use: typical.use, sleeping, loggedLines: bench.rig.loggedLines(), seconds });
    console.log(`\n${written.markdown}`);
    if (!isQuick) progress(`Written to ${writeReport(written)}`);
  } finally {
    await endBench(bench);
  }
});
