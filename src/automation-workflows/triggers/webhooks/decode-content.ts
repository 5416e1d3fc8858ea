import { readStream } from '../../../http/middleware/read-body.ts';
import { badRequest, tooLarge, unsupportedMediaType } from '../../../library/errors.ts';

const formats: Record<string, 'gzip' | 'deflate'> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate' };

/** Of a body as it arrives, and of what comes out of it. */
export const bodyLimit = 1024 * 1024;

/** The bytes of a body without its `Content-Encoding`. Throws 415 for one that is not read here, 413 beyond 1 MiB, and 400. */
export async function decodeContent(headers: Headers, bytes: Uint8Array): Promise<Uint8Array> {
  const encoding = (headers.get('content-encoding') ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity' || bytes.length === 0) return bytes;
  const format = Object.hasOwn(formats, encoding) ? formats[encoding] : undefined;
  if (!format)
    throw unsupportedMediaType(`Content-Encoding "${encoding.slice(0, 50)}" cannot be read; send gzip, deflate or an uncompressed body`);
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream(format));
  const decoded = await readStream(stream, bodyLimit).catch(() => {
    throw badRequest(`The body is not ${encoding}, as its Content-Encoding says; send it again, or without that header`);
  });
  if (decoded.length > bodyLimit) throw tooLarge('The body is over the limit of 1 MiB when it is decompressed; send less in one request');
  return decoded;
}
