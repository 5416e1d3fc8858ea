/** How many sessions may run at a time, and how fast that number is reached. */
export interface Ramp {
  concurrency: number;
  /** Seconds from one session at a time to `concurrency`, in even steps; 0: at once. */
  rampSeconds: number;
}

/** How many sessions may run `elapsedMs` after the start. */
export function allowedConcurrency({ concurrency, rampSeconds }: Ramp, elapsedMs: number): number {
  const rampMs = rampSeconds * 1000;
  if (elapsedMs >= rampMs) return concurrency;
  return 1 + Math.floor(((concurrency - 1) * Math.max(0, elapsedMs)) / rampMs);
}

/** When one more session may run, in ms after the start; null: `concurrency` is reached. */
export function nextIncreaseAt(ramp: Ramp, elapsedMs: number): number | null {
  const allowed = allowedConcurrency(ramp, elapsedMs);
  if (allowed >= ramp.concurrency) return null;
  return Math.ceil((ramp.rampSeconds * 1000 * allowed) / (ramp.concurrency - 1));
}
