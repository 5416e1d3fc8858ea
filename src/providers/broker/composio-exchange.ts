import { isRecord, tryParseJson } from '../../library/json/json.ts';
import { createExchange, type Unreachable } from '../http/exchange.ts';
import type { Runtime } from '../http/runtime.ts';
import { redactLine } from '../http/redact.ts';
import type { AppFailure } from './broker.ts';
import { appFailure, parseRetryAfterHeader } from './app-failure.ts';

/** The parsed body of a successful answer of the broker, or a failure. */
export type ComposioResponse = { body: unknown } | AppFailure;

export interface ComposioRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** The path below the base URL, with its query. */
  path: string;
  body?: unknown;
  timeoutMs: number;
}

const maxResponseBytes = 16 * 1024 * 1024;
const brokerName = 'The connection broker';

/**
 * Sends requests to Composio (https://docs.composio.dev/reference). Redirects are not followed, because they would carry the key
 * elsewhere.
 */
export function createComposioExchange(baseUrl: string, apiKey: string, runtime: Runtime) {
  return async ({ method, path, body, timeoutMs }: ComposioRequest): Promise<ComposioResponse> => {
    const exchange = createExchange({ name: brokerName, timeoutMs, maxBodyBytes: maxResponseBytes, runtime });
    const answer = await exchange.send({
      method,
      url: `${baseUrl.replace(/\/+$/, '')}${path}`,
      headers: { 'x-api-key': apiKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if ('unreachable' in answer) return failureFromUnreachable(answer);
    const { status, headers, text } = answer;
    const parsed = tryParseJson(text);
    if (status >= 200 && status < 300)
      return parsed === undefined ? appFailure('unavailable', `${brokerName} answered something that is no JSON`) : { body: parsed };
    return failureFromStatus(status, headers, parseError(parsed), apiKey, runtime.now());
  };
}

function failureFromUnreachable({ unreachable, message }: Unreachable): AppFailure {
  if (unreachable === 'too_large')
    return appFailure('rejected', `The answer of the provider is longer than ${maxResponseBytes} bytes; ask for less`);
  return appFailure('unavailable', unreachable === 'network' ? `${brokerName} cannot be reached` : message);
}

interface ComposioError {
  code: string;
  slug: string;
  message: string;
}

const toText = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

function parseError(body: unknown): ComposioError {
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {};
  return { code: toText(error['code']), slug: toText(error['slug']), message: toText(error['message']) };
}

/** Classifies an error by code and slug (https://docs.composio.dev/reference/errors); those of a lost account were seen in answers. */
function failureFromStatus(
  status: number,
  headers: Headers,
  { code, slug, message }: ComposioError,
  apiKey: string,
  now: number,
): AppFailure {
  const retryAfter = parseRetryAfterHeader(headers.get('retry-after') ?? undefined, now);
  const named = slug || code ? { code: slug || code } : {};
  const said = redactLine(message, apiKey);
  if (/ConnectedAccount/i.test(slug) || code === '606' || code === '1810' || / is in \w+ state/i.test(message))
    return appFailure('not_connected', `${brokerName} has no usable connection any more; connect it again`, named);
  if (status === 401) return appFailure('rejected', `${brokerName} does not accept the key; set COMPOSIO_API_KEY to a valid one`, named);
  if (status === 403 && /proxy execute/i.test(message))
    return appFailure(
      'rejected',
      `${brokerName} does not let this key call providers; set COMPOSIO_API_KEY to one with proxy execute`,
      named,
    );
  if (status === 429) return appFailure('rate_limited', `${brokerName} takes no more requests for the moment`, { ...named, ...retryAfter });
  if (status >= 500 || status === 408)
    return appFailure('unavailable', `${brokerName} failed with status ${status}`, { ...named, ...retryAfter });
  if (status < 400 || (status === 404 && !slug && !code))
    return appFailure('rejected', `There is no connection broker at COMPOSIO_BASE_URL: status ${status}`);
  return appFailure('rejected', `${brokerName} refuses with status ${status}${said && `: ${said}`}`, named);
}
