import { randomUUID } from 'node:crypto';
import type { Context } from '../../accounts/context.ts';
import { noteUpload } from '../../database/note-upload.ts';
import { basePath } from '../../http/public-url.ts';
import { unsupportedMediaType } from '../../library/errors.ts';
import { signPath } from '../../library/signed-paths.ts';
import type { NewUpload } from '../schemas.ts';
import { mayBeReadable, typeNames } from './file-types.ts';
import { storageKeyOf, uploadKey, uploadLimitBytes, writeUpload } from './upload-store.ts';

const lifetimeSeconds = 1800;

/** Where the file may be PUT for half an hour, and what process-document is then called with. `apiUrl` ends in the base path. */
export async function newUpload({ database, organization, bindings, settings, clock }: Context, upload: NewUpload, apiUrl: string) {
  const { filename, mime_type } = upload;
  if (!mayBeReadable(filename, mime_type))
    throw unsupportedMediaType(`"${filename}" (${mime_type}) is of no type that can be read; upload one of ${typeNames}`);
  const uuid = randomUUID();
  await noteUpload(database, organization.id, uploadKey(organization.id, uuid), clock());
  await writeUpload(bindings.FILES, organization.id, uuid, { filename, mime_type, file: null });
  const path = `${basePath}/uploads/knowledge-base/${organization.id}/${uuid}?max_bytes=${uploadLimitBytes}`;
  const signed = await signPath(settings.SIGNING_KEY, 'PUT', path, Math.floor(clock() / 1000) + lifetimeSeconds);
  return {
    upload_url: apiUrl + signed.slice(basePath.length),
    document_uuid: uuid,
    storage_key: storageKeyOf(organization.id, uuid, filename),
  };
}
