import type { CallingWindow } from './calling-windows.ts';
import type { RetryConfig } from '../configs/configs.ts';
import { toRowOutcome } from '../../calls/attempt/outcomes.ts';
import type { AttemptOutcome, RowOutcome } from '../../calls/attempt/outcomes.ts';

/** How an attempt ended. `detail` is the carrier's sentence, for people. */
export interface AttemptEnd {
  outcome: AttemptOutcome;
  detail?: string | undefined;
  retryAfterSeconds?: number | undefined;
}

/** How often a row was tried. */
export interface AttemptCounts {
  attempts: number;
  /** Tries that ended by trouble on the carrier's side; they use up no attempt. */
  carrierTroubleCount: number;
  /** Consecutive tries that the carrier refused by its rate limit. */
  consecutiveRateLimits: number;
}

/** The outcomes after which `retry_config` may ask for a retry. */
export type UnreachedOutcome = 'busy' | 'no_answer' | 'voicemail';

export interface RetryRules {
  retry: RetryConfig;
  /** The calling window of the row at a moment (epoch ms). */
  windowAt(moment: number): CallingWindow;
  /** The delay before the first retry after carrier trouble; each further retry waits four times as long. */
  carrierTroubleDelaySeconds?: number;
}

/** `reason` is a code, a colon and a sentence: `busy: attempt 2 of 3 follows`. `tried` includes the attempt that ended. */
export type RetryDecision = { reason: string | null; tried: AttemptCounts } & (
  | { step: 'end'; state: 'completed' | 'failed'; outcome: RowOutcome }
  /** Epoch ms. `at` is inside a calling window; `notBefore` is its value without calling windows. */
  | { step: 'retry'; at: number; notBefore: number }
  /** Every other row would be refused, too: the row and its campaign wait until a person removes the cause. */
  | { step: 'hold'; stateReason: 'caller_id_refused' | 'account_refused' | 'request_refused' }
);

const maxCarrierTroubleRetries = 3;
const maxDelaySeconds = 7 * 86_400;
const maxRetryAfterSeconds = 3600;
const rateLimitDelaySeconds = 10;
const maxRateLimitDelaySeconds = 300;

/**
 * Decides what follows the end of an attempt. `before` has the counts before the attempt; `now` is in epoch ms; `random` gives numbers from 0 up
 * to 1. After trouble on the carrier's side, the attempt is repeated up to three times. A rate limit never ends a row; each consecutive one
 * doubles the wait, up to five minutes.
 */
export function decideRetry(end: AttemptEnd, before: AttemptCounts, rules: RetryRules, now: number, random: () => number): RetryDecision {
  const tried: AttemptCounts = { attempts: before.attempts, carrierTroubleCount: before.carrierTroubleCount, consecutiveRateLimits: 0 };
  switch (end.outcome) {
    case 'completed':
      return { step: 'end', state: 'completed', outcome: 'completed', reason: null, tried: countAttempt(tried) };
    case 'busy':
    case 'no_answer':
    case 'voicemail':
      return decideAfterUnreached(end.outcome, countAttempt(tried), rules, now);
    case 'carrier_trouble':
      return decideAfterCarrierTrouble(end, tried, rules, now, random);
    case 'rate_limited':
      return decideAfterRateLimit(end, before, rules, now, random);
    case 'caller_id_refused':
    case 'account_refused':
    case 'request_refused':
      return { step: 'hold', stateReason: end.outcome, reason: `${end.outcome}: ${end.detail ?? defaultDetails[end.outcome]}`, tried };
    default:
      return toEndDecision(end, end.detail ?? defaultDetails[end.outcome], countAttempt(tried));
  }
}

/** Why no retry follows a call that reached nobody and was number `attempts`; null: a retry follows. */
export function noRetryReason(outcome: UnreachedOutcome, attempts: number, retry: RetryConfig): string | null {
  if (!retry.enabled || !retry[`retry_on_${outcome}`]) return `${outcome}: the settings ask for no retry`;
  const maxAttempts = 1 + retry.max_retries;
  return attempts >= maxAttempts ? `${outcome}: on the last of ${maxAttempts} ${maxAttempts === 1 ? 'attempt' : 'attempts'}` : null;
}

function decideAfterUnreached(outcome: UnreachedOutcome, tried: AttemptCounts, rules: RetryRules, now: number): RetryDecision {
  const { retry } = rules;
  const reason = noRetryReason(outcome, tried.attempts, retry);
  if (reason) return { step: 'end', state: 'failed', outcome, reason, tried };
  const delay = retry.retry_delay_seconds * retry.backoff_factor ** (tried.attempts - 1);
  const at = now + Math.round(Math.min(delay, maxDelaySeconds) * 1000);
  return toRetryDecision(at, { outcome }, `attempt ${tried.attempts + 1} of ${1 + retry.max_retries} follows`, tried, rules);
}

function decideAfterCarrierTrouble(
  end: AttemptEnd,
  before: AttemptCounts,
  rules: RetryRules,
  now: number,
  random: () => number,
): RetryDecision {
  const tried: AttemptCounts = { ...before, carrierTroubleCount: before.carrierTroubleCount + 1 };
  const detail = end.detail ?? defaultDetails.carrier_trouble;
  if (before.carrierTroubleCount >= maxCarrierTroubleRetries)
    return toEndDecision(end, `${detail} (after ${maxCarrierTroubleRetries} more tries)`, tried);
  const delay = (rules.carrierTroubleDelaySeconds ?? 5) * 4 ** before.carrierTroubleCount;
  return toRetryDecision(now + jitteredDelayMs(delay, end, random), end, `${detail}; tried again`, tried, rules);
}

function decideAfterRateLimit(
  end: AttemptEnd,
  { attempts, carrierTroubleCount, consecutiveRateLimits }: AttemptCounts,
  rules: RetryRules,
  now: number,
  random: () => number,
): RetryDecision {
  const delay = Math.min(rateLimitDelaySeconds * 2 ** consecutiveRateLimits, maxRateLimitDelaySeconds);
  const counts: AttemptCounts = { attempts, carrierTroubleCount, consecutiveRateLimits: consecutiveRateLimits + 1 };
  return toRetryDecision(now + jitteredDelayMs(delay, end, random), end, 'the carrier takes no more calls for now', counts, rules);
}

/** A delay in ms. Jitter spreads rows that failed together; Retry-After is the minimum, up to an hour. */
function jitteredDelayMs(delaySeconds: number, { retryAfterSeconds = 0 }: AttemptEnd, random: () => number): number {
  const requestedSeconds = Math.min(Math.max(retryAfterSeconds, 0), maxRetryAfterSeconds);
  return Math.round(Math.max(delaySeconds, requestedSeconds) * (1 + random() / 2) * 1000);
}

function toRetryDecision(moment: number, end: AttemptEnd, detail: string, tried: AttemptCounts, rules: RetryRules): RetryDecision {
  const window = rules.windowAt(moment);
  if ('never' in window) return toEndDecision(end, `${end.outcome}; ${window.never.detail}`, tried, window.never.reason);
  return { step: 'retry', at: window.opensAt, notBefore: moment, reason: `${end.outcome}: ${detail}`, tried };
}

const toEndDecision = ({ outcome }: AttemptEnd, detail: string, tried: AttemptCounts, code: string = outcome): RetryDecision => ({
  step: 'end',
  state: 'failed',
  outcome: toRowOutcome(outcome),
  reason: `${code}: ${detail}`,
  tried,
});

const countAttempt = (tried: AttemptCounts): AttemptCounts => ({ ...tried, attempts: tried.attempts + 1 });

const defaultDetails = {
  failed: 'the carrier could not complete the call',
  cancelled: 'the call was ended before anyone answered',
  carrier_trouble: 'the carrier or the network failed',
  number_refused: 'the carrier does not call this number; check it',
  number_blocked: 'the number is blocked and will not be called',
  caller_id_refused: 'the carrier refuses the caller number; correct from_numbers of the telephony configuration and resume',
  account_refused: 'the carrier refuses the account; correct the credentials of the telephony configuration and resume',
  request_refused: 'the carrier refuses the request; check the telephony configuration and resume',
};
