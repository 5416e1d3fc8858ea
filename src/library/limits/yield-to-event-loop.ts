import { totalStepsSpent } from './work-budget.ts';

/** A thread that is less late than this counts as free. Work waits at most `maxWaitMs`. */
const freeBelowMs = 4;
const maxWaitMs = 50;

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
const stepsPerTurn = 40_000;
let turnStartedAtSteps = 0;

/** Called between two pieces of work whose steps are counted: requests that arrived meanwhile are answered first once the pieces are a turn's work. */
export async function yieldAfterWork(): Promise<void> {
  if (totalStepsSpent() - turnStartedAtSteps < stepsPerTurn) return;
  turnStartedAtSteps = totalStepsSpent();
  // Messages of others in the same batch may wait for these pieces: one turn is given, not more.
  await nextTurn();
}
