import { LocalError } from './local/settings.ts';
import { readSimtestSettings, usage } from './simtest/arguments.ts';
import { listFailedChecks } from './simtest/failed-checks.ts';
import { followLoadTest } from './simtest/follow.ts';
import { LoadTests } from './simtest/load-tests.ts';
import { showProgress } from './simtest/progress.ts';
import { formatSummary } from './simtest/summary.ts';
import { toVerdict } from './simtest/verdict.ts';

/** A terminal's Ctrl-C may come twice at once: from itself and through npm. */
const sameInterruptionMs = 500;

/** Exit codes: see `usage`. */
async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    console.log(usage);
    return 0;
  }
  const { target, loadTest, minPassRate } = readSimtestSettings(process.argv.slice(2), process.env);
  const interruption = await interruptions();
  const progress = showProgress();
  const loadTests = new LoadTests(target, (why, delayMs) => progress.note(`Trying again in ${(delayMs / 1000).toFixed(1)} s: ${why}`));
  const id = await loadTests.create(loadTest);
  const address = `${target.baseUrl}/simtest/load-tests/${id}/stats`;
  const { name, actor_workflow_id: actor, adversary_workflow_id: adversary, test_count: count, concurrency } = loadTest;
  console.log(`Load test ${id} "${name}": ${count} sessions of agent ${actor} with adversary ${adversary}, ${concurrency} at a time.`);
  console.log(address);

  const statistics = await followLoadTest(loadTests, id, progress, interruption).finally(() => progress.stop());
  const checks = listFailedChecks(await loadTests.completed(id));
  console.log(['', ...formatSummary(statistics, concurrency, checks), ''].join('\n'));
  if (checks.length > 0) console.log(`What was said in a session: GET ${target.baseUrl}/simtest/test-sessions/{id}/conversation`);
  const { isGood, why } = toVerdict(statistics, minPassRate);
  (isGood ? console.log : console.error)(why);
  return isGood ? 0 : 1;
}

/** The first signal stops the load test, a later one ends this program at once. */
async function interruptions(): Promise<AbortSignal> {
  const interruption = new AbortController();
  let firstAt = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (interruption.signal.aborted && Date.now() - firstAt > sameInterruptionMs) process.exit(130);
      if (!interruption.signal.aborted) firstAt = Date.now();
      interruption.abort();
    });
  }
  // The shell between npm and this process forwards no signal, so its end is the signal.
  if (process.env['npm_lifecycle_event'] !== undefined) await import('./local/exit-with-parent.ts');
  return interruption.signal;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof LocalError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
