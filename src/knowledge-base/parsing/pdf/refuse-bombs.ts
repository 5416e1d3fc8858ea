import { letOthersRun } from '../../../library/let-others-run.ts';
import { tooLarge } from '../unparsable-document.ts';

/** Of one stream, of one that says it is a picture, and of all; in bytes. The reader holds what it unpacks of a stream. */
const mostUnpacked = 64 << 20;
const mostOfPicture = 256 << 20;
const mostInAll = 1 << 30;
const mostFilters = 3;
/** How far before its bytes a stream's dictionary may begin. */
const longestDictionary = 8192;
const packs = /^(?:FlateDecode|Fl|LZWDecode|LZW|RunLengthDecode|RL)$/;
const sliceBytes = 4096;

/**
 * Holds what a PDF's streams unpack to against the limits, before anything is kept of it. Throws `UnparsableDocument` for streams packed into
 * each other, and for ones that unpack to more; damaged ones are the reader's to judge.
 */
export async function refuseBombs(bytes: Uint8Array): Promise<void> {
  const file = new TextDecoder('latin1').decode(bytes);
  let inAll = 0;
  for (const { index, 0: keyword } of file.matchAll(/\bstream\r?\n/g)) {
    const start = index + keyword.length;
    const before = file.slice(Math.max(0, index - longestDictionary), index);
    const dictionary = before
      .slice(before.lastIndexOf(' obj') + 1)
      .replace(/#([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
    if (/\/Filter\s*\[?\s*\d/.test(dictionary)) throw tooLarge('a stream in it names its filters elsewhere', exportAnew);
    const filters = filtersIn(dictionary);
    if (filters.length > mostFilters) throw tooLarge(`a stream in it has more than ${mostFilters} filters`, exportAnew);
    if (filters.filter((filter) => packs.test(filter)).length > 1) throw tooLarge('a stream in it is packed more than once', exportAnew);
    if (!filters[0]?.startsWith('Fl')) continue;
    const most = /\/Subtype\s*\/Image\b/.test(dictionary) ? mostOfPicture : mostUnpacked;
    const found = file.indexOf('endstream', start);
    const unpacked = await unpackedBytes(bytes.subarray(start, found === -1 ? bytes.length : found), Math.min(most, mostInAll - inAll));
    inAll += unpacked;
    if (unpacked > most) throw tooLarge(`a stream in it takes more than ${most >> 20} MiB unpacked`, exportAnew);
    if (inAll > mostInAll) throw tooLarge(`unpacked it takes more than ${mostInAll >> 20} MiB`);
    await letOthersRun();
  }
}

const exportAnew = 'export it once more, or split it into smaller files';

function filtersIn(dictionary: string): string[] {
  const [, list = ''] = /\/Filter\s*(\[[^\]]*\]|\/\w+)/.exec(dictionary) ?? [];
  return [...list.matchAll(/\/(\w+)/g)].map(([, name = '']) => name);
}

/** Stops as soon as there are more than `most`. */
async function unpackedBytes(packed: Uint8Array, most: number): Promise<number> {
  let count = 0;
  try {
    for await (const piece of slicesOf(packed).pipeThrough(new DecompressionStream('deflate'))) {
      count += piece.length;
      if (count > most) break;
    }
  } catch {
    // Damaged, or with something behind its end: what came before counts.
  }
  return count;
}

function slicesOf(bytes: Uint8Array): ReadableStream<BufferSource> {
  let place = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.slice(place, place + sliceBytes));
      place += sliceBytes;
      if (place >= bytes.length) controller.close();
    },
  });
}
