import type { RunState } from '../../run-states.ts';
import type { Progress } from '../engine/progress.ts';
import type { ReviveResult } from './revive-store.ts';

/** `refused` null: the run goes on. `gone`: its object is no more. `state`: it has not failed, but is in `state`. */
export interface RetryAnswer {
  refused: 'gone' | 'state' | Exclude<ReviveResult, 'revived'> | null;
  state: RunState | null;
}

/** A failed run, about to take the step that failed again: as a new attempt, with the retry policy and the timeout counted anew. */
export const resumeFailed = (progress: Progress, now: number): Progress => ({
  ...progress,
  state: 'running',
  attempt: progress.attempt + 1,
  firstAttempt: progress.attempt + 1,
  stepCount: 0,
  enteredAt: now,
  wait: null,
  retryAt: null,
  call: progress.call && { ...progress.call, until: null },
  outcome: null,
  error: null,
  endedAt: null,
  retryVersion: undefined,
  retries: (progress.retries ?? 0) + 1,
  retriedAt: now,
});
