import { isNonSecretHeader } from '../../library/security/secret-names.ts';
import { tryParseJsonObject } from '../../library/json/json.ts';
import { systemRuntime, type Runtime } from './runtime.ts';

// The only way from the service to the outside. Each answer is bounded in bytes and each request in time. A request that follows a
// redirect to another origin loses its body and every header that may be a credential.

export interface ExchangeOptions {
  /** The name of the other side in messages, such as `Twilio`. */
  name: string;
  /** The timeout of a request with its redirects, from the first byte sent to the last byte read. */
  timeoutMs: number;
  /** The maximum of bytes that are read of an answer. */
  maxBodyBytes: number;
  /** An answer beyond `maxBodyBytes` fails with `too_large`, or is cut there. Default `fail`. */
  overflow?: 'fail' | 'cut';
  /** The maximum of followed redirects. Default 0: a redirect is returned as the answer. */
  maxRedirects?: number;
  /** Why an address may not be called; null: it may. Called for the request and for each redirect. Default: all addresses are allowed. */
  blockedReason?: (url: URL) => string | null | Promise<string | null>;
  runtime?: Pick<Runtime, 'fetch'> | undefined;
}

interface OutgoingRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | null;
}

export interface ReceivedResponse {
  status: number;
  headers: Headers;
  /** Decoded as UTF-8. */
  text: string;
  /** Whether `text` ends at `maxBodyBytes`. */
  isCut: boolean;
  /** The parsed text where it is a JSON object, else undefined. */
  readonly body: Record<string, unknown> | undefined;
}

/** An answer with an unread body. A body beyond `maxBodyBytes` fails with a RangeError. */
interface StreamedResponse {
  status: number;
  headers: Headers;
  stream: ReadableStream<Uint8Array> | null;
  /** The length of the body, if the answer declares it. */
  bytes?: number;
}

type UnreachableReason = 'timeout' | 'network' | 'too_large' | 'blocked' | 'body_redirected' | 'too_many_redirects';

/**
 * Why there is no answer. After `timeout`, `network` and `too_large` the other side may have processed the request. `message` is for
 * people and has neither a path nor a credential; `detail` has the runtime's words, which may name the address.
 */
export interface Unreachable {
  unreachable: UnreachableReason;
  message: string;
  detail?: string;
}

export interface Exchange {
  /** Sends a request and reads the answer. Never throws. */
  send(request: OutgoingRequest): Promise<ReceivedResponse | Unreachable>;
  /** Sends a request. `timeoutMs` applies until the headers arrive; the body may take longer. Never throws. */
  openStream(request: OutgoingRequest): Promise<StreamedResponse | Unreachable>;
}

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/**
 * Creates an exchange with one other side.
 * @example
 * const exchange = createExchange({ name: 'Twilio', timeoutMs: 10_000, maxBodyBytes: 8 * 1024 * 1024 });
 * const answer = await exchange.send({ method: 'GET', url, headers: { authorization } });
 * if ('unreachable' in answer) return { failure: answer.message };
 */
export function createExchange(options: ExchangeOptions): Exchange {
  const { name, timeoutMs, maxBodyBytes, overflow = 'fail' } = options;

  /** Runs `read` on the answer. The timer is cleared afterwards, because a pending one keeps a Durable Object in memory. */
  async function withAnswer<Answer>(
    request: OutgoingRequest,
    read: (response: Response) => Answer | Promise<Answer>,
  ): Promise<Answer | Unreachable> {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(new DOMException('no answer in time', 'TimeoutError')), timeoutMs);
    try {
      const response = await followRedirects(request, options, controller.signal);
      return 'unreachable' in response ? response : await read(response);
    } catch (error) {
      return toUnreachable(error, name, timeoutMs);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    send: (request) =>
      withAnswer(request, async (response) => {
        const { text, isCut } = await readBody(response, maxBodyBytes, overflow);
        return toReceivedResponse(response, text, isCut);
      }),
    openStream: (request) =>
      withAnswer(request, (response) => {
        const bytes = contentLength(response.headers);
        const { status, headers, body } = response;
        if (bytes !== undefined && bytes > maxBodyBytes) {
          void body?.cancel();
          throw new BodyTooLargeError(maxBodyBytes);
        }
        // The stream of a body with a known length is not wrapped, because R2 needs that length.
        const stream = bytes === undefined && body ? boundedStream(body, maxBodyBytes) : body;
        return { status, headers, stream, ...(bytes !== undefined && { bytes }) };
      }),
  };
}

/** An address that may not be called. The message says why, for people. */
export class AddressBlockedError extends Error {}

/**
 * A `fetch` for a vendor's client. It follows no redirect, and a body beyond `maxBodyBytes` fails with a RangeError. An address for which
 * `blockedReason` has a reason is not called: AddressBlockedError.
 */
export const boundedFetch =
  ({ fetch }: Pick<Runtime, 'fetch'>, maxBodyBytes: number, blockedReason?: ExchangeOptions['blockedReason']): Runtime['fetch'] =>
  async (input, init) => {
    const reason = await blockedReason?.(new URL(input instanceof Request ? input.url : input));
    if (reason) throw new AddressBlockedError(reason);
    // A redirect would carry the key to another address.
    const response = await fetch(input, { ...init, redirect: 'manual' });
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(boundedStream(response.body, maxBodyBytes), { status, statusText, headers });
  };

async function followRedirects(
  { url: address, method, headers, body = null }: OutgoingRequest,
  { name, maxRedirects = 0, blockedReason, runtime = systemRuntime }: ExchangeOptions,
  signal: AbortSignal,
): Promise<Response | Unreachable> {
  let url = URL.parse(address);
  for (let redirects = 0; ; redirects++) {
    const reason = url ? await blockedReason?.(url) : 'it is not a URL';
    if (!url || reason) return { unreachable: 'blocked', message: reason! };
    const response = await runtime.fetch(url.href, {
      method,
      headers,
      ...(body !== null && { body }),
      redirect: 'manual',
      signal,
    });
    const location = response.headers.get('location');
    if (maxRedirects === 0 || !redirectStatuses.has(response.status) || location === null) return response;
    await response.body?.cancel();
    if (redirects === maxRedirects)
      return { unreachable: 'too_many_redirects', message: `${name} redirects more than ${maxRedirects} times` };
    const next = URL.parse(location, url);
    if (response.status === 303 || (response.status < 303 && method === 'POST')) {
      method = 'GET';
      body = null;
    }
    if (next && next.origin !== url.origin) {
      if (body !== null) return { unreachable: 'body_redirected', message: redirectedBodyMessage(name, method, next) };
      headers = Object.fromEntries(Object.entries(headers).filter(([header]) => isNonSecretHeader(header)));
    }
    url = next;
  }
}

const redirectedBodyMessage = (name: string, method: string, { origin }: URL): string =>
  `${name} redirects the ${method} to another origin, ${origin}, which its body is not sent to; if that is right, make it the address`;

class BodyTooLargeError extends RangeError {
  constructor(maxBodyBytes: number) {
    super(`the answer has more than ${maxBodyBytes} bytes`);
  }
}

function toUnreachable(error: unknown, name: string, timeoutMs: number): Unreachable {
  const detail = (error as Error).message;
  if (error instanceof BodyTooLargeError)
    return { unreachable: 'too_large', message: `${name} answered more than is read of an answer`, detail };
  if ((error as Error).name === 'TimeoutError')
    return { unreachable: 'timeout', message: `${name} gave no answer within ${timeoutMs / 1000} seconds`, detail };
  return { unreachable: 'network', message: `${name} cannot be reached, or the connection broke before it had answered`, detail };
}

function toReceivedResponse({ status, headers }: Response, text: string, isCut: boolean): ReceivedResponse {
  let parsed: { body: ReceivedResponse['body'] } | undefined;
  return {
    status,
    headers,
    text,
    isCut,
    get body() {
      parsed ??= { body: tryParseJsonObject(text) };
      return parsed.body;
    },
  };
}

/** Reads at most `maxBytes`. A longer body throws BodyTooLargeError, or is cut. */
async function readBody(response: Response, maxBytes: number, overflow: 'fail' | 'cut'): Promise<{ text: string; isCut: boolean }> {
  const parts: Uint8Array[] = [];
  let length = 0;
  if (response.body)
    for await (const part of response.body as ReadableStream<Uint8Array>) {
      parts.push(part);
      length += part.byteLength;
      if (length <= maxBytes) continue;
      if (overflow === 'fail') throw new BodyTooLargeError(maxBytes);
      break;
    }
  const bytes = Buffer.concat(parts).subarray(0, maxBytes);
  return { text: new TextDecoder().decode(bytes), isCut: length > maxBytes };
}

function boundedStream(stream: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  let length = 0;
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(part, controller) {
        length += part.byteLength;
        if (length > maxBytes) controller.error(new BodyTooLargeError(maxBytes));
        else controller.enqueue(part);
      },
    }),
  );
}

/** The declared length. A compressed answer declares another length than the bytes that are read. */
function contentLength(headers: Headers): number | undefined {
  const length = headers.get('content-length');
  return length !== null && /^\d+$/.test(length) && headers.get('content-encoding') === null ? Number(length) : undefined;
}
