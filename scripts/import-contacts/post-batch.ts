import { setTimeout as sleep } from 'node:timers/promises';

export interface UpsertResult {
  created: number;
  updated: number;
  failed: number;
  errors: { index: number; phone: string | null; external_id: string | null; detail: string }[];
  list_created: boolean;
}

/** The service did not take the batch. `isFinal` when it would take no other either (credentials, address, no answer at all). */
export class BatchRefused extends Error {
  readonly isFinal: boolean;

  constructor(message: string, isFinal: boolean) {
    super(message);
    this.isFinal = isFinal;
  }
}

export interface Target {
  baseUrl: string;
  apiKey: string;
}

const attempts = 6;
const firstDelayMs = 500;
const longestDelayMs = 60_000;
const answerWithinMs = 120_000;
/** Worth another try: a request still running under the same key (409), too many of them, and whatever broke on the way. */
const isTransient = (status: number) => status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;

/**
 * Posts one batch and repeats it under the same idempotency key until it is answered: a lost answer is not a second import.
 * `onWait` hears of each pause. Throws `BatchRefused`.
 */
export async function postBatch(
  { baseUrl, apiKey }: Target,
  body: string,
  idempotencyKey: string,
  onWait: (why: string, delayMs: number) => void,
): Promise<UpsertResult> {
  for (let attempt = 1; ; attempt += 1) {
    let trouble: string;
    let askedDelayMs: number | undefined;
    try {
      const response = await fetch(`${baseUrl}/contacts/bulk-upsert`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': apiKey, 'idempotency-key': idempotencyKey },
        body,
        signal: AbortSignal.timeout(answerWithinMs),
      });
      const text = await response.text();
      if (response.ok) return readResult(text);
      trouble = `the service answered ${response.status}: ${detailOf(text)}`;
      if (!isTransient(response.status)) throw new BatchRefused(trouble, [401, 403, 404, 405].includes(response.status));
      askedDelayMs = readRetryAfter(response.headers.get('retry-after'));
    } catch (error) {
      if (error instanceof BatchRefused) throw error;
      trouble = `no answer from ${baseUrl}: ${reasonOf(error)}`;
    }
    if (attempt === attempts) throw new BatchRefused(`${trouble} (tried ${attempts} times)`, true);
    const delayMs = Math.min(askedDelayMs ?? firstDelayMs * 2 ** (attempt - 1), longestDelayMs);
    onWait(trouble, delayMs);
    await sleep(delayMs);
  }
}

function readResult(text: string): UpsertResult {
  try {
    const result = JSON.parse(text) as UpsertResult;
    if (Number.isInteger(result.created) && Number.isInteger(result.updated) && Array.isArray(result.errors)) return result;
  } catch {
    // Said below: whatever answered is not the service.
  }
  throw new BatchRefused(`what answers there is not this service: ${text.slice(0, 80)}`, true);
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3) as milliseconds from now. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}

function detailOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail: unknown };
    return typeof detail === 'string' ? detail : JSON.stringify(detail).slice(0, 500);
  } catch {
    return text.slice(0, 200);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : undefined;
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? cause?.message ?? error.message;
}
