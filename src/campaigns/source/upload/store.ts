import { UnreadableFileError } from '../../../library/text/unreadable-file.ts';
import { type PeekedStream, peekStream } from './peek-stream.ts';

/** The maximum size of an uploaded file. */
export const maxUploadBytes = 50 * 1024 * 1024;

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** As many bytes show whether a file is text or a workbook. */
const signatureBytes = 8;

/** The key of an uploaded file in R2, and the folder of what is made of it; null for a `sourceId` that is not a uuid. */
export const uploadKey = (organizationId: number, sourceId: string): string | null =>
  uuidPattern.test(sourceId) ? `campaign_sources/${organizationId}/${sourceId}` : null;

export interface UploadedFile extends PeekedStream {
  key: string;
  /** Differs after another upload to the same key. */
  etag: string;
  size: number;
  /** The name that the sender gave. */
  filename: string | undefined;
}

/** An uploaded file; null: no file has this id. */
export async function openUpload(bucket: R2Bucket, organizationId: number, sourceId: string): Promise<UploadedFile | null> {
  const key = uploadKey(organizationId, sourceId);
  const object = key === null ? null : await bucket.get(key);
  if (key === null || !object) return null;
  const { etag, size, customMetadata } = object;
  return { key, etag, size, filename: customMetadata?.['filename'] || undefined, ...(await peekStream(object.body, signatureBytes)) };
}

export const missingUploadError = () =>
  new UnreadableFileError('The uploaded file is no longer in storage; upload it again and create a new campaign');
