export interface Backoff {
  /** The delay after the first failure. */
  baseMs: number;
  /** The delay never grows beyond this, jitter apart. */
  maxMs?: number;
  /** The delay is multiplied by a random number of this range, so that retries of simultaneous failures spread out. Absent: no jitter. */
  jitter?: readonly [min: number, max: number];
}

/**
 * How long to wait after the n-th failure in a row: `baseMs`, doubled with each failure up to `maxMs`, then jittered. In milliseconds, not
 * rounded. `random` answers from 0 to below 1.
 *
 * @example backoffMs({ baseMs: 1000, maxMs: 60_000, jitter: [0.5, 1.5] }, failures, Math.random)
 */
export function backoffMs(
  { baseMs, maxMs = Infinity, jitter: [min, max] = [1, 1] }: Backoff,
  failures: number,
  random: () => number,
): number {
  return Math.min(maxMs, baseMs * 2 ** (failures - 1)) * (min + random() * (max - min));
}
