import { totalStepsSpent } from './work-budget.ts';

/** Lateness of the thread up to which it counts as free, and how long work gives way at the most. Milliseconds. */
const freeBelowMs = 4;
const longestWaitMs = 50;

/**
 * Between two slices of long work, or two pieces of work in the background: requests that came meanwhile are answered first. While the
 * thread is late, others have more to do, and are let go before again.
 */
export async function yieldToEventLoop(): Promise<void> {
  const begunAt = Date.now();
  for (let at = begunAt; ;) {
    await nextTurn();
    const now = Date.now();
    if (now - at < freeBelowMs || now - begunAt > longestWaitMs) return;
    at = now;
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** About ten milliseconds. */
const stepsPerTurn = 40_000;
let turnStartedAtSteps = 0;

/** Between two pieces of work whose steps are counted: requests that came meanwhile are answered first once the pieces are a turn's work. */
export async function yieldAfterWork(): Promise<void> {
  if (totalStepsSpent() - turnStartedAtSteps < stepsPerTurn) return;
  turnStartedAtSteps = totalStepsSpent();
  // Of others' messages that came in the same batch some may wait for these pieces: one turn is given, not more.
  await nextTurn();
}
