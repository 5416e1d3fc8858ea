import { isRecord, parseJson } from '../../library/json/json.ts';
import { parseRetryAfter } from '../../library/time/retry-after.ts';
import type { CarrierRuntime, PlaceResult, TelephonyOptions } from './telephony.ts';

/** An answer, its body parsed where it is JSON; or why none came, which leaves open whether the request was acted upon. */
export type CarrierResponse = { status: number; headers: Headers; body: Record<string, unknown> | undefined } | { lost: string };

export interface CarrierRequest {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
}

export interface CarrierExchange {
  readonly outside: CarrierRuntime;
  send(request: CarrierRequest): Promise<CarrierResponse>;
  /** The answer unread, its headers within the time limit; a redirect is an answer. `lost` as above. */
  openStream(request: CarrierRequest): Promise<Response | { lost: string }>;
}

const defaultTimeoutMs = 10_000;

const systemRuntime: CarrierRuntime = {
  fetch: (input, init) => fetch(input, init),
  now: Date.now,
};

/** Requests to one carrier. The words for what went wrong hold neither addresses nor credentials. */
export function createCarrierExchange(
  carrier: string,
  { timeoutMs = defaultTimeoutMs, outside = systemRuntime }: TelephonyOptions,
): CarrierExchange {
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
        return { status: response.status, headers: response.headers, body: parseJsonObject(await response.text()) };
      } catch (error) {
        return lost(error);
      }
    },
    async openStream({ url, ...request }) {
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

function parseJsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseJson(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The answers to `place` that are alike at every carrier; undefined when the carrier's own codes decide. */
export function placeResultFromStatus(carrier: string, answer: CarrierResponse, now: number): PlaceResult | undefined {
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
export function redactLine(text: unknown, secret: string): string {
  if (typeof text !== 'string') return '';
  const line = (secret === '' ? text : text.replaceAll(secret, '****')).replace(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 200)}...` : line;
}
