import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../local/settings.ts';
import type { LoadTests, Statistics } from './load-tests.ts';
import type { Progress } from './progress.ts';

const minPollMs = 250;
const maxPollMs = 2_000;

/**
 * Looks at a load test until its last session has ended, the more rarely the longer it takes. Once `interruption` has come, it is stopped.
 * Answers its last statistics.
 */
export async function followLoadTest(loadTests: LoadTests, id: number, progress: Progress, interruption: AbortSignal): Promise<Statistics> {
  let isStopped = false;
  for (let delayMs = minPollMs; ; delayMs = Math.min(delayMs * 1.5, maxPollMs)) {
    if (interruption.aborted && !isStopped) {
      isStopped = true;
      delayMs = minPollMs;
      progress.note('Stopping the load test ...');
      await loadTests.stop(id).catch((error: unknown) => {
        // It may have ended by itself just now; if it goes on, it is followed to its end.
        if (!(error instanceof LocalError)) throw error;
        progress.note(error.message);
      });
    }
    const statistics = await loadTests.read(id);
    progress.update(statistics);
    if (statistics.status !== 'running' && statistics.pending + statistics.running === 0) return statistics;
    await sleep(delayMs, undefined, isStopped ? {} : { signal: interruption }).catch(() => undefined);
  }
}
