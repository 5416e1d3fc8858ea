import { parseRetryAfter } from '../../library/time/retry-after.ts';
import type { AppFailure, AppFailureKind } from './broker.ts';

/** Nobody is made to wait longer on a provider's word: some say a day. */
const maxRetryAfterSeconds = 3_600;

export const appFailure = (failure: AppFailureKind, message: string, more: Omit<AppFailure, 'failure' | 'message'> = {}): AppFailure => ({
  failure,
  message,
  ...more,
});

/** `retryAfterSeconds` as a failure has it, of a Retry-After header in seconds or as a date; nothing where there is none. */
export function parseRetryAfterHeader(header: string | undefined, now: number): Pick<AppFailure, 'retryAfterSeconds'> {
  const seconds = parseRetryAfter(header, now);
  return seconds === undefined ? {} : { retryAfterSeconds: Math.min(seconds, maxRetryAfterSeconds) };
}
