import { setTimeout as sleep } from 'node:timers/promises';

const minuteMs = 60_000;
/** Timers may fire a little early, which would tick twice for one minute. */
const marginMs = 50;

export const millisecondsToNextMinute = (now: number) => minuteMs - (now % minuteMs) + marginMs;

/** Calls the cron route at once and then at the start of each minute, until aborted: `wrangler dev` never does it by itself. */
export async function tickEachMinute(
  origin: string,
  signal: AbortSignal,
  report: (problem: string) => void,
  send: typeof fetch = fetch,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await send(`${origin}/cdn-cgi/local/scheduled?cron=*+*+*+*+*`, { signal });
      const answer = await response.text();
      if (!response.ok) report(`The minute tick failed: ${response.status} ${answer.slice(0, 500)}`);
    } catch (error) {
      if (!signal.aborted) report(`The minute tick failed: ${error instanceof Error ? error.message : String(error)}`);
    }
    await sleep(millisecondsToNextMinute(Date.now()), undefined, { signal }).catch(() => undefined);
  }
}
