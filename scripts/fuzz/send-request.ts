import { connect } from 'node:net';

/** A request byte by byte as it goes out, so that it may be one that no library would send. */
export interface WireRequest {
  method: string;
  /** The path and query of the request line. */
  target: string;
  /** Names may come twice. Host and Connection are added. */
  headers: [string, string][];
  body: Buffer | null;
  /** What Content-Length says; absent: the truth. */
  toldLength?: number | undefined;
}

export interface WireAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
  durationMs: number;
}

/** `silence`: the connection ended, or time ran out, without an answer. */
export type WireResult = WireAnswer | { silence: string; durationMs: number };

const timeoutMs = 20_000;

export function send({ hostname, port }: URL, request: WireRequest): Promise<WireResult> {
  const startedAt = performance.now();
  const { promise, resolve } = Promise.withResolvers<WireResult>();
  const socket = connect(Number(port) || 80, hostname.replace(/^\[|\]$/g, ''));
  const parts: Buffer[] = [];
  const durationMs = () => performance.now() - startedAt;
  const finish = (why: string) => {
    socket.destroy();
    const answer = read(afterInterim(Buffer.concat(parts)));
    resolve(answer ? { ...answer, durationMs: durationMs() } : { silence: why, durationMs: durationMs() });
  };
  socket.setTimeout(timeoutMs, () => finish(`nothing within ${timeoutMs / 1000} s`));
  socket.on('data', (part) => {
    parts.push(part);
    if (isWhole(parts)) finish('');
  });
  socket.on('error', (error) => finish(error.message));
  socket.on('close', () => finish('the connection was closed'));
  socket.write(buildHead(request, `${hostname}:${port}`));
  if (request.body) socket.write(request.body);
  // A body shorter than its Content-Length would never end, so the connection is half-closed.
  if (request.body && (request.toldLength ?? 0) > request.body.length) socket.end();
  return promise;
}

function buildHead({ method, target, headers, body, toldLength }: WireRequest, host: string): Buffer {
  const length = toldLength ?? body?.length;
  const isChunked = headers.some(([name]) => name.toLowerCase() === 'transfer-encoding');
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(headers.some(([name]) => name.toLowerCase() === 'host') ? [] : [`Host: ${host}`]),
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(length === undefined || isChunked ? [] : [`Content-Length: ${length}`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Without `100 Continue`, which is no answer yet. */
function afterInterim(bytes: Buffer): Buffer {
  const end = bytes.indexOf('\r\n\r\n');
  const isInterim = end !== -1 && /^HTTP\/1\.1 1\d\d/.test(bytes.subarray(0, 12).toString('latin1'));
  return isInterim ? afterInterim(bytes.subarray(end + 4)) : bytes;
}

/** Whether the answer is complete before the connection closes: its length is known, or its last chunk came. */
function isWhole(parts: Buffer[]): boolean {
  const bytes = afterInterim(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const head = bytes.subarray(0, end).toString('latin1');
  const length = /^content-length:\s*(\d+)/im.exec(head)?.[1];
  if (length !== undefined) return bytes.length - end - 4 >= Number(length);
  return /^transfer-encoding:\s*chunked/im.test(head) && bytes.subarray(-5).toString('latin1') === '0\r\n\r\n';
}

function read(bytes: Buffer): Omit<WireAnswer, 'durationMs'> | null {
  const end = bytes.indexOf('\r\n\r\n');
  const [first, ...lines] = bytes.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3})/.exec(first ?? '')?.[1];
  if (status === undefined) return null;
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const rest = bytes.subarray(end + 4);
  return { status: Number(status), headers, body: (headers['transfer-encoding'] === 'chunked' ? unchunked(rest) : rest).toString('utf8') };
}

function unchunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf('\r\n', at);
    const length = parseInt(bytes.subarray(at, end === -1 ? at : end).toString('latin1'), 16);
    if (!(length > 0)) return Buffer.concat(parts);
    parts.push(bytes.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}
