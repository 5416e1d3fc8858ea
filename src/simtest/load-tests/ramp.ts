/** How many sessions may run at once, in the full and on the way there. */
export interface Ramp {
  concurrency: number;
  /** From one session to all of them, in even steps; 0: at once. */
  rampSeconds: number;
}

/** How many may run `elapsedMs` after the start. */
export function allowedConcurrency({ concurrency, rampSeconds }: Ramp, elapsedMs: number): number {
  const rampMs = rampSeconds * 1000;
  if (elapsedMs >= rampMs) return concurrency;
  return 1 + Math.floor(((concurrency - 1) * Math.max(0, elapsedMs)) / rampMs);
}

/** When the next one may run, in ms after the start; null: as many as ever may. */
export function nextIncreaseAt(ramp: Ramp, elapsedMs: number): number | null {
  const allowed = allowedConcurrency(ramp, elapsedMs);
  if (allowed >= ramp.concurrency) return null;
  return Math.ceil((ramp.rampSeconds * 1000 * allowed) / (ramp.concurrency - 1));
}
