import type { CallingWindow } from './calling-windows.ts';
import type { RetryConfig } from '../configs/configs.ts';
import { toRowOutcome } from '../../calls/attempt/outcomes.ts';
import type { AttemptOutcome, RowOutcome } from '../../calls/attempt/outcomes.ts';

/** `detail`: a sentence of the carrier's, for people. */
export interface AttemptEnd {
  outcome: AttemptOutcome;
  detail?: string | undefined;
  retryAfterSeconds?: number | undefined;
}

/** What a row has behind it. */
export interface AttemptCounts {
  attempts: number;
  /** Tries that carrier trouble ended; they use up no attempts. */
  carrierTroubleCount: number;
  /** Tries in a row that the carrier asked for patience with. */
  consecutiveRateLimits: number;
}

/** The ends of a call that settings may ask to follow up. */
export type UnreachedOutcome = 'busy' | 'no_answer' | 'voicemail';

export interface RetryRules {
  retry: RetryConfig;
  /** The calling window of the row at a moment (epoch ms). */
  windowAt(moment: number): CallingWindow;
  /** Before the first retry after carrier trouble; each further one is put off four times as long. */
  carrierTroubleDelaySeconds?: number;
}

/** `reason` is a word, then for people a sentence: `busy: attempt 2 of 3 follows`. `tried` counts the attempt that ended. */
export type RetryDecision = { reason: string | null; tried: AttemptCounts } & (
  | { step: 'end'; state: 'completed' | 'failed'; outcome: RowOutcome }
  /** Epoch ms; `at` is inside a calling window, `notBefore` is what it would be if all were open. */
  | { step: 'retry'; at: number; notBefore: number }
  /** Any other row would fare the same: the row waits, and so must the campaign, until somebody has mended it. */
  | { step: 'hold'; stateReason: 'caller_id_refused' | 'account_refused' | 'request_refused' }
);

const maxCarrierTroubleRetries = 3;
const maxDelaySeconds = 7 * 86_400;
const maxRetryAfterSeconds = 3600;
const rateLimitDelaySeconds = 10;
const maxRateLimitDelaySeconds = 300;

/**
 * What follows the end of an attempt. `tried` is before it; `now` in epoch ms; `random` gives numbers from 0 up to 1. An attempt that only
 * met trouble on the carrier's side is made again up to three times; a rate limit never ends a row,
 * and each further one in a row doubles the wait, up to five minutes.
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

/** Why a call that reached nobody, the last of `attempts`, is not followed by another one; null: it is. */
export function noRetryReason(outcome: UnreachedOutcome, attempts: number, retry: RetryConfig): string | null {
  if (!retry.enabled || !retry[`retry_on_${outcome}`]) return `${outcome}: the settings ask for no retry`;
  const most = 1 + retry.max_retries;
  return attempts >= most ? `${outcome}: on the last of ${most} ${most === 1 ? 'attempt' : 'attempts'}` : null;
}

function decideAfterUnreached(outcome: UnreachedOutcome, tried: AttemptCounts, rules: RetryRules, now: number): RetryDecision {
  const { retry } = rules;
  const most = 1 + retry.max_retries;
  const why = noRetryReason(outcome, tried.attempts, retry);
  if (why) return { step: 'end', state: 'failed', outcome, reason: why, tried };
  const delay = retry.retry_delay_seconds * retry.backoff_factor ** (tried.attempts - 1);
  const at = now + Math.round(Math.min(delay, maxDelaySeconds) * 1000);
  return toRetryDecision(at, { outcome }, `attempt ${tried.attempts + 1} of ${most} follows`, tried, rules);
}

function decideAfterCarrierTrouble(
  end: AttemptEnd,
  before: AttemptCounts,
  rules: RetryRules,
  now: number,
  random: () => number,
): RetryDecision {
  const tried: AttemptCounts = { ...before, carrierTroubleCount: before.carrierTroubleCount + 1 };
  const said = end.detail ?? defaultDetails.carrier_trouble;
  if (before.carrierTroubleCount >= maxCarrierTroubleRetries)
    return toEndDecision(end, `${said} (after ${maxCarrierTroubleRetries} more tries)`, tried);
  const delay = (rules.carrierTroubleDelaySeconds ?? 5) * 4 ** before.carrierTroubleCount;
  return toRetryDecision(now + jitteredDelayMs(delay, end, random), end, `${said}; tried again`, tried, rules);
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

/** Milliseconds. What failed together is spread; Retry-After is the least wait, up to an hour. */
function jitteredDelayMs(delaySeconds: number, { retryAfterSeconds = 0 }: AttemptEnd, random: () => number): number {
  const asked = Math.min(Math.max(retryAfterSeconds, 0), maxRetryAfterSeconds);
  return Math.round(Math.max(delaySeconds, asked) * (1 + random() / 2) * 1000);
}

function toRetryDecision(moment: number, end: AttemptEnd, detail: string, tried: AttemptCounts, rules: RetryRules): RetryDecision {
  const window = rules.windowAt(moment);
  if ('never' in window) return toEndDecision(end, `${end.outcome}; ${window.never.detail}`, tried, window.never.reason);
  return { step: 'retry', at: window.opensAt, notBefore: moment, reason: `${end.outcome}: ${detail}`, tried };
}

const toEndDecision = ({ outcome }: AttemptEnd, detail: string, tried: AttemptCounts, word: string = outcome): RetryDecision => ({
  step: 'end',
  state: 'failed',
  outcome: toRowOutcome(outcome),
  reason: `${word}: ${detail}`,
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
