import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';
import { tooLarge } from '../../../library/text/unparsable-document.ts';
import type { Packing } from './unpack-stream.ts';
import { unpackStream } from './unpack-stream.ts';

/** The maximum of one stream, of a stream that declares a picture, and of all streams. The reader keeps an unpacked stream in memory. */
export const maxUnpackedStreamBytes = 64 << 20;
const maxUnpackedPictureBytes = 256 << 20;
const maxTotalUnpackedBytes = 1 << 30;
const maxFilters = 3;
/** The maximum length of a dictionary before its stream. */
const maxDictionaryLength = 8192;
const compressionFilters = /^(?:FlateDecode|Fl|LZWDecode|LZW|RunLengthDecode|RL)$/;

/**
 * Unpacks a PDF's streams and counts their bytes against the limits, without keeping them. `file`: `bytes` as Latin 1. Throws
 * `UnparsableDocument` for nested packing and for too many bytes; damaged streams are left to the reader.
 */
export async function rejectDecompressionBombs(bytes: Uint8Array, file: string): Promise<void> {
  let inAll = 0;
  for (const { index, 0: keyword } of file.matchAll(/\bstream\r?\n/g)) {
    const start = index + keyword.length;
    const before = file.slice(Math.max(0, index - maxDictionaryLength), index);
    const dictionary = decodeNames(before.slice(before.lastIndexOf(' obj') + 1));
    if (/\/F(?:ilter)?\s*\[?\s*\d+\s+\d+\s+R/.test(dictionary))
      throw tooLarge('a stream in it names its filters elsewhere', exportAgainAdvice);
    const packing = parsePacking(dictionary);
    if (packing.filters.length > maxFilters) throw tooLarge(`a stream in it has more than ${maxFilters} filters`, exportAgainAdvice);
    if (packing.filters.filter((filter) => compressionFilters.test(filter)).length > 1)
      throw tooLarge('a stream in it is packed more than once', exportAgainAdvice);
    if (!packing.filters.some((filter) => compressionFilters.test(filter))) continue;
    const max = /\/Subtype\s*\/Image\b/.test(dictionary) ? maxUnpackedPictureBytes : maxUnpackedStreamBytes;
    const unpacked = await countUnpackedBytes(
      bytes.subarray(start, findStreamEnd(file, start)),
      packing,
      Math.min(max, maxTotalUnpackedBytes - inAll),
    );
    inAll += unpacked;
    if (unpacked > max) throw tooLarge(`a stream in it takes more than ${max >> 20} MiB unpacked`, exportAgainAdvice);
    if (inAll > maxTotalUnpackedBytes) throw tooLarge(`unpacked it takes more than ${maxTotalUnpackedBytes >> 20} MiB`);
    await yieldToEventLoop();
  }
}

export const exportAgainAdvice = 'export it once more, or split it into smaller files';

/** Any character of a name may be written as its code. Strings stay as they are. */
export const decodeNames = (text: string): string =>
  text.replace(/\/[^\0\t\n\f\r ()<>[\]{}/%]*#[^\0\t\n\f\r ()<>[\]{}/%]*/g, (name) =>
    name.replace(/#([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16))),
  );

export function parsePacking(dictionary: string): Packing {
  // Readers differ in which of several lists, or of the long and the short key, they use: all count.
  const lists = [...dictionary.matchAll(/\/F(?:ilter)?\s*(\[[^[\]]*\]|\/\w+)/g)].map(([, list = '']) => list);
  return {
    filters: [...lists.join(' ').matchAll(/\/(\w+)/g)].map(([, name = '']) => name),
    earlyChange: /\/EarlyChange\s+0/.test(dictionary) ? 0 : 1,
  };
}

/** The index at which the stream from `start` ends. The line end before its mark is no part of it: workerd refuses packed bytes with more behind them. */
export function findStreamEnd(file: string, start: number): number {
  const found = file.indexOf('endstream', start);
  if (found === -1) return file.length;
  const [lineEnd = ''] = /(?:\r\n|\n|\r)?$/.exec(file.slice(Math.max(start, found - 2), found)) ?? [];
  return found - lineEnd.length;
}

/** Stops after more than `max` bytes. */
async function countUnpackedBytes(packed: Uint8Array, packing: Packing, max: number): Promise<number> {
  let count = 0;
  for await (const piece of unpackStream(packed, packing)) {
    count += piece.length;
    if (count > max) break;
  }
  return count;
}
