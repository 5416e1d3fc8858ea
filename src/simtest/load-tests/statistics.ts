import type { Outcome, SessionStatus } from '../contract.ts';
import { sortAscending, percentileOf } from '../../library/percentiles.ts';

export const loadTestStatuses = ['running', 'completed', 'stopped'] as const;
export type LoadTestStatus = (typeof loadTestStatuses)[number];

/** A session as its load test counts it. Moments in epoch ms. */
export interface CountedSession {
  status: SessionStatus;
  outcome: Outcome | null;
  error: string | null;
  startedAt: number | null;
  endedAt: number | null;
  durationMs: number | null;
  latenciesMs: number[];
}

interface Percentiles {
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

/** The statistics of a load test. The five counts of sessions add up to `total`. */
export interface LoadTestStatistics {
  status: LoadTestStatus;
  total: number;
  pending: number;
  running: number;
  completed: number;
  failed: number;
  stopped: number;
  /** Completed sessions that passed. */
  passed: number;
  /** The share, from 0 to 1, of completed sessions that passed. Errors and stopped sessions do not count. Null: no session counts. */
  pass_rate: number | null;
  /** Of completed sessions. */
  duration_seconds: Percentiles;
  turn_latency_ms: Percentiles;
  achieved_concurrency_max: number;
  /** From the first start to the last end, or until now. Null: no session has started. */
  achieved_concurrency_average: number | null;
  /** The most frequent first. */
  errors: { error: string; count: number }[];
}

const maxErrors = 20;

/** The statistics of a load test at `now` (epoch ms). */
export function computeStatistics(
  { status, maxRunning }: { status: LoadTestStatus; maxRunning: number },
  sessions: CountedSession[],
  now: number,
): LoadTestStatistics {
  const count = (wanted: SessionStatus) => sessions.filter((session) => session.status === wanted).length;
  const completed = sessions.filter((session) => session.status === 'completed');
  const passed = completed.filter(({ outcome }) => outcome === 'passed').length;
  const failedByChecks = completed.filter(({ outcome }) => outcome === 'failed').length;
  return {
    status,
    total: sessions.length,
    pending: count('pending'),
    running: count('running'),
    completed: completed.length,
    failed: count('failed'),
    stopped: count('stopped'),
    passed,
    pass_rate: passed + failedByChecks === 0 ? null : passed / (passed + failedByChecks),
    duration_seconds: computePercentiles(completed.map(({ durationMs }) => (durationMs ?? 0) / 1000)),
    turn_latency_ms: computePercentiles(sessions.flatMap(({ latenciesMs }) => latenciesMs)),
    achieved_concurrency_max: maxRunning,
    achieved_concurrency_average: computeAverageRunning(sessions, now),
    errors: countErrors(sessions),
  };
}

function computePercentiles(values: number[]): Percentiles {
  const sorted = sortAscending(values);
  return { p50: percentileOf(sorted, 0.5), p95: percentileOf(sorted, 0.95), p99: percentileOf(sorted, 0.99) };
}

function computeAverageRunning(sessions: CountedSession[], now: number): number | null {
  let first = Infinity;
  let last = -Infinity;
  let totalMs = 0;
  for (const { startedAt, endedAt } of sessions) {
    if (startedAt === null) continue;
    const until = endedAt ?? now;
    first = Math.min(first, startedAt);
    last = Math.max(last, until);
    totalMs += until - startedAt;
  }
  return last > first ? Math.round((totalMs / (last - first)) * 100) / 100 : null;
}

function countErrors(sessions: CountedSession[]): LoadTestStatistics['errors'] {
  const counts = new Map<string, number>();
  for (const { error } of sessions) if (error !== null) counts.set(error, (counts.get(error) ?? 0) + 1);
  return [...counts]
    .map(([error, count]) => ({ error, count }))
    .toSorted((one, other) => other.count - one.count)
    .slice(0, maxErrors);
}

/** The statistics of a live load test. `statuses` are the statuses of its sessions, in their order; null: the sessions' rows have them. */
export interface LiveStatistics {
  statistics: LoadTestStatistics;
  statuses: SessionStatus[] | null;
}

const pendingSession: CountedSession = {
  status: 'pending',
  outcome: null,
  error: null,
  startedAt: null,
  endedAt: null,
  durationMs: null,
  latenciesMs: [],
};

/** Sessions that have not started. */
export const pendingSessions = (count: number): CountedSession[] => Array.from({ length: count }, () => pendingSession);
