import { createHash } from 'node:crypto';
import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { backgroundContext } from '../../accounts/organizations/background-context.ts';
import { requireContentLength, storeUpload } from '../../http/streams/store-upload.ts';
import { conflict, forbidden } from '../../library/errors.ts';
import { isSignedPath } from '../../library/security/signed-paths.ts';
import type { UploadReceipt } from '../documents/schemas.ts';
import { findDocument } from '../documents/store.ts';
import { readUpload, toStorageKey, writeUpload } from './upload-storage.ts';

export interface IncomingUpload {
  organizationId: number;
  uuid: string;
  request: Request;
}

interface UploadDependencies {
  bindings: Env;
  signingKey: string;
  now: number;
  defer: Context['defer'];
}

const invalidUploadUrl = () => forbidden('The upload URL was changed or has expired; ask POST /knowledge-base/upload-url for a new one');

/**
 * Streams the body of a signed request into storage, replacing an earlier file. Throws 403 for a changed or expired URL, 409 once processing
 * has begun, 411 without Content-Length, 413 for too large a file.
 */
export async function receiveUpload(
  { bindings, signingKey, now, defer }: UploadDependencies,
  { organizationId, uuid, request }: IncomingUpload,
): Promise<z.infer<typeof UploadReceipt>> {
  const url = new URL(request.url);
  if (!(await isSignedPath(signingKey, 'PUT', url.pathname + url.search, now))) throw invalidUploadUrl();
  const bytes = requireContentLength(request, Number(url.searchParams.get('max_bytes')), 'split it into smaller documents');
  const upload = await readUpload(bindings.FILES, organizationId, uuid);
  const context = await backgroundContext(bindings, organizationId, defer);
  if (!upload || !context) throw invalidUploadUrl();
  if (await findDocument(context.database, organizationId, uuid))
    throw conflict('The processing of this document has begun; ask POST /knowledge-base/upload-url for a new document');
  // No file is recorded until the new one is complete, so that no step uses the old hash.
  if (upload.file) await writeUpload(bindings.FILES, organizationId, uuid, { ...upload, file: null });
  const hash = createHash('sha256');
  const key = toStorageKey(organizationId, uuid, upload.filename);
  const object = await storeUpload(bindings.FILES, key, hashStream(hash, request.body), bytes, {
    httpMetadata: { contentType: upload.mime_type },
  });
  const file = { bytes, sha256: hash.digest('hex'), etag: object.etag };
  await writeUpload(bindings.FILES, organizationId, uuid, { ...upload, file });
  return { status: 'uploaded', document_uuid: uuid, bytes, sha256: file.sha256 };
}

const hashStream = (hash: ReturnType<typeof createHash>, body: ReadableStream<Uint8Array> | null) =>
  body &&
  body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(part, controller) {
        hash.update(part);
        controller.enqueue(part);
      },
    }),
  );
