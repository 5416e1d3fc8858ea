import { UnreadableFileError } from '../../../library/text/decode-text.ts';

/** What an uploaded file may have. */
export const maxUploadBytes = 50 * 1024 * 1024;

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Where an uploaded file is; null for a `sourceId` that no upload has. */
export const uploadKey = (organizationId: number, sourceId: string): string | null =>
  uuidPattern.test(sourceId) ? `campaign_sources/${organizationId}/${sourceId}` : null;

/** The bytes of an uploaded file; null when nothing was uploaded under this id. */
export async function openUpload(bucket: R2Bucket, organizationId: number, sourceId: string): Promise<ReadableStream<Uint8Array> | null> {
  const key = uploadKey(organizationId, sourceId);
  const object = key === null ? null : await bucket.get(key);
  return object && object.body;
}

export const missingUploadError = () =>
  new UnreadableFileError('The uploaded file is no longer in storage; upload it again and create a new campaign');
