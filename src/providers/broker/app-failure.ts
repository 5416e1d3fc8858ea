import { parseRetryAfter } from '../../library/time/retry-after.ts';
import type { AppFailure, AppFailureKind } from './broker.ts';

/** The longest wait that a failure asks for: some providers demand a day. */
const maxRetryAfterSeconds = 3_600;

export const appFailure = (failure: AppFailureKind, message: string, more: Omit<AppFailure, 'failure' | 'message'> = {}): AppFailure => ({
  failure,
  message,
  ...more,
});

/** The `retryAfterSeconds` of a failure from a Retry-After header, in seconds or as a date; empty without one. */
export function parseRetryAfterHeader(header: string | undefined, now: number): Pick<AppFailure, 'retryAfterSeconds'> {
  const seconds = parseRetryAfter(header, now);
  return seconds === undefined ? {} : { retryAfterSeconds: Math.min(seconds, maxRetryAfterSeconds) };
}
