import { isFailure, toRowOutcome } from '../../calls/attempt/outcomes.ts';
import type { AttemptOutcome, RowOutcome } from '../../calls/attempt/outcomes.ts';
import type { AttemptReport } from '../../calls/contract.ts';
import { decideRetry, noRetryReason } from '../dialing/retry-policy.ts';
import type { RetryRules, UnreachedOutcome } from '../dialing/retry-policy.ts';
import type { RowState } from './row-states.ts';

/** Why a row is not called any more: a word, and what follows "because". */
export interface EndReason {
  word: string;
  because: string;
}

/** What a report changes of a row. Moments in epoch ms. */
export interface RowProgress {
  state: RowState;
  outcome: RowOutcome | null;
  reason: string | null;
  /** Calls that used up an attempt. */
  attempts: number;
  carrierTroubleCount: number;
  /** Rate limits in a row. */
  consecutiveRateLimits: number;
  /** How the last call ended that reached nobody; what is made after it is a retry. */
  lastUnreachedOutcome: UnreachedOutcome | null;
  /** When it is to be asked for; 0: as soon as there is room; null: it has been asked for, or never was. */
  dueAt: number | null;
  /** From when it may be asked for, whatever the windows; null: from the beginning on. */
  notBefore: number | null;
  /** The attempt that its key names, from 1. */
  attempt: number;
  /** The run of each attempt, in order; 0: not known. */
  runIds: number[];
  /** Of the last report that counted. */
  lastReportAt: number;
}

export interface ReportRules {
  retry: RetryRules;
  now: number;
  random: () => number;
  /** The campaign calls; what it takes back itself comes back while it does not. */
  isRunning: boolean;
  /** Set: the row is not called again. */
  ending: EndReason | null;
}

export interface ReportEffect {
  row: RowProgress;
  /** Whether the slots no longer have the attempt. */
  isOver: boolean;
  /** A call that ended, for the breaker. */
  ended: { at: number; isFailure: boolean; outcome: AttemptOutcome } | null;
  /** The campaign must pause. */
  pause: { stateReason: string; message: string } | null;
}

type ReportOfKind<Kind extends AttemptReport['kind']> = Extract<AttemptReport, { kind: Kind }>;

const tooSoonDelayMs = 60_000;
const retryDelayMs = 1000;

/**
 * What a report of the row's present attempt changes; null: nothing, it came late or was taken in before. In whatever order and however often
 * the reports of an attempt come, the row ends up the same.
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
  // Of a time before the attempt was given back.
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

/** Not dialled: the attempt has no run, and may be asked for again under its key, or the next one when that is spent. */
function applyReturn(row: RowProgress, report: ReportOfKind<'returned'>, rules: ReportRules): ReportEffect | null {
  // What has spent its key is the last word of it.
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
  const over = (change: Partial<RowProgress>): ReportEffect => ({ ...toOngoingEffect({ ...back, ...change }), isOver: true });
  // An answered call cannot be given back; it is not made again on a wrong word.
  if (row.state === 'in_call') return over({ state: 'failed', outcome: 'failed', runIds: row.runIds });
  if (reason === 'suppressed' || reason === 'contact_deleted') return over({ state: 'skipped' });
  if (rules.ending) return over({ state: 'skipped', reason: toSkipReason(rules.ending) });
  const why = row.lastUnreachedOutcome && noRetryReason(row.lastUnreachedOutcome, row.attempts, rules.retry.retry);
  if (why) return over({ state: 'failed', outcome: row.lastUnreachedOutcome, reason: why });
  if (reason === 'withdrawn' && !rules.isRunning) return over({ state: 'pending', reason: null, dueAt: 0 });
  switch (reason) {
    case 'agent_archived':
    case 'agent_unsound':
    case 'telephony_not_configured':
      return { ...over({ state: 'pending', dueAt: 0 }), pause: { stateReason: reason, message: detail } };
    // Somebody else took it back, or did late: not at once, lest it goes round and round.
    case 'withdrawn':
    case 'too_soon':
    case 'window_closed': {
      const moment = Math.max(
        report.until ?? 0,
        rules.now + (reason === 'too_soon' && report.until === null ? tooSoonDelayMs : retryDelayMs),
      );
      const window = rules.retry.windowAt(moment);
      if ('never' in window) return over({ state: 'failed', reason: `${window.never.reason}: ${window.never.detail}` });
      return over({ state: 'scheduled', dueAt: window.opensAt, notBefore: moment });
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
    // A call that the carrier had no room for was none.
    runIds: outcome === 'rate_limited' ? row.runIds.slice(0, row.attempt - 1) : withRunId(row, report.runId),
    lastUnreachedOutcome: toUnreachedOutcome(outcome) ?? row.lastUnreachedOutcome,
    // By the clock of this attempt's words, which the next one's may not share.
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
  // Nobody was called: no state of a row stands between a call that was answered and a new one.
  if (row.state === 'in_call') return { ...after, pause };
  return { ...after, row: { ...ended, state: 'pending', outcome: null, dueAt: 0 }, pause };
}

const toUnreachedOutcome = (outcome: AttemptOutcome): UnreachedOutcome | null =>
  outcome === 'busy' || outcome === 'no_answer' || outcome === 'voicemail' ? outcome : null;

/** The reason of a row that ends undialled. */
export const toSkipReason = ({ word, because }: EndReason): string => `${word}: ${because}`;

/** The runs with that of the present attempt; the same list when nothing is new. */
function withRunId({ runIds, attempt }: RowProgress, runId: number): number[] {
  if (runId === 0 || runIds[attempt - 1] === runId) return runIds;
  return [...Array.from({ length: attempt - 1 }, (_, index) => runIds[index] ?? 0), runId];
}
