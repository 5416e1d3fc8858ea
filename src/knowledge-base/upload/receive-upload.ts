import { createHash } from 'node:crypto';
import type { z } from '@hono/zod-openapi';
import type { Context } from '../../accounts/context.ts';
import { backgroundContext } from '../../accounts/organizations.ts';
import { announcedLength, storeUpload } from '../../http/store-upload.ts';
import { conflict, forbidden } from '../../library/errors.ts';
import { isSignedPath } from '../../library/signed-paths.ts';
import type { UploadReceipt } from '../schemas.ts';
import { findDocument } from '../store.ts';
import { readUpload, storageKeyOf, writeUpload } from './upload-store.ts';

export interface IncomingUpload {
  organizationId: number;
  uuid: string;
  request: Request;
}

interface Surroundings {
  bindings: Env;
  signingKey: string;
  now: number;
  defer: Context['defer'];
}

const notValid = () => forbidden('The upload URL was changed or has expired; ask POST /knowledge-base/upload-url for a new one');

/** Streams the body of a signed request into storage, in the place of one sent before. Throws 403, 409, 411 and 413. */
export async function receiveUpload(
  { bindings, signingKey, now, defer }: Surroundings,
  { organizationId, uuid, request }: IncomingUpload,
): Promise<z.infer<typeof UploadReceipt>> {
  const url = new URL(request.url);
  if (!(await isSignedPath(signingKey, 'PUT', url.pathname + url.search, now))) throw notValid();
  const bytes = announcedLength(request, Number(url.searchParams.get('max_bytes')), 'split it into smaller documents');
  const upload = await readUpload(bindings.FILES, organizationId, uuid);
  const context = await backgroundContext(bindings, organizationId, defer);
  if (!upload || !context) throw notValid();
  if (await findDocument(context.database, organizationId, uuid))
    throw conflict('The processing of this document has begun; ask POST /knowledge-base/upload-url for a new document');
  // From here until the new file is complete there is none, so that nothing goes by the hash of the old one.
  if (upload.file) await writeUpload(bindings.FILES, organizationId, uuid, { ...upload, file: null });
  const hash = createHash('sha256');
  const key = storageKeyOf(organizationId, uuid, upload.filename);
  const object = await storeUpload(bindings.FILES, key, hashedBy(hash, request.body), bytes, {
    httpMetadata: { contentType: upload.mime_type },
  });
  const file = { bytes, sha256: hash.digest('hex'), etag: object.etag };
  await writeUpload(bindings.FILES, organizationId, uuid, { ...upload, file });
  return { status: 'uploaded', document_uuid: uuid, bytes, sha256: file.sha256 };
}

const hashedBy = (hash: ReturnType<typeof createHash>, body: ReadableStream<Uint8Array> | null) =>
  body &&
  body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(part, controller) {
        hash.update(part);
        controller.enqueue(part);
      },
    }),
  );
