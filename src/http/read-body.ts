import { createMiddleware } from 'hono/factory';
import { badRequest, tooLarge, unsupportedMediaType } from '../library/errors.ts';
import { parseJson } from '../library/json.ts';
import type { HttpEnvironment } from './environment.ts';

const MiB = 1024 * 1024;
const withBody = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Bytes that a JSON body may have at `path`. */
function bodyLimit(path: string): number {
  return /\/contacts\/bulk-upsert\/?$/.test(path) ? 16 * MiB : MiB;
}

/** Reads a request's body, giving up as soon as it is longer than `limit` bytes (413). */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const says = `Body is over the limit of ${limit / MiB} MiB; send less in one request`;
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(says);
  if (!request.body) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body as ReadableStream<Uint8Array>) {
    length += part.byteLength;
    if (length > limit) throw tooLarge(says);
    parts.push(part);
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

/**
 * The JSON body of a request, bounded before it is parsed: 413 over the limit, 415 for another content type, 400 when it
 * is not JSON or nests too deep. No body at all counts as `{}`, so that missing fields are what is reported.
 */
export const readJsonBody = createMiddleware<HttpEnvironment>(async (c, next) => {
  if (!withBody.has(c.req.method)) return next();
  const bytes = await readBytes(c.req.raw, bodyLimit(c.req.path));
  let text = '';
  if (bytes.byteLength) {
    const type = c.req.header('content-type') ?? '';
    if (!/^application\/([\w.-]+\+)?json\b/i.test(type))
      throw unsupportedMediaType(`Content-Type ${type ? `"${type}"` : 'is missing and'} cannot be read; send application/json`);
    try {
      text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
    } catch {
      throw badRequest('Malformed JSON body: it is not UTF-8');
    }
  }
  const value = text.trim() ? parse(text) : {};
  c.set('bodyText', text);
  // Hono's own validators read through this cache, so the body is parsed once.
  c.req.bodyCache.json = Promise.resolve(value);
  return next();
});

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw badRequest(`Malformed JSON body: ${(error as Error).message}`);
  }
}
