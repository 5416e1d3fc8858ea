import type { Context } from '../../context.ts';
import { maxRecordingBytes } from '../../providers/telephony/recording.ts';
import { artifactKey } from '../records/artifacts.ts';
import { erasedName } from '../records/erase-calls.ts';
import { findAgentRun, updateRecordingType } from '../records/store.ts';
import { loadCarrier } from '../../telephony-configs/load-carrier.ts';
import { uploadStream } from '../../http/streams/upload-stream.ts';

/** `later`: the carrier may have it later. The message is for the service's own log. */
export type StoreRecordingResult = { kind: 'kept' } | { kind: 'none'; message: string } | { kind: 'later'; message: string };

const tooLongMessage = `the recording has more than ${maxRecordingBytes} bytes`;

/** Copies a call's recording from its carrier into R2, and marks it in the row. Repeatable. */
export async function storeRecording(context: Context, runId: number, configId: number, location: string): Promise<StoreRecordingResult> {
  const { bindings, database, organization } = context;
  const row = await findAgentRun(context, runId);
  if (!row) return { kind: 'none', message: 'the run is gone' };
  if (row.name === erasedName) return { kind: 'none', message: 'the contact was deleted' };
  if (row.recording_type !== null) return { kind: 'kept' };
  const carrier = await loadCarrier(context, configId);
  if (!carrier) return { kind: 'none', message: `the telephony configuration ${configId} is gone` };
  const fetched = await carrier.telephony.fetchRecording(location);
  // A new recording may not be available everywhere at the carrier yet.
  if ('missing' in fetched) return { kind: 'later', message: 'the carrier does not have it' };
  if ('failure' in fetched) return { kind: 'later', message: fetched.failure };
  if ('refused' in fetched) return { kind: 'none', message: fetched.refused };
  const { stream, contentType, bytes } = fetched.recording;
  const key = artifactKey(organization.id, runId, 'recording');
  const options = { httpMetadata: { contentType } };
  try {
    // R2 accepts a stream only with a known length.
    if (bytes !== undefined) await bindings.FILES.put(key, stream.pipeThrough(new FixedLengthStream(bytes)), options);
    else if (!(await uploadStream(bindings.FILES, key, stream, options, maxRecordingBytes)))
      return { kind: 'none', message: tooLongMessage };
  } catch (error) {
    // The exchange breaks off a recording that is longer than its Content-Length.
    if (error instanceof RangeError) return { kind: 'none', message: tooLongMessage };
    return { kind: 'later', message: `the recording broke off, or could not be stored: ${(error as Error).message}` };
  }
  const [marked] = await database.batch([updateRecordingType(context, runId, contentType)], 'idempotent');
  if (marked!.length) return { kind: 'kept' };
  await bindings.FILES.delete(key);
  return { kind: 'none', message: 'the contact was deleted meanwhile' };
}
