import type { Context as HonoContext } from 'hono';
import { createMiddleware } from 'hono/factory';
import { badRequest, invalidAt, tooLarge, unsupportedMediaType } from '../../library/errors.ts';
import { parseJson } from '../../library/json/json.ts';
import type { HttpEnvironment } from '../environment.ts';

const MiB = 1024 * 1024;
const methodsWithBody = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const jsonType = /^application\/(?:[\w.-]+\+)?json$/i;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Reads a request's body, giving up as soon as it is longer than `limit` bytes (413), or 400 when it stops before its end. */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? NaN);
  if (announced > limit) throw overLimitError(limit);
  if (!request.body) return new Uint8Array();
  try {
    // One read is cheapest. Only a body of unannounced length must be measured while it arrives.
    const bytes = announced >= 0 ? new Uint8Array(await request.arrayBuffer()) : await readStream(request.body, limit);
    if (bytes.byteLength <= limit) return bytes;
  } catch {
    throw badRequest('The body stopped before its end; send the request again');
  }
  throw overLimitError(limit);
}

/** The bytes of the stream; of a stream longer than `limit`, at least `limit` + 1 bytes. */
export async function readStream(stream: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of stream) {
    parts.push(part);
    length += part.byteLength;
    if (length > limit) break;
  }
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

const overLimitError = (limit: number) => tooLarge(`Body is over the limit of ${limit / MiB} MiB; send less in one request`);

/**
 * The JSON body of a request, bounded before it is parsed: 413 over the limit, 415 for another content type, 422
 * `json_invalid` when it is not JSON or nests too deep. No body at all counts as `{}`, so that the error names the missing fields.
 * `limits`: bytes that a body may have at a path, where 1 MiB does not suffice.
 */
export const readJsonBody = (limits: Readonly<Record<string, number>> = {}) =>
  createMiddleware<HttpEnvironment>(async (c, next) => {
    if (!methodsWithBody.has(c.req.method)) return next();
    requireNoEncoding(c.req.header('content-encoding'));
    const bytes = await readBytes(c.req.raw, limits[c.req.path] ?? MiB);
    requireJsonType(c, bytes.byteLength > 0);
    const text = decode(bytes);
    const value = text.trim() ? parse(text) : {};
    c.set('bodyText', text);
    // Hono's validators call this method. Hono's own cache would serialize the body and parse it once more.
    c.req.json = <T>() => Promise.resolve(value as T);
    return next();
  });

function requireNoEncoding(encoding: string | undefined): void {
  if (encoding !== undefined && encoding.trim() !== '' && encoding.trim().toLowerCase() !== 'identity')
    throw unsupportedMediaType(`Content-Encoding "${encoding.slice(0, 50)}" cannot be read here; send the body uncompressed`);
}

/** A form on another site can send a user's cookie, but only with the content type of a form: so even an empty body must not be a form. */
function requireJsonType(c: HonoContext<HttpEnvironment>, hasBody: boolean): void {
  const type = c.req.header('content-type');
  if (type === 'application/json') return;
  const isJson = type !== undefined && jsonType.test(type.split(';')[0]!.trim());
  if (!isJson && (hasBody || (type !== undefined && c.get('session')?.isCookie)))
    throw unsupportedMediaType(`Content-Type ${type ? `"${type}"` : 'is missing and'} cannot be read; send application/json`);
  c.req.raw = withJsonContentType(c.req.raw);
}

/** Validators know only some spellings of the content type. The body has been read. */
function withJsonContentType({ url, method, headers: given, signal }: Request): Request {
  const headers = new Headers(given);
  headers.set('content-type', 'application/json');
  return new Request(url, { method, headers, signal });
}

const invalidJsonError = (why: string) => invalidAt(['body'], `Malformed JSON body: ${why}`, 'json_invalid');

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalidJsonError('it is not UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw invalidJsonError((error as Error).message);
  }
}
