import { isRecord, parseJson } from '../../library/json.ts';
import { parseRetryAfter } from '../../library/retry-after.ts';
import type { Outside, PlaceResult, TelephonyOptions } from './telephony.ts';

/** An answer, its body parsed where it is JSON; or why none came, which leaves open whether the request was acted upon. */
export type Answer = { status: number; headers: Headers; body: Record<string, unknown> | undefined } | { lost: string };

export interface CarrierRequest {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
}

export interface Exchange {
  readonly outside: Outside;
  send(request: CarrierRequest): Promise<Answer>;
  /** The answer unread, its headers within the time limit; a redirect is an answer. `lost` as above. */
  open(request: CarrierRequest): Promise<Response | { lost: string }>;
}

const standardTimeoutMs = 10_000;

const realOutside: Outside = {
  fetch: (input, init) => fetch(input, init),
  now: Date.now,
};

/** Requests to one carrier. The words for what went wrong hold neither addresses nor credentials. */
export function exchangeWith(carrier: string, { timeoutMs = standardTimeoutMs, outside = realOutside }: TelephonyOptions): Exchange {
  const lost = (error: unknown) => ({
    lost:
      (error as Error).name === 'TimeoutError'
        ? `${carrier} gave no answer within ${timeoutMs / 1000} seconds`
        : `${carrier} cannot be reached, or the connection broke before it had answered`,
  });
  return {
    outside,
    async send({ url, ...request }) {
      try {
        // A redirect would carry the credentials to another address.
        const response = await outside.fetch(url, { ...request, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
        return { status: response.status, headers: response.headers, body: parse(await response.text()) };
      } catch (error) {
        return lost(error);
      }
    },
    async open({ url, ...request }) {
      // The recording itself may take longer than its first byte.
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(new DOMException('no answer', 'TimeoutError')), timeoutMs);
      try {
        return await outside.fetch(url, { ...request, redirect: 'manual', signal: limit.signal });
      } catch (error) {
        return lost(error);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseJson(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The answers to `place` that are alike at every carrier; undefined when the carrier's own codes decide. */
export function commonPlaceResult(carrier: string, answer: Answer, now: number): PlaceResult | undefined {
  if ('lost' in answer) return { unknown: answer.lost };
  const { status, headers } = answer;
  const retryAfter = headers.get('retry-after') ?? undefined;
  // RFC 9110, 15.6.4: with Retry-After the server says that it declined the request, not that it failed in the middle of it.
  if (status === 429 || (status === 503 && retryAfter !== undefined)) {
    const seconds = parseRetryAfter(retryAfter, now);
    return { busy: seconds === undefined ? {} : { retryAfterSeconds: seconds } };
  }
  if (status >= 500 || status === 408) return { unknown: `${carrier} failed with status ${status}` };
  return undefined;
}

/** Words of a carrier for a person to read: one line, of bounded length, without the secret. */
export function quote(text: unknown, secret: string): string {
  if (typeof text !== 'string') return '';
  const line = (secret === '' ? text : text.replaceAll(secret, '****')).replace(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 200)}...` : line;
}
