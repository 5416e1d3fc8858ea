import { toSafeName } from './file-names-and-types.ts';

/** The maximum size of a document's file. */
export const maxUploadBytes = 25 * 1024 * 1024;

/** An uploaded file. `etag`: the etag of the stored object with these bytes. */
interface UploadedFile {
  bytes: number;
  /** In hex. */
  sha256: string;
  etag: string;
}

/** An upload: the declared name and type, and the file. `file` is null before the PUT and while a second PUT replaces the file. */
export interface Upload {
  filename: string;
  mime_type: string;
  file: UploadedFile | null;
}

export const toStorageKey = (organizationId: number, uuid: string, filename: string): string =>
  `knowledge_base/${organizationId}/${uuid}/${toSafeName(filename)}`;

// An object's metadata are sent before its bytes, but the hash is known only after the last byte; so a second object holds it.
/** The R2 key of an upload's description. */
export const uploadKey = (organizationId: number, uuid: string): string => `knowledge_base_uploads/${organizationId}/${uuid}.json`;

export async function writeUpload(bucket: R2Bucket, organizationId: number, uuid: string, upload: Upload): Promise<void> {
  await bucket.put(uploadKey(organizationId, uuid), JSON.stringify(upload), { httpMetadata: { contentType: 'application/json' } });
}

/** The description of an upload; null when upload-url never answered this uuid to the organization. */
export async function readUpload(bucket: R2Bucket, organizationId: number, uuid: string): Promise<Upload | null> {
  const object = await bucket.get(uploadKey(organizationId, uuid));
  return object && object.json<Upload>();
}

export async function deleteUpload(bucket: R2Bucket, organizationId: number, uuid: string, storageKey: string): Promise<void> {
  await bucket.delete([storageKey, uploadKey(organizationId, uuid)]);
}

/** The bytes of a file; null: the file is missing; `changed`: another file replaced it. */
export async function openFile(bucket: R2Bucket, storageKey: string, etag: string): Promise<Uint8Array | 'changed' | null> {
  const object = await bucket.get(storageKey, { onlyIf: { etagMatches: etag } });
  if (object === null) return null;
  return 'body' in object ? new Uint8Array(await object.arrayBuffer()) : 'changed';
}
