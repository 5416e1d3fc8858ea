import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';
import { tooLarge } from '../unparsable-document.ts';
import type { Packing } from './unpack-stream.ts';
import { unpackStream } from './unpack-stream.ts';

/** Of one stream, of one that says it is a picture, and of all; in bytes. The reader holds what it unpacks of a stream. */
export const maxUnpackedStreamBytes = 64 << 20;
const maxUnpackedPictureBytes = 256 << 20;
const maxTotalUnpackedBytes = 1 << 30;
const maxFilters = 3;
/** How far before its bytes a stream's dictionary may begin. */
const maxDictionaryLength = 8192;
const compressionFilters = /^(?:FlateDecode|Fl|LZWDecode|LZW|RunLengthDecode|RL)$/;

/**
 * Holds what a PDF's streams unpack to against the limits, before anything is kept of it. `file`: `bytes` as Latin 1. Throws
 * `UnparsableDocument` for streams packed into each other, and for ones that unpack to more; damaged ones are the reader's to judge.
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
    const most = /\/Subtype\s*\/Image\b/.test(dictionary) ? maxUnpackedPictureBytes : maxUnpackedStreamBytes;
    const unpacked = await countUnpackedBytes(
      bytes.subarray(start, findStreamEnd(file, start)),
      packing,
      Math.min(most, maxTotalUnpackedBytes - inAll),
    );
    inAll += unpacked;
    if (unpacked > most) throw tooLarge(`a stream in it takes more than ${most >> 20} MiB unpacked`, exportAgainAdvice);
    if (inAll > maxTotalUnpackedBytes) throw tooLarge(`unpacked it takes more than ${maxTotalUnpackedBytes >> 20} MiB`);
    await yieldToEventLoop();
  }
}

export const exportAgainAdvice = 'export it once more, or split it into smaller files';

/** Any sign of a name may be written as its number. */
export const decodeNames = (text: string): string =>
  text.replace(/#([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));

export function parsePacking(dictionary: string): Packing {
  // Of several lists, and of the long and the short name of it, a reader takes the one that it likes.
  const lists = [...dictionary.matchAll(/\/F(?:ilter)?\s*(\[[^[\]]*\]|\/\w+)/g)].map(([, list = '']) => list);
  return {
    filters: [...lists.join(' ').matchAll(/\/(\w+)/g)].map(([, name = '']) => name),
    earlyChange: /\/EarlyChange\s+0/.test(dictionary) ? 0 : 1,
  };
}

/** Where the bytes of a stream end that begin at `start`. */
export function findStreamEnd(file: string, start: number): number {
  const found = file.indexOf('endstream', start);
  return found === -1 ? file.length : found;
}

/** Stops as soon as there are more than `most`. */
async function countUnpackedBytes(packed: Uint8Array, packing: Packing, most: number): Promise<number> {
  let count = 0;
  for await (const piece of unpackStream(packed, packing)) {
    count += piece.length;
    if (count > most) break;
  }
  return count;
}
