import type { CallingWindow } from './calling-windows.ts';
import type { RetryConfig } from './configs.ts';
import { rowOutcomeOf } from '../voice-agents/dialing/call-outcomes.ts';
import type { AttemptOutcome, RowOutcome } from '../voice-agents/dialing/call-outcomes.ts';

/** `detail`: a sentence of the carrier's, for people. */
export interface AttemptEnd {
  outcome: AttemptOutcome;
  detail?: string | undefined;
  retryAfterSeconds?: number | undefined;
}

/** What a row has behind it. */
export interface Tried {
  attempts: number;
  /** Tries that carrier trouble ended; they use up no attempts. */
  carrierTroubles: number;
  /** Tries in a row that the carrier asked for patience with. */
  rateLimits: number;
}

/** The ends of a call that settings may ask to follow up. */
export type Unreached = 'busy' | 'no_answer' | 'voicemail';

export interface RetryRules {
  retry: RetryConfig;
  /** The calling window of the row at a moment (epoch ms). */
  windowAt(moment: number): CallingWindow;
  /** Before the first retry after carrier trouble; each further one is put off four times as long. */
  carrierTroubleDelaySeconds?: number;
}

/** `reason` is a word, then for people a sentence: `busy: attempt 2 of 3 follows`. `tried` counts the attempt that ended. */
export type NextStep = { reason: string | null; tried: Tried } & (
  | { step: 'end'; state: 'completed' | 'failed'; outcome: RowOutcome }
  /** Epoch ms; `at` is inside a calling window, `notBefore` is what it would be if all were open. */
  | { step: 'retry'; at: number; notBefore: number }
  /** Any other row would fare the same: the row waits, and so must the campaign, until somebody has mended it. */
  | { step: 'hold'; stateReason: 'caller_id_refused' | 'account_refused' | 'request_refused' }
);

const mostCarrierTroubles = 3;
const longestDelaySeconds = 7 * 86_400;
const longestRetryAfterSeconds = 3600;
const rateLimitDelaySeconds = 10;
const longestRateLimitDelaySeconds = 300;

/**
 * What follows the end of an attempt. `tried` is before it; `now` in epoch ms; `random` gives numbers from 0 up to 1. An attempt that only
 * met trouble on the carrier's side is made again up to three times; a rate limit never ends a row,
 * and each further one in a row doubles the wait, up to five minutes.
 */
export function nextStep(end: AttemptEnd, before: Tried, rules: RetryRules, now: number, random: () => number): NextStep {
  const tried: Tried = { attempts: before.attempts, carrierTroubles: before.carrierTroubles, rateLimits: 0 };
  switch (end.outcome) {
    case 'completed':
      return { step: 'end', state: 'completed', outcome: 'completed', reason: null, tried: counted(tried) };
    case 'busy':
    case 'no_answer':
    case 'voicemail':
      return afterNobodyReached(end.outcome, counted(tried), rules, now);
    case 'carrier_trouble':
      return afterCarrierTrouble(end, tried, rules, now, random);
    case 'rate_limited':
      return afterRateLimit(end, before, rules, now, random);
    case 'caller_id_refused':
    case 'account_refused':
    case 'request_refused':
      return { step: 'hold', stateReason: end.outcome, reason: `${end.outcome}: ${end.detail ?? sentences[end.outcome]}`, tried };
    default:
      return ended(end, end.detail ?? sentences[end.outcome], counted(tried));
  }
}

/** Why a call that reached nobody, the last of `attempts`, is not followed by another one; null: it is. */
export function whyNoRetry(outcome: Unreached, attempts: number, retry: RetryConfig): string | null {
  if (!retry.enabled || !retry[`retry_on_${outcome}`]) return `${outcome}: the settings ask for no retry`;
  const most = 1 + retry.max_retries;
  return attempts >= most ? `${outcome}: on the last of ${most} ${most === 1 ? 'attempt' : 'attempts'}` : null;
}

function afterNobodyReached(outcome: Unreached, tried: Tried, rules: RetryRules, now: number): NextStep {
  const { retry } = rules;
  const most = 1 + retry.max_retries;
  const why = whyNoRetry(outcome, tried.attempts, retry);
  if (why) return { step: 'end', state: 'failed', outcome, reason: why, tried };
  const delay = retry.retry_delay_seconds * retry.backoff_factor ** (tried.attempts - 1);
  const at = now + Math.round(Math.min(delay, longestDelaySeconds) * 1000);
  return retryAt(at, { outcome }, `attempt ${tried.attempts + 1} of ${most} follows`, tried, rules);
}

function afterCarrierTrouble(end: AttemptEnd, before: Tried, rules: RetryRules, now: number, random: () => number): NextStep {
  const tried: Tried = { ...before, carrierTroubles: before.carrierTroubles + 1 };
  const said = end.detail ?? sentences.carrier_trouble;
  if (before.carrierTroubles >= mostCarrierTroubles) return ended(end, `${said} (after ${mostCarrierTroubles} more tries)`, tried);
  const delay = (rules.carrierTroubleDelaySeconds ?? 5) * 4 ** before.carrierTroubles;
  return retryAt(now + patience(delay, end, random), end, `${said}; tried again`, tried, rules);
}

function afterRateLimit(
  end: AttemptEnd,
  { attempts, carrierTroubles, rateLimits }: Tried,
  rules: RetryRules,
  now: number,
  random: () => number,
): NextStep {
  const delay = Math.min(rateLimitDelaySeconds * 2 ** rateLimits, longestRateLimitDelaySeconds);
  const tried = { attempts, carrierTroubles, rateLimits: rateLimits + 1 };
  return retryAt(now + patience(delay, end, random), end, 'the carrier takes no more calls for now', tried, rules);
}

/** Milliseconds. What failed together is spread; Retry-After is the least wait, up to an hour. */
function patience(delaySeconds: number, { retryAfterSeconds = 0 }: AttemptEnd, random: () => number): number {
  const asked = Math.min(Math.max(retryAfterSeconds, 0), longestRetryAfterSeconds);
  return Math.round(Math.max(delaySeconds, asked) * (1 + random() / 2) * 1000);
}

function retryAt(moment: number, end: AttemptEnd, detail: string, tried: Tried, rules: RetryRules): NextStep {
  const window = rules.windowAt(moment);
  if ('never' in window) return ended(end, `${end.outcome}; ${window.never.detail}`, tried, window.never.reason);
  return { step: 'retry', at: window.opensAt, notBefore: moment, reason: `${end.outcome}: ${detail}`, tried };
}

const ended = ({ outcome }: AttemptEnd, detail: string, tried: Tried, word: string = outcome): NextStep => ({
  step: 'end',
  state: 'failed',
  outcome: rowOutcomeOf(outcome),
  reason: `${word}: ${detail}`,
  tried,
});

const counted = (tried: Tried): Tried => ({ ...tried, attempts: tried.attempts + 1 });

const sentences = {
  failed: 'the carrier could not complete the call',
  cancelled: 'the call was ended before anyone answered',
  carrier_trouble: 'the carrier or the network failed',
  number_refused: 'the carrier does not call this number; check it',
  number_blocked: 'the number is blocked and will not be called',
  caller_id_refused: 'the carrier refuses the caller number; correct from_numbers of the telephony configuration and resume',
  account_refused: 'the carrier refuses the account; correct the credentials of the telephony configuration and resume',
  request_refused: 'the carrier refuses the request; check the telephony configuration and resume',
};
