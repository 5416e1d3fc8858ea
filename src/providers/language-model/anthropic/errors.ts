import { parseRetryAfter } from '../../../library/time/retry-after.ts';
import { AddressBlockedError } from '../../http/exchange.ts';
import type { CompletionFailure, FailureType, ModelEndpoint } from '../contract.ts';
import { AnthropicApiError, AnthropicConnectionError } from './api.ts';

interface FailureContext {
  endpoint: ModelEndpoint;
  model: string;
  /** Epoch ms. */
  now: number;
}

const provider = 'The language model provider';
const maxQuoteLength = 300;

export const fail = (failure: FailureType, message: string, retryable = false): CompletionFailure => ({ failure, message, retryable });

/**
 * The failure of an error of the exchange. The provider's words are quoted only about the schema, which is the caller's: other messages may
 * repeat parts of the key or of the prompt. Throws errors that are none of the exchange.
 */
export function failureFromAnthropicError(error: unknown, asked: FailureContext): CompletionFailure {
  const { names } = asked.endpoint;
  if (error instanceof AddressBlockedError) return fail('address_not_allowed', `${names.address} may not be called: ${error.message}`);
  if (error instanceof AnthropicConnectionError) return fail('provider_failed', `${provider} cannot be reached`, true);
  if (error instanceof RangeError) return fail('provider_failed', `${provider} answered more than is read of an answer`, true);
  if (error instanceof SyntaxError) return fail('provider_failed', `${provider} answered something that is no JSON`, true);
  if (!(error instanceof AnthropicApiError)) throw error;
  const failure = failureFromStatus(error, asked);
  const seconds = failure.retryable ? parseRetryAfter(error.headers.get('retry-after') ?? undefined, asked.now) : undefined;
  return seconds === undefined ? failure : { ...failure, retry_after_seconds: seconds };
}

function failureFromStatus({ status, type, message }: AnthropicApiError, { endpoint, model }: FailureContext): CompletionFailure {
  const { names, apiKey } = endpoint;
  if (status === 402 || type === 'billing_error' || /credit balance|spend limit|usage limits/i.test(message))
    return fail(
      'insufficient_quota',
      `The account at the language model provider has no credit left; add some, or set another ${names.key}`,
    );
  if (status === 401) return fail('invalid_credentials', `${provider} does not know the key; set ${names.key} to a valid one`);
  if (status === 403) return fail('invalid_credentials', `${provider} forbids this to the key; set another ${names.key}`);
  if (status === 429) return fail('rate_limited', `${provider} takes no more requests for the moment`, true);
  if (status === 529) return fail('provider_failed', `${provider} is overloaded`, true);
  if (status === 413 || /prompt is too long|context (?:window|limit)/i.test(message))
    return fail('context_length_exceeded', `The prompt is longer than the model "${model}" takes; shorten it`);
  if (status === 404 && type === 'not_found_error' && /model/i.test(message))
    return fail('model_not_found', `There is no model "${model}" for this key; name another one, in ${names.model}`);
  if (status >= 500 || status === 408 || status === 409) return fail('provider_failed', `${provider} failed with status ${status}`, true);
  if (status < 400 || status === 404 || status === 405)
    return fail('invalid_request', `There is no Messages API at ${names.address}: status ${status}`);
  const said = /schema|output_config/i.test(message) ? `: ${message.replaceAll(apiKey, '****').slice(0, maxQuoteLength)}` : '';
  return fail('invalid_request', `${provider} refuses the request with status ${status}${said}`);
}

/** The failure of an `error` event in the middle of a stream, which began with status 200. */
export function failureFromErrorEvent(type: string): CompletionFailure {
  if (type === 'overloaded_error') return fail('provider_failed', `${provider} is overloaded`, true);
  if (type === 'rate_limit_error') return fail('rate_limited', `${provider} takes no more requests for the moment`, true);
  return fail('provider_failed', `${provider} broke off in the middle of its answer`, true);
}
