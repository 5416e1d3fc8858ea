const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** The delays after the failed attempts, as Standard Webhooks recommends them: ten attempts in three days and three and a half hours. */
const delaysMs = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

/** How many attempts a message has in all. */
export const maxTries = delaysMs.length + 1;

/** Each delay is longer by up to a tenth, so that messages that failed together do not come back together. */
const jitter = 0.1;

/** A receiver may ask for a pause of at most this. */
export const maxRetryAfterMs = 24 * hour;

/** When the next attempt is due after `tries` failed ones, epoch ms; null: there is none left. `random` is from 0 to below 1. */
export function nextAttemptAt(tries: number, now: number, random: number): number | null {
  const delay = delaysMs[tries - 1];
  return delay === undefined ? null : Math.ceil(now + delay * (1 + jitter * random));
}
