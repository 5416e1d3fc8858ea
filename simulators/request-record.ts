import type { LedgerEntry } from './ledger.ts';

/** One request as a vendor received it. */
export interface RequestRecord extends LedgerEntry {
  provider: string;
  received_at: string;
  method: string;
  /** The path as the vendor knows it, without the mount. */
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  /** The body as text, byte for byte where it is UTF-8, so that a signature over it can be checked. At most 256 KiB. */
  raw_body: string;
  is_body_cut: boolean;
  /** Whether a fault on demand hit this request. */
  is_faulted: boolean;
}

const recordedBodyBytes = 256 * 1024;
const credentialName = /authorization|cookie|api[-_]?key|token|secret|password/i;

export function describeRequest(
  request: Request,
  provider: string,
  path: string,
  body: ArrayBuffer,
): Omit<RequestRecord, 'id' | 'is_faulted'> {
  return {
    provider,
    received_at: new Date().toISOString(),
    method: request.method,
    path,
    query: maskCredentials([...new URL(request.url).searchParams]),
    headers: maskCredentials([...request.headers]),
    raw_body: new TextDecoder().decode(body.byteLength > recordedBodyBytes ? body.slice(0, recordedBodyBytes) : body),
    is_body_cut: body.byteLength > recordedBodyBytes,
  };
}

function maskCredentials(pairs: [string, string][]): Record<string, string> {
  return Object.fromEntries(pairs.map(([name, value]) => [name, credentialName.test(name) ? maskCredential(value) : value]));
}

/** Keeps the scheme and, of a long value, the last four characters, so that two credentials can be distinguished. */
function maskCredential(value: string): string {
  const [, scheme = '', secret = ''] = /^(\w+ )?(.*)$/s.exec(value) ?? [];
  return `${scheme}****${secret.length >= 12 ? secret.slice(-4) : ''}`;
}

/** The record as `GET /__sim/requests` shows it: `body` is the parsed JSON, or the text when it is not JSON. */
export function showRequest(record: RequestRecord): RequestRecord & { body: unknown } {
  return { ...record, body: parseBody(record.raw_body) };
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
