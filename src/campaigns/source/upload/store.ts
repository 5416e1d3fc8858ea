import { UnreadableFileError } from '../../../library/text/unreadable-file.ts';

/** The maximum size of an uploaded file. */
export const maxUploadBytes = 50 * 1024 * 1024;

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The key of an uploaded file in R2; null for a `sourceId` that is not a uuid. */
export const uploadKey = (organizationId: number, sourceId: string): string | null =>
  uuidPattern.test(sourceId) ? `campaign_sources/${organizationId}/${sourceId}` : null;

/** The bytes of an uploaded file; null: no file has this id. */
export async function openUpload(bucket: R2Bucket, organizationId: number, sourceId: string): Promise<ReadableStream<Uint8Array> | null> {
  const key = uploadKey(organizationId, sourceId);
  const object = key === null ? null : await bucket.get(key);
  return object && object.body;
}

export const missingUploadError = () =>
  new UnreadableFileError('The uploaded file is no longer in storage; upload it again and create a new campaign');
