import { blockedUrlReason } from '../http/ssrf-guard.ts';
import type { CarrierExchange } from './exchange.ts';
import type { RecordingResult } from './telephony.ts';

/** The most that is kept of a call: days of sound. Whoever reads a recording of unknown length has to count. */
export const maxRecordingBytes = 500 * 1024 * 1024;

const maxRedirects = 3;

/** The address may be an outsider's word: it is called only where the service may call, and so is each that it leads to. */
export interface RecordingRequest {
  url: string;
  /** For the origin of `url` alone. */
  headers: Record<string, string>;
  /** That of the carrier's API, which may be called wherever it is. */
  carrierOrigin: string;
}

/** Opens a recording, its content not yet read. */
export async function fetchRecording(carrier: string, exchange: CarrierExchange, request: RecordingRequest): Promise<RecordingResult> {
  let address = parseUrl(request.url);
  let { headers } = request;
  for (let redirects = 0; ; redirects++) {
    const refused = address === null ? 'it is not a URL' : blockedUrlReason(address, [request.carrierOrigin]);
    if (address === null || refused !== null) return { refused: `The address of the recording may not be called: ${refused}` };
    const answer = await exchange.openStream({ method: 'GET', url: address.href, headers });
    if ('lost' in answer) return { failure: answer.lost };
    const location = answer.headers.get('location');
    if (![301, 302, 303, 307, 308].includes(answer.status) || location === null) return readRecording(carrier, answer);
    await answer.body?.cancel();
    if (redirects === maxRedirects)
      return { failure: `${carrier} redirects more than ${maxRedirects} times where the recording should be` };
    const next = parseUrl(location, address);
    if (next?.origin !== address.origin) headers = {};
    address = next;
  }
}

function parseUrl(text: string, base?: URL): URL | null {
  return URL.canParse(text, base) ? new URL(text, base) : null;
}

async function readRecording(carrier: string, answer: Response): Promise<RecordingResult> {
  const bytes = contentLength(answer.headers);
  if (answer.ok && answer.body !== null && (bytes === undefined || bytes <= maxRecordingBytes))
    return {
      recording: {
        stream: answer.body as ReadableStream<Uint8Array>,
        contentType: answer.headers.get('content-type') ?? 'application/octet-stream',
        ...(bytes !== undefined && { bytes }),
      },
    };
  await answer.body?.cancel();
  if (answer.ok && answer.body !== null) return { refused: `The recording has ${bytes} bytes, and at most ${maxRecordingBytes} are kept` };
  return answer.status === 404 || answer.status === 410
    ? { missing: true }
    : { failure: `${carrier} answered with status ${answer.status} where the recording should be` };
}

/** Of a compressed answer, its length says nothing of what is read. */
function contentLength(headers: Headers): number | undefined {
  const length = headers.get('content-length');
  return length !== null && /^\d+$/.test(length) && headers.get('content-encoding') === null ? Number(length) : undefined;
}
