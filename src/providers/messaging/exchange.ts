import { isRecord, parseJson } from '../../library/json/json.ts';
import { parseRetryAfter } from '../../library/time/retry-after.ts';
import { systemRuntime, type Runtime } from '../http/runtime.ts';
import { providerFailure, type MessagingFailure } from './failures.ts';
import type { MessagingOptions } from './messaging.ts';

/** An answer, its body parsed where it is a JSON object; or why none came, which leaves open whether the request was acted upon. */
export type ProviderResponse = ReceivedResponse | { lost: string };

export interface ReceivedResponse {
  status: number;
  headers: Headers;
  body: Record<string, unknown> | undefined;
  text: string;
}

export interface ProviderRequest {
  url: string;
  headers: Record<string, string>;
  /** Posted; without it the request is a GET. */
  body?: string;
}

export interface ProviderExchange {
  readonly outside: Runtime;
  /** Once. */
  send(request: ProviderRequest): Promise<ProviderResponse>;
  /** Up to three times, since it changes nothing. */
  read(request: ProviderRequest): Promise<ProviderResponse>;
}

const defaultTimeoutMs = 15_000;
const maxBodyBytes = 8 * 1024 * 1024;
const maxReadAttempts = 3;
const initialDelayMs = 500;
/** A provider that asks for more is asked again by whoever wanted the answer. */
const maxDelayMs = 5_000;

/** Requests to one provider. The words for what went wrong hold neither addresses nor credentials. */
export function createProviderExchange(
  provider: string,
  { timeoutMs = defaultTimeoutMs, outside = systemRuntime }: MessagingOptions,
): ProviderExchange {
  async function send({ url, headers, body }: ProviderRequest): Promise<ProviderResponse> {
    const method = body === undefined ? 'GET' : 'POST';
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      // A redirect would carry the credentials to another address.
      const response = await outside.fetch(url, { method, headers, body: body ?? null, redirect: 'manual', signal });
      const text = await readText(response);
      if (text === null) return { lost: `${provider} answered more than is read of an answer` };
      return { status: response.status, headers: response.headers, body: parseJsonObject(text), text };
    } catch (error) {
      const isTimeout = (error as Error).name === 'TimeoutError';
      return {
        lost: isTimeout
          ? `${provider} gave no answer within ${timeoutMs / 1000} seconds`
          : `${provider} cannot be reached, or the connection broke before it had answered`,
      };
    }
  }

  async function read(request: ProviderRequest): Promise<ProviderResponse> {
    for (let tries = 1; ; tries++) {
      const answer = await send(request);
      if (tries === maxReadAttempts || !isTransient(answer)) return answer;
      const asked = 'lost' in answer ? undefined : parseRetryAfterHeader(answer, outside.now());
      const pauseMs = asked === undefined ? initialDelayMs * 2 ** (tries - 1) * (0.5 + outside.random()) : asked * 1000;
      if (pauseMs > maxDelayMs) return answer;
      await outside.sleep(pauseMs);
    }
  }

  return { outside, send, read };
}

const isTransient = (answer: ProviderResponse) =>
  'lost' in answer || answer.status === 429 || answer.status === 408 || answer.status >= 500;

export const parseRetryAfterHeader = ({ headers }: ReceivedResponse, now: number): number | undefined =>
  parseRetryAfter(headers.get('retry-after') ?? undefined, now);

async function readText(response: Response): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  if (response.body)
    for await (const part of response.body as ReadableStream<Uint8Array>) {
      length += part.byteLength;
      if (length > maxBodyBytes) return null;
      parts.push(part);
    }
  return new TextDecoder().decode(Buffer.concat(parts));
}

function parseJsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseJson(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The failures that are alike at every provider; undefined when its own codes and words decide. A send whose outcome stays open is marked
 * so; a question can be asked again.
 */
export function failureFromStatus(
  provider: string,
  answer: ProviderResponse,
  { now, isSend }: { now: number; isSend: boolean },
): MessagingFailure | undefined {
  if ('lost' in answer) return providerFailure(provider, 'provider_down', { advice: answer.lost, outcomeUnknown: isSend });
  const { status } = answer;
  const retryAfterSeconds = parseRetryAfterHeader(answer, now);
  if (status === 429) return providerFailure(provider, 'rate_limited', { code: status, retryAfterSeconds });
  // RFC 9110, 15.6.4: with Retry-After the server says that it declined the request, not that it failed in the middle of it.
  if (status === 503 && retryAfterSeconds !== undefined)
    return providerFailure(provider, 'provider_down', { code: status, retryAfterSeconds });
  if (status >= 500 || status === 408) return providerFailure(provider, 'provider_down', { code: status, outcomeUnknown: isSend });
  if (status >= 300 && status < 400)
    return providerFailure(provider, 'auth', { code: status, advice: `The address of ${provider} leads to another one; correct it` });
  return undefined;
}

/** A message that was taken, as far as the status tells, with an answer that does not say which one it is. */
export const unexpectedSendResponse = (provider: string): MessagingFailure =>
  providerFailure(provider, 'unknown', { advice: `${provider} answered something that names no message`, outcomeUnknown: true });

/** A list that cannot be read, or does not end. */
export const unexpectedListResponse = (provider: string): MessagingFailure =>
  providerFailure(provider, 'provider_down', { advice: `${provider} answered something that is no list of templates; try again later` });

export const maxPages = 100;
