import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { ensureCredentials } from '../local/demo-organization.ts';
import { tickEachMinute } from '../local/minute-tick.ts';
import { waitUntilHealthy } from '../local/service-health.ts';
import { serviceOrigin, type LocalSettings } from '../local/settings.ts';
import { unlockState } from '../local/state-lock.ts';

interface Parameters {
  settings: LocalSettings;
  /** Of the `wrangler dev` that is attended to. */
  processId: number;
  hasSimulatedCarrier: boolean;
}

/**
 * Does beside a plain `wrangler dev` what `npm start` does for its service: makes the demo organization and its key, and calls the cron route
 * each minute. It ends with that `wrangler dev`, and gives the state folder back.
 */
const { settings, processId, hasSimulatedCarrier } = JSON.parse(process.argv[2]!) as Parameters;
const ending = new AbortController();
const log = createWriteStream(join(settings.stateDirectory, 'wrangler-dev.log'), { flags: 'a' });
// The folder may be deleted meanwhile.
log.on('error', () => undefined);
const report = (text: string) => void log.write(`${new Date().toISOString()} ${text}\n`);

const watch = setInterval(() => {
  if (isAlive(processId)) return;
  clearInterval(watch);
  unlockState(settings.stateDirectory, processId);
  ending.abort();
}, 250);

report(`Attending to wrangler dev (process ${processId}) on port ${settings.port}`);
await untilDone(() => waitUntilHealthy(`${serviceOrigin(settings)}/api/v1`, ending.signal));
await untilDone(async () => {
  await ensureCredentials(settings, { hasSimulatedCarrier });
  report('The demo organization has a key: npm run credentials');
});
await tickEachMinute(serviceOrigin(settings), ending.signal, report);
log.end();

/** The code may be broken for a while, since somebody is at work on it. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  for (let waitMs = 1_000; !ending.signal.aborted; waitMs = Math.min(waitMs * 2, 60_000)) {
    try {
      return await work();
    } catch (error) {
      if (ending.signal.aborted) return;
      report(error instanceof Error ? error.message : String(error));
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
}

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
