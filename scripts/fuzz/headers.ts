import type { RandomSource } from './random-source.ts';

type Header = [string, string];

/** Each UTF-8 byte as one Latin-1 character, so that the text is sent as UTF-8. */
const bytes = (text: string): string => Buffer.from(text).toString('latin1');

const odd: Header[] = [
  ['Idempotency-Key', ''],
  ['Idempotency-Key', 'a'.repeat(256)],
  ['Idempotency-Key', 'a'.repeat(9000)],
  ['Idempotency-Key', bytes('🙂 ключ')],
  ['Idempotency-Key', '\u00ff\u00fe'],
  ['Idempotency-Key', 'same for all'],
  ['Idempotency-Key', '__proto__'],
  ['X-Request-Id', 'a'.repeat(5000)],
  ['X-Request-Id', '"><script>'],
  ['Accept', 'text/html'],
  ['Accept', '*/*;q=zz,,,'],
  ['Accept-Encoding', 'gzip;q=0, x'],
  ['Accept-Language', '*-*'],
  ['Content-Encoding', 'gzip'],
  ['Content-Encoding', 'bogus'],
  ['Range', 'bytes=9-1'],
  ['Range', 'bytes=0-0,1-1,2-2'],
  ['Range', `bytes=${'0-1,'.repeat(2000)}`],
  ['If-None-Match', '*'],
  ['If-Modified-Since', 'yesterday'],
  ['Origin', 'null'],
  ['Origin', 'https://evil.example'],
  ['Referer', 'javascript:1'],
  ['Cookie', 'session='],
  ['Cookie', `a=${'b'.repeat(8000)}`],
  ['Cookie', '=;;;=%00'],
  ['User-Agent', ''],
  ['User-Agent', bytes('\u202e🙂')],
  ['X-Forwarded-For', '127.0.0.1, a'],
  ['X-Forwarded-Host', 'evil.example'],
  ['X-Forwarded-Proto', 'gopher'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['CF-Connecting-IP', "127.0.0.1' --"],
  ['CF-Connecting-IP', '::::'],
  ['X-Twilio-Signature', 'AAAA'],
  ['Webhook-Signature', 'v1,%%%'],
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Key', 'x'],
  ['Expect', '100-continue'],
  ['Host', 'evil.example'],
  ['Host', ''],
  ['Host', 'a b'],
  ['Transfer-Encoding', 'chunked'],
  ['Content-Length', '-1'],
  ['Content-Length', '99999999999999999999'],
  ['Bad Name', 'x'],
  ['X-Null', 'a\0b'],
  ['X-Big', 'a'.repeat(60_000)],
  ['__proto__', 'x'],
  ['constructor', 'x'],
];

/** None for most requests, else a few. */
export const hostileHeaders = (draw: RandomSource): Header[] =>
  draw.chance(0.8) ? [] : Array.from({ length: 1 + draw.below(3) }, () => draw.of(odd));

/** Whether a header says where the request ends or whom it is for, or is none at all: the runtime refuses it, or waits. */
export const isFramingHeader = ([name, value]: Header): boolean =>
  /^(host|transfer-encoding|content-length|expect|upgrade|bad name)$/i.test(name) || value.includes('\0');
