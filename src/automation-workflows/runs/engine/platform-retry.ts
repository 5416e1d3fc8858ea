import { toTimestamp } from '../../../library/time/clock.ts';
import { classifyPlatformError, type PlatformComponent } from '../../../library/platform/platform-errors.ts';
import type { HistoryEntry } from './history.ts';
import type { JournalEntry, Journal } from './journal.ts';
import { type Progress, type PlatformRetry, currentPlatformRetry } from './progress.ts';
import type { RunDependencies } from './dependencies.ts';

const minRetryDelayMs = 1000;
const maxRetryDelayMs = 60_000;

/** Milliseconds until the next try after try number `tries` (from 1) has met trouble; spread, so that runs in trouble do not come back together. */
export const platformRetryDelayMs = (tries: number, random: () => number): number =>
  Math.round(Math.min(maxRetryDelayMs, minRetryDelayMs * 2 ** (tries - 1)) * (0.5 + random()));

const partNames: Record<PlatformComponent, string> = {
  database: 'the database',
  object: 'another part of the service',
  file_store: 'the file store',
  queue: 'the queue',
  platform: 'the platform',
};

/** One more try that met trouble at `now`, epoch ms; `nextTryAt` is bounded by `latest`. */
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

/** The record of what a run waits for, be it a sleep or trouble that its step waits out; null: of nothing. */
export function findWaitingEntry(journal: Journal, progress: Progress): HistoryEntry | null {
  const id = progress.wait?.historyId ?? currentPlatformRetry(progress)?.historyId ?? null;
  const entry = id === null ? null : journal.entry(id);
  return progress.wait || entry?.status === 'waiting' ? entry : null;
}

/** What a record and a run show of it. */
export const toTroubleRecord = ({ why, tries, since, nextTryAt }: PlatformRetry) => ({
  why,
  tries,
  since: toTimestamp(since),
  next_try_at: toTimestamp(nextTryAt),
});

/**
 * Has a step that met trouble of the platform tried again later, as the same attempt. `isBegun`: an earlier life of the run had begun it,
 * and what that came to stays open. `isPerformed`: it came as far as its effect.
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
    // This life knows that its try asked nobody; of one that died, nobody does.
    unaskedTries: isBegun ? met.unaskedTries : met.unaskedTries + 1,
  };
  journal.commit(
    (historyId) => ({ ...progress, state: 'waiting', retryAt: trouble.nextTryAt, trouble: { ...trouble, historyId } }),
    // A record that is `started` says that the effect may have happened.
    { ...entry, status: isBegun ? 'started' : 'waiting', output: toTroubleRecord(trouble), completedAt: null },
  );
}
