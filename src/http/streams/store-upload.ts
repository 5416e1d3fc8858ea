import { HTTPException } from 'hono/http-exception';
import { badRequest, tooLarge } from '../../library/errors.ts';

/**
 * The announced length of a request's body in bytes. Throws 411 without one, and 413 above `limit`; `advice` is the way to stay below the
 * limit.
 */
export function requireContentLength(request: Request, limit: number, advice: string): number {
  const bytes = Number(request.headers.get('content-length') ?? NaN);
  if (!Number.isSafeInteger(bytes))
    throw new HTTPException(411, { message: 'Content-Length is missing; send the file with its length, not in chunks' });
  if (bytes > limit) throw tooLarge(`The file has ${bytes} bytes, over the limit of ${limit} (${limit / 1024 / 1024} MiB); ${advice}`);
  return bytes;
}

/** The errors by which a body ends that is shorter than announced, or whose sender has disconnected. */
const senderErrorPattern = /^FixedLengthStream did not see all|^Network connection lost/;

/** Stores a body of `bytes` while it arrives. Throws 400, and stores nothing, when the body ends early. */
export async function storeUpload(
  bucket: R2Bucket,
  key: string,
  body: ReadableStream<Uint8Array> | null,
  bytes: number,
  options: R2PutOptions,
): Promise<R2Object> {
  // Storage must know the length beforehand.
  const { readable, writable } = new FixedLengthStream(bytes);
  const sent = body ? body.pipeTo(writable) : writable.close();
  try {
    const [object] = await Promise.all([bucket.put(key, readable, options), sent]);
    return object;
  } catch (error) {
    throw senderErrorPattern.test((error as Error).message) ? badRequest('The file stopped before its end; send it again') : error;
  }
}
