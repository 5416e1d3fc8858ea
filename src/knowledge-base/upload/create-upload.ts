import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.ts';
import { recordUpload } from '../../database/record-upload.ts';
import { basePath } from '../../http/public-url.ts';
import { unsupportedMediaType } from '../../library/errors.ts';
import { signPath } from '../../library/security/signed-paths.ts';
import type { NewUpload } from '../documents/schemas.ts';
import { hasSupportedType, supportedTypeNames } from './file-names-and-types.ts';
import { toStorageKey, uploadKey, maxUploadBytes, writeUpload } from './upload-storage.ts';

const uploadUrlLifetimeSeconds = 1800;

/**
 * Signs a URL for the PUT of a file, valid for half an hour, and answers it with the parameters of process-document. `apiUrl` ends in the
 * base path. Throws 415 for an unsupported type of file.
 */
export async function createUpload({ database, organization, bindings, settings, clock }: Context, upload: NewUpload, apiUrl: string) {
  const { filename, mime_type } = upload;
  if (!hasSupportedType(filename, mime_type))
    throw unsupportedMediaType(`"${filename}" (${mime_type}) is of no type that can be read; upload one of ${supportedTypeNames}`);
  const uuid = randomUUID();
  await recordUpload(database, organization.id, uploadKey(organization.id, uuid), clock());
  await writeUpload(bindings.FILES, organization.id, uuid, { filename, mime_type, file: null });
  const path = `${basePath}/uploads/knowledge-base/${organization.id}/${uuid}?max_bytes=${maxUploadBytes}`;
  const signed = await signPath(settings.SIGNING_KEY, 'PUT', path, Math.floor(clock() / 1000) + uploadUrlLifetimeSeconds);
  return {
    upload_url: apiUrl + signed.slice(basePath.length),
    document_uuid: uuid,
    storage_key: toStorageKey(organization.id, uuid, filename),
  };
}
