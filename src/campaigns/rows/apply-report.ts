import { isFailure, toRowOutcome } from '../../calls/attempt/outcomes.ts';
import type { AttemptOutcome, RowOutcome } from '../../calls/attempt/outcomes.ts';
import type { AttemptReport } from '../../calls/contract.ts';
import { decideRetry, noRetryReason } from '../dialing/retry-policy.ts';
import type { RetryRules, UnreachedOutcome } from '../dialing/retry-policy.ts';
import type { RowState } from './row-states.ts';

/** Why a row is not called any more. `word` is a code; `because` is a clause that can follow "because". */
export interface EndReason {
  word: string;
  because: string;
}

/** The part of a row that reports change. Moments in epoch ms. */
export interface RowProgress {
  state: RowState;
  outcome: RowOutcome | null;
  reason: string | null;
  /** How many calls used up an attempt. */
  attempts: number;
  carrierTroubleCount: number;
  /** Consecutive rate limits. */
  consecutiveRateLimits: number;
  /** The outcome of the last call that reached nobody; null: there was none. Every later call is a retry. */
  lastUnreachedOutcome: UnreachedOutcome | null;
  /** When the row's call is requested from the call slots; 0: as soon as there is capacity; null: the row was requested, or is new. */
  dueAt: number | null;
  /** The value of `dueAt` without calling windows; null: the row has no delay of its own. */
  notBefore: number | null;
  /** The number of the current attempt, which its key names; from 1. */
  attempt: number;
  /** The voice agent run of each attempt, in order; 0: unknown. */
  runIds: number[];
  /** The moment of the last report of the current attempt that changed the row. */
  lastReportAt: number;
}

export interface ReportRules {
  retry: RetryRules;
  now: number;
  random: () => number;
  /** Whether the campaign runs. A returned call of a paused campaign was withdrawn by the pause. */
  isRunning: boolean;
  /** Why the row is not called again; null: it may be. */
  ending: EndReason | null;
}

export interface ReportEffect {
  row: RowProgress;
  /** Whether the attempt is over, so that the call slots no longer have it. */
  isOver: boolean;
  /** The ended call, for the circuit breaker. */
  ended: { at: number; isFailure: boolean; outcome: AttemptOutcome } | null;
  /** Why the campaign must pause; null: it need not. */
  pause: { stateReason: string; message: string } | null;
}

type ReportOfKind<Kind extends AttemptReport['kind']> = Extract<AttemptReport, { kind: Kind }>;

const tooSoonDelayMs = 60_000;
const retryDelayMs = 1000;

/**
 * Applies a report of the row's current attempt. Null: the report changes nothing, since it is late or a repetition. In any order and with any
 * repetitions, the reports of an attempt lead to the same row.
 */
export function applyReport(row: RowProgress, report: AttemptReport, rules: ReportRules): ReportEffect | null {
  switch (report.kind) {
    case 'waiting':
      return applyWaiting(row, report);
    case 'dialing':
    case 'answered':
      return applyProgress(row, report);
    case 'returned':
      return applyReturn(row, report, rules);
    case 'ended':
      return applyEnd(row, report, rules);
  }
}

const isWaiting = ({ state }: RowProgress): boolean => state === 'pending' || state === 'scheduled';

const toOngoingEffect = (row: RowProgress): ReportEffect => ({ row, isOver: false, ended: null, pause: null });

function applyWaiting(row: RowProgress, { reason }: ReportOfKind<'waiting'>): ReportEffect | null {
  const shown = `waiting: ${reason}`;
  return isWaiting(row) && row.dueAt === null && row.reason !== shown ? toOngoingEffect({ ...row, reason: shown }) : null;
}

function applyProgress(row: RowProgress, report: ReportOfKind<'dialing' | 'answered'>): ReportEffect | null {
  // The report is older than the return of the attempt.
  if (report.at < row.lastReportAt && isWaiting(row)) return null;
  const state = report.kind === 'answered' || row.state === 'in_call' ? 'in_call' : 'dialing';
  const runIds = withRunId(row, report.runId);
  if (state === row.state && runIds === row.runIds) return null;
  return toOngoingEffect({
    ...row,
    state,
    runIds,
    reason: null,
    dueAt: null,
    notBefore: null,
    lastReportAt: Math.max(row.lastReportAt, report.at),
  });
}

/** The call slots gave the attempt back undialled. It is requested again under the same key, or under the next one when the key is spent. */
function applyReturn(row: RowProgress, report: ReportOfKind<'returned'>, rules: ReportRules): ReportEffect | null {
  // A report that spends the key is the last one of that key.
  if (!report.isSpent && report.at <= row.lastReportAt) return null;
  const { reason, detail } = report;
  const back: RowProgress = {
    ...row,
    reason: `${reason}: ${detail}`,
    runIds: row.runIds.slice(0, row.attempt - 1),
    lastReportAt: report.at,
    dueAt: null,
    notBefore: null,
    ...(report.isSpent && { attempt: row.attempt + 1, lastReportAt: 0 }),
  };
  const toOverEffect = (change: Partial<RowProgress>): ReportEffect => ({ ...toOngoingEffect({ ...back, ...change }), isOver: true });
  // An answered call cannot be given back. The report is wrong, and the person is not called again for it.
  if (row.state === 'in_call') return toOverEffect({ state: 'failed', outcome: 'failed', runIds: row.runIds });
  if (reason === 'suppressed' || reason === 'contact_deleted') return toOverEffect({ state: 'skipped' });
  if (reason === 'contact_policy' && report.until === null) return toOverEffect({ state: 'skipped' });
  if (reason === 'number_unassignable') return toOverEffect({ state: 'failed', outcome: 'failed' });
  if (rules.ending) return toOverEffect({ state: 'skipped', reason: toSkipReason(rules.ending) });
  const noRetry = row.lastUnreachedOutcome && noRetryReason(row.lastUnreachedOutcome, row.attempts, rules.retry.retry);
  if (noRetry) return toOverEffect({ state: 'failed', outcome: row.lastUnreachedOutcome, reason: noRetry });
  if (reason === 'withdrawn' && !rules.isRunning) return toOverEffect({ state: 'pending', reason: null, dueAt: 0 });
  switch (reason) {
    case 'agent_archived':
    case 'agent_unsound':
    case 'telephony_not_configured':
      return { ...toOverEffect({ state: 'pending', dueAt: 0 }), pause: { stateReason: reason, message: detail } };
    // A delay, so that the row does not go back and forth between the campaign and the call slots.
    case 'withdrawn':
    case 'too_soon':
    case 'contact_policy':
    case 'window_closed': {
      const moment = Math.max(
        report.until ?? 0,
        rules.now + (reason === 'too_soon' && report.until === null ? tooSoonDelayMs : retryDelayMs),
      );
      const window = rules.retry.windowAt(moment);
      if ('never' in window) return toOverEffect({ state: 'failed', reason: `${window.never.reason}: ${window.never.detail}` });
      return toOverEffect({ state: 'scheduled', dueAt: window.opensAt, notBefore: moment });
    }
  }
}

function applyEnd(row: RowProgress, report: ReportOfKind<'ended'>, { retry, now, random, ending }: ReportRules): ReportEffect {
  const { outcome, detail, retryAfterSeconds } = report;
  const end = { outcome, detail: detail ?? undefined, retryAfterSeconds: retryAfterSeconds ?? undefined };
  const next = decideRetry(end, row, retry, now, random);
  const ended: RowProgress = {
    state: 'failed',
    outcome: toRowOutcome(outcome),
    reason: next.reason,
    ...next.tried,
    dueAt: null,
    notBefore: null,
    attempt: row.attempt + 1,
    // The carrier refused the call by its rate limit: no run took place.
    runIds: outcome === 'rate_limited' ? row.runIds.slice(0, row.attempt - 1) : withRunId(row, report.runId),
    lastUnreachedOutcome: toUnreachedOutcome(outcome) ?? row.lastUnreachedOutcome,
    // The reports of the next attempt may come by another clock.
    lastReportAt: 0,
  };
  const after: ReportEffect = {
    row: ended,
    isOver: true,
    ended: outcome === 'rate_limited' ? null : { at: report.at, isFailure: isFailure(outcome), outcome },
    pause: null,
  };
  if (next.step === 'end') return { ...after, row: { ...ended, state: next.state, outcome: next.outcome } };
  if (ending) return { ...after, row: { ...ended, reason: `${outcome}: not called again, because ${ending.because}` } };
  if (next.step === 'retry')
    return { ...after, row: { ...ended, state: 'scheduled', outcome: null, dueAt: next.at, notBefore: next.notBefore } };
  const pause = { stateReason: next.reason ?? next.stateReason, message: next.reason ?? next.stateReason };
  // An answered row must end: no transition leads from an answered call to a new one.
  if (row.state === 'in_call') return { ...after, pause };
  return { ...after, row: { ...ended, state: 'pending', outcome: null, dueAt: 0 }, pause };
}

const toUnreachedOutcome = (outcome: AttemptOutcome): UnreachedOutcome | null =>
  outcome === 'busy' || outcome === 'no_answer' || outcome === 'voicemail' ? outcome : null;

/** The reason of a row that ends without a call. */
export const toSkipReason = ({ word, because }: EndReason): string => `${word}: ${because}`;

/** The runs with the run of the current attempt; the same list when the run is known. */
function withRunId({ runIds, attempt }: RowProgress, runId: number): number[] {
  if (runId === 0 || runIds[attempt - 1] === runId) return runIds;
  return [...Array.from({ length: attempt - 1 }, (_, index) => runIds[index] ?? 0), runId];
}
