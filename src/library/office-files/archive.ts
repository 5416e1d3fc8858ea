import { yieldToEventLoop } from '../limits/yield-to-event-loop.ts';
import { maxUnpackedBytes, maxUnpackedRatio, minBytesForRatioCheck, pieceLength } from './limits.ts';
import { UnparsableDocument, damaged, tooLarge } from '../text/unparsable-document.ts';
import { listArchiveEntries } from './list-archive-entries.ts';
import type { ArchiveEntry } from './list-archive-entries.ts';

const headerSignature = 0x04034b50;
const headerLength = 30;
/** The bytes unpacked in one call; at most a thousand times as many come out. */
const sliceBytes = 4096;

/** The parts of a docx, pptx or xlsx, unpacked on request. */
export interface Archive {
  has(name: string): boolean;
  /** The text of a part, in pieces, between which requests go first; none without the part. */
  pieces(name: string): AsyncIterable<string>;
  /** The text of a whole part; empty without the part. Throws `too_large` above `maxCharacters`. */
  text(name: string, maxCharacters: number): Promise<string>;
}

/**
 * Opens an archive. Its declared sizes are checked before unpacking, and the real sizes are counted while unpacking, because an archive
 * may declare wrong ones.
 */
export function openArchive(bytes: Uint8Array): Archive {
  const entries = new Map(listArchiveEntries(bytes).map((entry) => [entry.name.toLowerCase(), entry]));
  for (const entry of entries.values()) if (isXmlPart(entry)) rejectZipBomb(entry.unpackedBytes, bytes.length);
  let unpackedBytes = 0;

  async function* pieces(name: string): AsyncGenerator<string> {
    const entry = entries.get(name.toLowerCase());
    if (!entry) return;
    const decoder = new TextDecoder();
    let sliceLength = 0;
    for await (const chunk of unpack(bytes, entry)) {
      unpackedBytes += chunk.length;
      rejectZipBomb(unpackedBytes, bytes.length);
      yield decoder.decode(chunk, { stream: true });
      sliceLength += chunk.length;
      if (sliceLength < pieceLength) continue;
      sliceLength = 0;
      await yieldToEventLoop();
    }
    yield decoder.decode();
  }

  return {
    has: (name) => entries.has(name.toLowerCase()),
    pieces,
    text: async (name, maxCharacters) => {
      const parts: string[] = [];
      let length = 0;
      for await (const piece of pieces(name)) {
        length += piece.length;
        if (length > maxCharacters) throw tooLarge(`its part ${name} is longer than ${maxCharacters >> 20} MiB`);
        parts.push(piece);
      }
      return parts.join('');
    },
  };
}

/** Pictures and sounds are not unpacked. */
const isXmlPart = (entry: ArchiveEntry) => /\.(?:xml|rels)$/i.test(entry.name);

function rejectZipBomb(unpackedBytes: number, packedBytes: number): void {
  const isBomb = unpackedBytes > minBytesForRatioCheck && unpackedBytes > packedBytes * maxUnpackedRatio;
  if (unpackedBytes > maxUnpackedBytes || isBomb) throw tooLarge(`unpacked it takes more than ${unpackedBytes >> 20} MiB`);
}

async function* unpack(bytes: Uint8Array, entry: ArchiveEntry): AsyncGenerator<Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (entry.headerOffset + headerLength > bytes.length || view.getUint32(entry.headerOffset, true) !== headerSignature)
    throw damaged('it is cut off');
  const start =
    entry.headerOffset + headerLength + view.getUint16(entry.headerOffset + 26, true) + view.getUint16(entry.headerOffset + 28, true);
  const packed = bytes.subarray(start, start + entry.packedBytes);
  if (entry.method === 0) {
    for (let place = 0; place < packed.length; place += pieceLength) yield packed.subarray(place, place + pieceLength);
    return;
  }
  if (entry.method !== 8) throw damaged(`its part ${entry.name} is packed in an unknown way`);
  // A reader that stops early leaves the stream as it is: Node fails when a stream is cancelled that is still unpacking.
  const reader = toSliceStream(packed).pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } catch (error) {
    throw error instanceof UnparsableDocument ? error : damaged(`its part ${entry.name} cannot be unpacked`, error);
  }
}

function toSliceStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let place = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(place, place + sliceBytes));
      place += sliceBytes;
      if (place >= bytes.length) controller.close();
    },
  });
}
