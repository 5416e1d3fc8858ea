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

const nextTurn = (milliseconds = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** About ten milliseconds. */
const stepsPerTurn = 40_000;
const stepsPerMillisecond = 4_000;
let turnStartedAtSteps = 0;

/**
 * Between two pieces of work whose steps are counted: once the pieces are a turn's work, the requests and messages of others get as much
 * time as they took.
 */
export async function yieldAfterWork(): Promise<void> {
  const steps = totalStepsSpent() - turnStartedAtSteps;
  if (steps < stepsPerTurn) return;
  turnStartedAtSteps = totalStepsSpent();
  await nextTurn(Math.min(steps / stepsPerMillisecond, longestWaitMs));
}
