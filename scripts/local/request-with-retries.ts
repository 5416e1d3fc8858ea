import { setTimeout as sleep } from 'node:timers/promises';

/** The service did not take the request. `isFinal` when it would take no other like it either (credentials, address, no answer at all). */
export class RequestRefused extends Error {
  readonly isFinal: boolean;

  constructor(message: string, isFinal: boolean) {
    super(message);
    this.isFinal = isFinal;
  }
}

export interface Target {
  /** Ends in /api/v1. */
  baseUrl: string;
  apiKey: string;
}

export interface RetriedRequest {
  method: 'GET' | 'POST';
  /** Below the base URL. */
  path: string;
  /** JSON. */
  body?: string;
  /** Requests under the same key count as one for the service. */
  idempotencyKey?: string;
}

/** Hears of each pause before another try. */
export type OnRetry = (why: string, delayMs: number) => void;

const maxAttempts = 6;
const firstDelayMs = 500;
const maxDelayMs = 60_000;
const answerWithinMs = 120_000;
/** Worth another try: the try before that still runs under the same key (409), too many requests, and whatever broke on the way. */
const isTransient = (status: number, attempt: number) =>
  [408, 425, 429].includes(status) || status >= 500 || (status === 409 && attempt > 1);

/** Sends a request, and again until it is answered. Resolves with the text of the answer; throws `RequestRefused`. */
export async function requestWithRetries(
  { baseUrl, apiKey }: Target,
  { method, path, body, idempotencyKey }: RetriedRequest,
  onWait: OnRetry,
): Promise<string> {
  const headers = {
    'x-api-key': apiKey,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
  for (let attempt = 1; ; attempt += 1) {
    let trouble: string;
    let askedDelayMs: number | undefined;
    try {
      const signal = AbortSignal.timeout(answerWithinMs);
      const response = await fetch(baseUrl + path, { method, headers, body: body ?? null, signal });
      const text = await response.text();
      if (response.ok) return text;
      trouble = `the service answered ${response.status}: ${readDetail(text)}`;
      if (!isTransient(response.status, attempt)) throw new RequestRefused(trouble, [401, 403, 404, 405].includes(response.status));
      askedDelayMs = readRetryAfter(response.headers.get('retry-after'));
    } catch (error) {
      if (error instanceof RequestRefused) throw error;
      trouble = `no answer from ${baseUrl}: ${toReason(error)}`;
    }
    if (attempt === maxAttempts) throw new RequestRefused(`${trouble} (tried ${maxAttempts} times)`, true);
    const delayMs = Math.min(askedDelayMs ?? firstDelayMs * 2 ** (attempt - 1), maxDelayMs);
    onWait(trouble, delayMs);
    await sleep(delayMs);
  }
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3) as milliseconds from now. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}

function readDetail(text: string): string {
  try {
    const { detail, message } = JSON.parse(text) as { detail: string | { loc: string[]; msg: string }[]; message?: string };
    if (typeof detail === 'string') return message === undefined ? detail : `${detail}: ${message}`;
    return detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
  } catch {
    return text.slice(0, 200);
  }
}

function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : undefined;
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? cause?.message ?? error.message;
}
