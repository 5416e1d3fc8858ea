import { randomUUID } from 'node:crypto';
import type { z } from '@hono/zod-openapi';
import type { Context } from '../../../context.ts';
import { recordUpload } from '../../../database/record-upload.ts';
import { basePath } from '../../../http/public-url.ts';
import { requireContentLength, storeUpload } from '../../../http/streams/store-upload.ts';
import { forbidden } from '../../../library/errors.ts';
import { isSignedPath, signPath } from '../../../library/security/signed-paths.ts';
import type { NewUpload, UploadReceipt } from '../../schemas.ts';
import { uploadKey, maxUploadBytes } from './store.ts';

const uploadUrlLifetimeSeconds = 900;

/** Creates a signed URL to PUT a file to, valid for 15 minutes, and the id of the file. `apiUrl` ends in the base path. */
export async function createUploadUrl({ database, organization, settings, clock }: Context, { filename }: NewUpload, apiUrl: string) {
  const sourceId = randomUUID();
  await recordUpload(database, organization.id, uploadKey(organization.id, sourceId)!, clock());
  const path = `${basePath}/uploads/campaigns/${organization.id}/${sourceId}?filename=${toSafeFilename(filename)}&max_bytes=${maxUploadBytes}`;
  const signed = await signPath(settings.SIGNING_KEY, 'PUT', path, Math.floor(clock() / 1000) + uploadUrlLifetimeSeconds);
  return { upload_url: apiUrl + signed.slice(basePath.length), source_id: sourceId, expires_in: uploadUrlLifetimeSeconds };
}

/** A file name of letters, digits and signs that have no meaning in paths, headers and shells. */
function toSafeFilename(filename: string): string {
  const plain = filename
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\w.-]+/g, '_');
  return plain.replace(/^[_.-]+/, '').slice(-100) || 'contacts.csv';
}

export interface IncomingUpload {
  organizationId: number;
  sourceId: string;
  request: Request;
}

/** Streams the body of a signed request into storage. Throws 403 for a changed or expired URL, 411 without Content-Length, 413 for a large file. */
export async function receiveUpload(
  { bindings, signingKey, now }: { bindings: Env; signingKey: string; now: number },
  { organizationId, sourceId, request }: IncomingUpload,
): Promise<z.infer<typeof UploadReceipt>> {
  const url = new URL(request.url);
  const key = uploadKey(organizationId, sourceId);
  if (key === null || !(await isSignedPath(signingKey, 'PUT', url.pathname + url.search, now)))
    throw forbidden('The upload URL was changed or has expired; ask POST /campaign/upload-url for a new one');
  const bytes = requireContentLength(request, Number(url.searchParams.get('max_bytes')), 'split it into several campaigns');
  const filename = url.searchParams.get('filename') ?? '';
  await storeUpload(bindings.FILES, key, request.body, bytes, { customMetadata: { filename } });
  return { status: 'uploaded', source_id: sourceId, bytes };
}
