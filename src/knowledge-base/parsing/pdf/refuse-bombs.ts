import { letOthersRun } from '../../../library/let-others-run.ts';
import { tooLarge } from '../unparsable-document.ts';
import type { Packing } from './unpack-stream.ts';
import { unpackedPieces } from './unpack-stream.ts';

/** Of one stream, of one that says it is a picture, and of all; in bytes. The reader holds what it unpacks of a stream. */
export const mostUnpackedStream = 64 << 20;
const mostOfPicture = 256 << 20;
const mostInAll = 1 << 30;
const mostFilters = 3;
/** How far before its bytes a stream's dictionary may begin. */
const longestDictionary = 8192;
const packs = /^(?:FlateDecode|Fl|LZWDecode|LZW|RunLengthDecode|RL)$/;

/**
 * Holds what a PDF's streams unpack to against the limits, before anything is kept of it. `file`: `bytes` as Latin 1. Throws
 * `UnparsableDocument` for streams packed into each other, and for ones that unpack to more; damaged ones are the reader's to judge.
 */
export async function refuseBombs(bytes: Uint8Array, file: string): Promise<void> {
  let inAll = 0;
  for (const { index, 0: keyword } of file.matchAll(/\bstream\r?\n/g)) {
    const start = index + keyword.length;
    const before = file.slice(Math.max(0, index - longestDictionary), index);
    const dictionary = withPlainNames(before.slice(before.lastIndexOf(' obj') + 1));
    if (/\/F(?:ilter)?\s*\[?\s*\d+\s+\d+\s+R/.test(dictionary)) throw tooLarge('a stream in it names its filters elsewhere', exportAnew);
    const packing = packingIn(dictionary);
    if (packing.filters.length > mostFilters) throw tooLarge(`a stream in it has more than ${mostFilters} filters`, exportAnew);
    if (packing.filters.filter((filter) => packs.test(filter)).length > 1)
      throw tooLarge('a stream in it is packed more than once', exportAnew);
    if (!packing.filters.some((filter) => packs.test(filter))) continue;
    const most = /\/Subtype\s*\/Image\b/.test(dictionary) ? mostOfPicture : mostUnpackedStream;
    const unpacked = await unpackedBytes(bytes.subarray(start, endOf(file, start)), packing, Math.min(most, mostInAll - inAll));
    inAll += unpacked;
    if (unpacked > most) throw tooLarge(`a stream in it takes more than ${most >> 20} MiB unpacked`, exportAnew);
    if (inAll > mostInAll) throw tooLarge(`unpacked it takes more than ${mostInAll >> 20} MiB`);
    await letOthersRun();
  }
}

export const exportAnew = 'export it once more, or split it into smaller files';

/** Any sign of a name may be written as its number. */
export const withPlainNames = (text: string): string =>
  text.replace(/#([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));

export function packingIn(dictionary: string): Packing {
  // Of several lists, and of the long and the short name of it, a reader takes the one that it likes.
  const lists = [...dictionary.matchAll(/\/F(?:ilter)?\s*(\[[^[\]]*\]|\/\w+)/g)].map(([, list = '']) => list);
  return {
    filters: [...lists.join(' ').matchAll(/\/(\w+)/g)].map(([, name = '']) => name),
    earlyChange: /\/EarlyChange\s+0/.test(dictionary) ? 0 : 1,
  };
}

/** Where the bytes of a stream end that begin at `start`. */
export function endOf(file: string, start: number): number {
  const found = file.indexOf('endstream', start);
  return found === -1 ? file.length : found;
}

/** Stops as soon as there are more than `most`. */
async function unpackedBytes(packed: Uint8Array, packing: Packing, most: number): Promise<number> {
  let count = 0;
  for await (const piece of unpackedPieces(packed, packing)) {
    count += piece.length;
    if (count > most) break;
  }
  return count;
}
