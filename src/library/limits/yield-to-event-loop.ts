import { totalStepsSpent } from './work-budget.ts';

/** A thread that is less late than this counts as free. Work waits at most `maxWaitMs`. */
const freeBelowMs = 4;
export const maxWaitMs = 50;

/**
 * Called between two slices of long work, or two pieces of background work: requests that arrived meanwhile are answered first. While the
 * thread is late, others have more to do, and the work waits again.
 */
export async function yieldToEventLoop(): Promise<void> {
  const begunAt = Date.now();
  for (let at = begunAt; ;) {
    await nextTurn();
    const now = Date.now();
    if (now - at < freeBelowMs || now - begunAt > maxWaitMs) return;
    at = now;
  }
}

export const nextTurn = (milliseconds = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** About ten milliseconds. */
export const stepsPerSlice = 40_000;
let sliceStartedAtSteps = 0;

/** Called between two pieces of work whose steps are counted: requests that arrived meanwhile are answered first once the pieces are a slice's work. */
export async function yieldAfterWork(): Promise<void> {
  if (totalStepsSpent() - sliceStartedAtSteps < stepsPerSlice) return;
  sliceStartedAtSteps = totalStepsSpent();
  // Messages of others in the same batch may wait for these pieces: one turn is given, not more.
  await nextTurn();
}
