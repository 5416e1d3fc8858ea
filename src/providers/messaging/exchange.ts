import { parseRetryAfter } from '../../library/time/retry-after.ts';
import { createExchange, type ReceivedResponse, type Unreachable } from '../http/exchange.ts';
import { retryTransient } from '../http/retry.ts';
import { systemRuntime } from '../http/runtime.ts';
import { providerFailure, type MessagingFailure } from './failures.ts';
import type { MessagingOptions } from './messaging.ts';

/** An answer of a provider; or why none came, which leaves open whether the provider acted upon the request. */
export type ProviderResponse = ReceivedResponse | Unreachable;

interface ProviderRequest {
  url: string;
  headers: Record<string, string>;
  /** Posted; without it the request is a GET. */
  body?: string;
}

export interface ProviderExchange {
  /** Asks once. */
  send(request: ProviderRequest): Promise<ProviderResponse>;
  /** Asks up to three times: the request changes nothing. */
  read(request: ProviderRequest): Promise<ProviderResponse>;
}

const defaultTimeoutMs = 15_000;
const maxBodyBytes = 8 * 1024 * 1024;

/** Requests to one provider. A redirect is an answer: followed, it would carry the credentials to another address. */
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
 * The failures that are alike at every provider; undefined when its own codes and words decide. A send whose outcome stays open is marked
 * so; a question can be asked again.
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
