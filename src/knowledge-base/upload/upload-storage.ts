import { toSafeName } from './filenames.ts';

/** What a document's file may have. */
export const maxUploadBytes = 25 * 1024 * 1024;

/** A file that was PUT. `etag` is that of the object with these very bytes. */
export interface UploadedFile {
  bytes: number;
  /** In hex. */
  sha256: string;
  etag: string;
}

/** What upload-url was told, and what was PUT: null before that, and while another file is taking its place. */
export interface Upload {
  filename: string;
  mime_type: string;
  file: UploadedFile | null;
}

export const toStorageKey = (organizationId: number, uuid: string, filename: string): string =>
  `knowledge_base/${organizationId}/${uuid}/${toSafeName(filename)}`;

// A hash is known after the last byte only, when an object's own metadata have long been sent; so it stands in an object beside it.
/** Where R2 has what is known of an upload. */
export const uploadKey = (organizationId: number, uuid: string): string => `knowledge_base_uploads/${organizationId}/${uuid}.json`;

export async function writeUpload(bucket: R2Bucket, organizationId: number, uuid: string, upload: Upload): Promise<void> {
  await bucket.put(uploadKey(organizationId, uuid), JSON.stringify(upload), { httpMetadata: { contentType: 'application/json' } });
}

/** Null when upload-url never gave this id to this organization. */
export async function readUpload(bucket: R2Bucket, organizationId: number, uuid: string): Promise<Upload | null> {
  const object = await bucket.get(uploadKey(organizationId, uuid));
  return object && object.json<Upload>();
}

export async function deleteUpload(bucket: R2Bucket, organizationId: number, uuid: string, storageKey: string): Promise<void> {
  await bucket.delete([storageKey, uploadKey(organizationId, uuid)]);
}

/** The bytes of a file; `null`: it is gone; `changed`: another file is in its place. */
export async function openFile(bucket: R2Bucket, storageKey: string, etag: string): Promise<Uint8Array | 'changed' | null> {
  const object = await bucket.get(storageKey, { onlyIf: { etagMatches: etag } });
  if (object === null) return null;
  return 'body' in object ? new Uint8Array(await object.arrayBuffer()) : 'changed';
}
