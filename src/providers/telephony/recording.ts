import type { RecordingResult } from './telephony.ts';

/** What a carrier answered for a recording, its content not yet read. */
export async function readRecording(carrier: string, answer: Response | { lost: string }): Promise<RecordingResult> {
  if ('lost' in answer) return { failure: answer.lost };
  if (answer.ok && answer.body !== null) {
    const length = answer.headers.get('content-length');
    return {
      recording: {
        stream: answer.body as ReadableStream<Uint8Array>,
        contentType: answer.headers.get('content-type') ?? 'application/octet-stream',
        ...(length !== null && /^\d+$/.test(length) ? { bytes: Number(length) } : {}),
      },
    };
  }
  await answer.body?.cancel();
  return answer.status === 404 || answer.status === 410
    ? { missing: true }
    : { failure: `${carrier} answered with status ${answer.status} where the recording should be` };
}
