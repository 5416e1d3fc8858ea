import { createExchange } from '../http/exchange.ts';
import { blockedUrlReason } from '../http/ssrf-guard.ts';
import type { RecordingResult, TelephonyOptions } from './telephony.ts';

/** The maximum size of a recording: days of sound. */
export const maxRecordingBytes = 500 * 1024 * 1024;

const defaultTimeoutMs = 10_000;
const maxRedirects = 3;

/**
 * A request for a recording. Its address may come from an outsider, so it and each redirect must be addresses that the service may call.
 */
export interface RecordingRequest {
  url: string;
  /** Sent to the origin of `url` only. */
  headers: Record<string, string>;
  /** The origin of the carrier's API, which may be called even at a private address. */
  carrierOrigin: string;
}

/** Opens a recording of at most `maxRecordingBytes` as a stream. */
export async function fetchRecording(
  carrier: string,
  { timeoutMs = defaultTimeoutMs, runtime }: TelephonyOptions,
  { url, headers, carrierOrigin }: RecordingRequest,
): Promise<RecordingResult> {
  const exchange = createExchange({
    name: carrier,
    timeoutMs,
    maxBodyBytes: maxRecordingBytes,
    maxRedirects,
    blockedReason: (address) => blockedUrlReason(address, [carrierOrigin]),
    runtime,
  });
  const answer = await exchange.openStream({ method: 'GET', url, headers });
  if ('unreachable' in answer) {
    const { unreachable, message } = answer;
    if (unreachable === 'blocked') return { refused: `The address of the recording may not be called: ${message}` };
    if (unreachable === 'too_large') return { refused: `The recording is too long: at most ${maxRecordingBytes} bytes are kept` };
    return { failure: unreachable === 'too_many_redirects' ? `${message} where the recording should be` : message };
  }
  const { status, stream, bytes } = answer;
  if (status >= 200 && status < 300 && stream !== null) {
    const contentType = answer.headers.get('content-type') ?? 'application/octet-stream';
    return { recording: { stream, contentType, ...(bytes !== undefined && { bytes }) } };
  }
  await stream?.cancel();
  return status === 404 || status === 410
    ? { missing: true }
    : { failure: `${carrier} answered with status ${status} where the recording should be` };
}
