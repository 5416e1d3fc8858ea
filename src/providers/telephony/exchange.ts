import { parseRetryAfter } from '../../library/time/retry-after.ts';
import { createExchange, type Exchange, type ReceivedResponse, type Unreachable } from '../http/exchange.ts';
import type { PlaceResult, TelephonyOptions } from './telephony.ts';

/** A carrier's answer, or the reason why none came. Without an answer it is unknown whether the carrier acted on the request. */
export type CarrierResponse = ReceivedResponse | Unreachable;

const defaultTimeoutMs = 10_000;
/** A page of 250 calls or events has less than 1 MiB. */
const maxBodyBytes = 8 * 1024 * 1024;

/** Sends requests to one carrier. Redirects are not followed, since they would take the credentials to another address. */
export const createCarrierExchange = (carrier: string, { timeoutMs = defaultTimeoutMs, runtime }: TelephonyOptions): Exchange =>
  createExchange({ name: carrier, timeoutMs, maxBodyBytes, runtime });

/** The results of `place` that are the same for every carrier; undefined when the carrier's own codes decide. */
export function placeResultFromStatus(carrier: string, answer: CarrierResponse, now: number): PlaceResult | undefined {
  if ('unreachable' in answer) return { unknown: answer.message };
  const { status, headers } = answer;
  const retryAfter = headers.get('retry-after') ?? undefined;
  // RFC 9110, 15.6.4: with Retry-After the server declined the request and did not fail while handling it.
  if (status === 429 || (status === 503 && retryAfter !== undefined)) {
    const seconds = parseRetryAfter(retryAfter, now);
    return { busy: seconds === undefined ? {} : { retryAfterSeconds: seconds } };
  }
  if (status >= 500 || status === 408) return { unknown: `${carrier} failed with status ${status}` };
  return undefined;
}
