import { isRecord, parseJson } from '../../library/json.ts';
import type { Outside } from '../outside.ts';
import { quote } from '../telephony/exchange.ts';
import type { AppFailure } from './broker.ts';
import { fail, waitAsked } from './failing.ts';

/** An answer of the broker itself with a status of success, parsed. */
export type ComposioAnswer = { body: unknown } | AppFailure;

export interface ComposioRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the base URL, with its query. */
  path: string;
  body?: unknown;
  timeoutMs: number;
}

const mostAnswerBytes = 16 * 1024 * 1024;
const broker = 'The connection broker';

/** Requests to Composio (https://docs.composio.dev/reference). */
export function composioExchange(baseUrl: string, apiKey: string, outside: Outside) {
  return async ({ method, path, body, timeoutMs }: ComposioRequest): Promise<ComposioAnswer> => {
    let status: number;
    let headers: Headers;
    let text: string;
    // Cleared when it is over: what is still to come keeps an object in memory, and costs as long.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new DOMException('The time is up', 'TimeoutError')), timeoutMs);
    try {
      const response = await outside.fetch(`${baseUrl.replace(/\/+$/, '')}${path}`, {
        method,
        headers: { 'x-api-key': apiKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // A redirect would carry the key to another address.
        redirect: 'manual',
        signal: late.signal,
      });
      ({ status, headers } = response);
      text = await readText(response);
    } catch (error) {
      if (error instanceof RangeError) return fail('rejected', error.message);
      const isLate = (error as Error).name === 'TimeoutError';
      return fail('unavailable', isLate ? `${broker} gave no answer within ${timeoutMs / 1000} seconds` : `${broker} cannot be reached`);
    } finally {
      clearTimeout(timer);
    }
    const parsed = parse(text);
    if (status >= 200 && status < 300)
      return parsed === undefined ? fail('unavailable', `${broker} answered something that is no JSON`) : { body: parsed };
    return statusFailure(status, headers, errorOf(parsed), apiKey, outside.now());
  };
}

/** Throws RangeError for what is too long to be held. */
async function readText(response: Response): Promise<string> {
  if (response.body === null) return '';
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    parts.push(part);
    bytes += part.byteLength;
    if (bytes > mostAnswerBytes) throw new RangeError(`The answer of the provider is longer than ${mostAnswerBytes} bytes; ask for less`);
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

interface ComposioError {
  code: string;
  slug: string;
  message: string;
}

const word = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

function errorOf(body: unknown): ComposioError {
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {};
  return { code: word(error['code']), slug: word(error['slug']), message: word(error['message']) };
}

/** Codes and slugs: https://docs.composio.dev/reference/errors; those of a lost account were seen in its answers. */
function statusFailure(status: number, headers: Headers, { code, slug, message }: ComposioError, apiKey: string, now: number): AppFailure {
  const retryAfter = waitAsked(headers.get('retry-after') ?? undefined, now);
  const named = slug || code ? { code: slug || code } : {};
  const said = quote(message, apiKey);
  if (/ConnectedAccount/i.test(slug) || code === '606' || code === '1810' || / is in \w+ state/i.test(message))
    return fail('not_connected', `${broker} has no usable connection any more; connect it again`, named);
  if (status === 401) return fail('rejected', `${broker} does not accept the key; set COMPOSIO_API_KEY to a valid one`, named);
  if (status === 403 && /proxy execute/i.test(message))
    return fail('rejected', `${broker} does not let this key call providers; set COMPOSIO_API_KEY to one with proxy execute`, named);
  if (status === 429) return fail('rate_limited', `${broker} takes no more requests for the moment`, { ...named, ...retryAfter });
  if (status >= 500 || status === 408) return fail('unavailable', `${broker} failed with status ${status}`, { ...named, ...retryAfter });
  if (status < 400 || (status === 404 && !slug && !code))
    return fail('rejected', `There is no connection broker at COMPOSIO_BASE_URL: status ${status}`);
  return fail('rejected', `${broker} refuses with status ${status}${said && `: ${said}`}`, named);
}
