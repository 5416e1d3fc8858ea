import { z } from 'zod';
import { tryParseJson } from '../../../library/json/json.ts';
import { AddressBlockedError, boundedFetch } from '../../http/exchange.ts';
import type { Runtime } from '../../http/runtime.ts';
import { blockedRequestReason } from '../../http/url-policy.ts';
import type { ModelEndpoint } from '../contract.ts';

/** More than the longest answer of a model. */
const maxBodyBytes = 8 * 1024 * 1024;
const version = '2023-06-01';

/** An answer with an error status (https://platform.claude.com/docs/en/api/errors). */
export class AnthropicApiError extends Error {
  readonly status: number;
  /** The provider's word, such as `overloaded_error`; empty when the answer is none of the API's. */
  readonly type: string;
  readonly headers: Headers;

  constructor(status: number, type: string, message: string, headers: Headers) {
    super(message);
    this.status = status;
    this.type = type;
    this.headers = headers;
  }
}

/** There is no answer: the connection failed or broke. */
export class AnthropicConnectionError extends Error {}

const ErrorBody = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

/**
 * Sends a request to `POST /v1/messages`. Throws AnthropicApiError for an error status, AddressBlockedError for an address that may not be
 * called, AnthropicConnectionError when there is no answer. The base URL may end in `/v1` or not.
 */
export async function postMessages(endpoint: ModelEndpoint, body: object, signal: AbortSignal, runtime: Runtime): Promise<Response> {
  const { apiKey, baseUrl, urlPolicy } = endpoint;
  const send = boundedFetch(runtime, maxBodyBytes, urlPolicy && ((url) => blockedRequestReason(url, urlPolicy)));
  const response = await connected(
    send(`${baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey, 'anthropic-version': version },
      body: JSON.stringify(body),
      signal,
    }),
  );
  if (response.ok) return response;
  const parsed = ErrorBody.safeParse(tryParseJson(await connected(response.text())));
  const { type, message } = parsed.success ? parsed.data.error : { type: '', message: '' };
  throw new AnthropicApiError(response.status, type, message, response.headers);
}

/** Waits for a part of the exchange; what the runtime throws for a failed connection becomes an AnthropicConnectionError. */
export async function connected<T>(exchange: Promise<T>): Promise<T> {
  try {
    return await exchange;
  } catch (error) {
    if (error instanceof AddressBlockedError || error instanceof RangeError) throw error;
    throw new AnthropicConnectionError((error as Error).name, { cause: error });
  }
}
