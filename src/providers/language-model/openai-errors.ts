import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import { parseRetryAfter } from '../../library/time/retry-after.ts';
import { AddressBlockedError } from '../http/exchange.ts';
import type { CompletionFailure, FailureType, ModelEndpoint } from './contract.ts';

interface FailureContext {
  endpoint: Pick<ModelEndpoint, 'apiKey' | 'names'>;
  model: string;
  timeoutSeconds: number;
  /** Epoch ms. */
  now: number;
}

const provider = 'The language model provider';
const maxQuoteLength = 300;

/**
 * The failure of a client's error. The provider's words are quoted only about the schema, which is the caller's: other messages may repeat
 * parts of the key or of the prompt.
 */
export function failureFromError(error: unknown, asked: FailureContext): CompletionFailure {
  if (error instanceof APIConnectionError && error.cause instanceof AddressBlockedError)
    return fail('address_not_allowed', `${asked.endpoint.names.address} may not be called: ${error.cause.message}`);
  if (error instanceof APIConnectionTimeoutError)
    return fail('provider_failed', `${provider} gave no answer within ${asked.timeoutSeconds} seconds`, true);
  if (error instanceof APIConnectionError) return fail('provider_failed', `${provider} cannot be reached`, true);
  if (error instanceof RangeError) return fail('provider_failed', `${provider} answered more than is read of an answer`, true);
  if (error instanceof SyntaxError) return fail('provider_failed', `${provider} answered something that is no JSON`, true);
  if (!(error instanceof APIError) || typeof error.status !== 'number') throw error;
  const failure = failureFromStatus(error, error.status, asked);
  const seconds = failure.retryable ? parseRetryAfterHeaders(error.headers, asked.now) : undefined;
  return seconds === undefined ? failure : { ...failure, retry_after_seconds: seconds };
}

const fail = (failure: FailureType, message: string, retryable = false): CompletionFailure => ({ failure, message, retryable });

function failureFromStatus(error: APIError, status: number, { model, endpoint }: FailureContext): CompletionFailure {
  const { code, param, type } = error;
  const { apiKey, names } = endpoint;
  if (code === 'insufficient_quota' || type === 'insufficient_quota')
    return fail(
      'insufficient_quota',
      `The account at the language model provider has no credit left; add some, or set another ${names.key}`,
    );
  if (status === 401) return fail('invalid_credentials', `${provider} does not know the key; set ${names.key} to a valid one`);
  if (status === 403)
    return fail('invalid_credentials', `${provider} forbids this to the key${formatDetails(code)}; set another ${names.key}`);
  if (status === 429) return fail('rate_limited', `${provider} takes no more requests for the moment`, true);
  if (code === 'context_length_exceeded')
    return fail('context_length_exceeded', `The prompt is longer than the model "${model}" takes; shorten it`);
  if (code === 'content_filter' || code === 'content_policy_violation')
    return fail('content_filter', "The provider's content filter refuses this prompt; change the prompt");
  if (code === 'model_not_found' || (status === 404 && /model/i.test(error.message)))
    return fail('model_not_found', `There is no model "${model}" for this key; name another one, in ${names.model}`);
  if (status >= 500 || status === 408 || status === 409) return fail('provider_failed', `${provider} failed with status ${status}`, true);
  if (status < 400 || status === 404 || status === 405)
    return fail('invalid_request', `There are no chat completions at ${names.address}: status ${status}`);
  const isAboutSchema = `${param ?? ''} ${code ?? ''}`.match(/response_format|json_schema/) !== null;
  const said = isAboutSchema ? `: ${error.message.replaceAll(apiKey, '****').slice(0, maxQuoteLength)}` : '';
  return fail('invalid_request', `${provider} refuses the request with status ${status}${formatDetails(code, param)}${said}`);
}

function formatDetails(...words: (string | null | undefined)[]): string {
  const known = words.filter((word) => typeof word === 'string' && /^[\w.[\]-]{1,100}$/.test(word));
  return known.length > 0 ? ` (${known.join(', ')})` : '';
}

/** `retry-after-ms` is OpenAI's own header, in milliseconds. */
function parseRetryAfterHeaders(headers: Headers | undefined, now: number): number | undefined {
  const milliseconds = headers?.get('retry-after-ms');
  if (milliseconds && /^\d+(?:\.\d+)?$/.test(milliseconds)) return Number(milliseconds) / 1000;
  return parseRetryAfter(headers?.get('retry-after') ?? undefined, now);
}
