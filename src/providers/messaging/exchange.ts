import { parseRetryAfter } from '../../library/time/retry-after.ts';
import { createExchange, type ReceivedResponse, type Unreachable } from '../http/exchange.ts';
import { retryTransient } from '../http/retry.ts';
import { systemRuntime } from '../http/runtime.ts';
import { providerFailure, type MessagingFailure } from './failures.ts';
import type { MessagingOptions } from './messaging.ts';

/** An answer of a provider, or why none came; the provider may then still have processed the request. */
export type ProviderResponse = ReceivedResponse | Unreachable;

interface ProviderRequest {
  url: string;
  headers: Record<string, string>;
  /** The body of a POST; undefined: the request is a GET. */
  body?: string;
}

export interface ProviderExchange {
  /** Sends a request once. */
  send(request: ProviderRequest): Promise<ProviderResponse>;
  /** Sends a request that changes nothing, up to three times. */
  read(request: ProviderRequest): Promise<ProviderResponse>;
}

const defaultTimeoutMs = 15_000;
const maxBodyBytes = 8 * 1024 * 1024;

/** The exchange with one provider. Redirects are not followed, because they would carry the credentials to another address. */
export function createProviderExchange(
  provider: string,
  { timeoutMs = defaultTimeoutMs, runtime = systemRuntime }: MessagingOptions,
): ProviderExchange {
  const exchange = createExchange({ name: provider, timeoutMs, maxBodyBytes, runtime });
  const send = (request: ProviderRequest) => exchange.send({ ...request, method: request.body === undefined ? 'GET' : 'POST' });
  const read = (request: ProviderRequest) =>
    retryTransient(() => send(request), {
      runtime,
      isTransient,
      retryAfterSeconds: (answer) => ('unreachable' in answer ? undefined : parseRetryAfterHeader(answer, runtime.now())),
    });
  return { send, read };
}

const isTransient = (answer: ProviderResponse) =>
  'unreachable' in answer || answer.status === 429 || answer.status === 408 || answer.status >= 500;

export const parseRetryAfterHeader = ({ headers }: ReceivedResponse, now: number): number | undefined =>
  parseRetryAfter(headers.get('retry-after') ?? undefined, now);

/**
 * The failures that all providers share; undefined: the provider's codes and words decide. A send without a certain outcome is marked;
 * other requests can be repeated.
 */
export function failureFromStatus(
  provider: string,
  answer: ProviderResponse,
  { now, isSend }: { now: number; isSend: boolean },
): MessagingFailure | undefined {
  if ('unreachable' in answer) return providerFailure(provider, 'provider_down', { advice: answer.message, outcomeUnknown: isSend });
  const { status } = answer;
  const retryAfterSeconds = parseRetryAfterHeader(answer, now);
  if (status === 429) return providerFailure(provider, 'rate_limited', { code: status, retryAfterSeconds });
  // RFC 9110, 15.6.4: a 503 with Retry-After means that the server declined the request, not that it failed in the middle.
  if (status === 503 && retryAfterSeconds !== undefined)
    return providerFailure(provider, 'provider_down', { code: status, retryAfterSeconds });
  if (status >= 500 || status === 408) return providerFailure(provider, 'provider_down', { code: status, outcomeUnknown: isSend });
  if (status >= 300 && status < 400)
    return providerFailure(provider, 'auth', { code: status, advice: `The address of ${provider} leads to another one; correct it` });
  return undefined;
}

/** The failure of a successful status whose answer has no message id. */
export const unexpectedSendResponse = (provider: string): MessagingFailure =>
  providerFailure(provider, 'unknown', { advice: `${provider} answered something that names no message`, outcomeUnknown: true });

/** The failure of a list that cannot be read or does not end. */
export const unexpectedListResponse = (provider: string): MessagingFailure =>
  providerFailure(provider, 'provider_down', { advice: `${provider} answered something that is no list of templates; try again later` });

export const maxPages = 100;
