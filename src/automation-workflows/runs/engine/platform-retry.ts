import { backoffMs } from '../../../library/backoff.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import { classifyPlatformError, type PlatformComponent } from '../../../library/platform/platform-errors.ts';
import type { HistoryEntry } from './history.ts';
import type { JournalEntry, Journal } from './journal.ts';
import { type Progress, type PlatformRetry, currentPlatformRetry } from './progress.ts';
import type { RunDependencies } from './dependencies.ts';

const retryBackoff = { baseMs: 1000, maxMs: 60_000, jitter: [0.5, 1.5] } as const;

/** Milliseconds until the next try after `tries` tries in a row (from 1) failed because of the platform. */
const platformRetryDelayMs = (tries: number, random: () => number): number => Math.round(backoffMs(retryBackoff, tries, random));

const partNames: Record<PlatformComponent, string> = {
  database: 'the database',
  object: 'another part of the service',
  file_store: 'the file store',
  queue: 'the queue',
  platform: 'the platform',
};

/** The retry record after one more try failed at `now`. `nextTryAt` is at most `latest`. Moments in epoch ms. */
export function nextPlatformRetry(
  progress: Progress,
  error: unknown,
  { now, random, latest = Infinity }: { now: number; random: () => number; latest?: number },
): PlatformRetry {
  const before = currentPlatformRetry(progress);
  const tries = (before?.tries ?? 0) + 1;
  const found = classifyPlatformError(error);
  return {
    attempt: progress.attempt,
    historyId: before?.historyId ?? null,
    tries,
    since: before?.since ?? now,
    nextTryAt: Math.min(latest, now + platformRetryDelayMs(tries, random)),
    why: `waiting for ${partNames[found?.part ?? 'platform']}: ${found?.matchedText ?? 'trouble'}`,
    unaskedTries: before?.unaskedTries ?? 0,
    mayHaveHappened: before?.mayHaveHappened ?? false,
  };
}

/** The history record of the run's wait, or of a step that waits for the platform; null when the run waits for neither. */
export function findWaitingEntry(journal: Journal, progress: Progress): HistoryEntry | null {
  const id = progress.wait?.historyId ?? currentPlatformRetry(progress)?.historyId ?? null;
  const entry = id === null ? null : journal.entry(id);
  return progress.wait || entry?.status === 'waiting' ? entry : null;
}

/** A platform retry as the history record and the run show it. */
export const toTroubleRecord = ({ why, tries, since, nextTryAt }: PlatformRetry) => ({
  why,
  tries,
  since: toTimestamp(since),
  next_try_at: toTimestamp(nextTryAt),
});

/**
 * Schedules another try of a step that failed because of the platform, as the same attempt. `isBegun`: the step was begun before the object
 * was last loaded, so its outcome is unknown. `isPerformed`: the step had reached its side effect.
 */
export function schedulePlatformRetry(
  journal: Journal,
  entry: JournalEntry,
  { error, isBegun, isPerformed }: { error: unknown; isBegun: boolean; isPerformed: boolean },
  run: RunDependencies,
): void {
  const progress = journal.progress();
  const met = nextPlatformRetry(progress, error, { now: run.now(), random: run.random, latest: run.deadline });
  const trouble = {
    ...met,
    mayHaveHappened: met.mayHaveHappened || isPerformed,
    // A try of the loaded object is known to have sent nothing outside. The try of an object that died may have sent something.
    unaskedTries: isBegun ? met.unaskedTries : met.unaskedTries + 1,
  };
  journal.commit(
    (historyId) => ({ ...progress, state: 'waiting', retryAt: trouble.nextTryAt, trouble: { ...trouble, historyId } }),
    // The status `started` says that the effect may have happened.
    { ...entry, status: isBegun ? 'started' : 'waiting', output: toTroubleRecord(trouble), completedAt: null },
  );
}
