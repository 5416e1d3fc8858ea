/** Ten thousand runs within this are five hundred a second, which one D1 database takes. */
const spreadMs = 20_000;
/** Who waits for less expects to wake at the moment. */
const longWaitMs = 10 * 60_000;
const goldenRatio = (Math.sqrt(5) - 1) / 2;

/** How many ms a run wakes after the moment that it waits for, `waitMs` from now. The numbers of runs that follow each other lie evenly. */
export const wakeDelay = (runId: number, waitMs: number): number =>
  waitMs < longWaitMs ? 0 : Math.floor(((runId * goldenRatio) % 1) * spreadMs);
