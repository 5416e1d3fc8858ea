import { crc32 } from 'node:zlib';

// The layout of a zip archive: APPNOTE.TXT of PKWARE, 4.3.

/** A part of an archive. Its text is read when the part is written. */
export interface ArchivePart {
  name: string;
  pieces: AsyncIterable<string>;
}

/** A part that is written, as the directory lists it. Sizes and offset in bytes. */
interface WrittenPart {
  name: Uint8Array;
  checksum: number;
  packedBytes: number;
  unpackedBytes: number;
  headerOffset: number;
}

/** Beyond this, an archive needs zip64, which few programs stream. */
const maxBytes = 0xffff_ffff;
/** Deflate, names in UTF-8, and the sizes of a part behind its bytes. */
const method = 8;
const flags = 0x0808;
const version = 20;
/** 1 January 1980, the first day that the format knows. */
const date = 0x0021;

const encoder = new TextEncoder();

/**
 * Writes a zip archive, part after part, as its reader takes it. In memory are a piece of text, its packed bytes and the directory. Throws a
 * RangeError for an archive or a part of 4 GiB or more.
 */
export async function* writeArchive(parts: AsyncIterable<ArchivePart>): AsyncGenerator<Uint8Array, undefined, undefined> {
  const written: WrittenPart[] = [];
  let offset = 0;
  for await (const { name, pieces } of parts) {
    const part: WrittenPart = { name: encoder.encode(name), checksum: 0, packedBytes: 0, unpackedBytes: 0, headerOffset: offset };
    const header = toLocalHeader(part);
    yield header;
    for await (const bytes of deflate(countBytes(part, pieces))) {
      part.packedBytes += bytes.byteLength;
      yield bytes;
    }
    const descriptor = toFields([4, 0x08074b50], ...toSizes(part));
    yield descriptor;
    offset += header.byteLength + part.packedBytes + descriptor.byteLength;
    if (offset > maxBytes || part.unpackedBytes > maxBytes) throw new RangeError('an archive of 4 GiB or more cannot be written');
    written.push(part);
  }
  yield toDirectory(written, offset);
}

/** The bytes of a text, which are added to the sizes of its part. */
async function* countBytes(part: WrittenPart, pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array, undefined, undefined> {
  for await (const piece of pieces) {
    const bytes = encoder.encode(piece);
    part.checksum = crc32(bytes, part.checksum);
    part.unpackedBytes += bytes.byteLength;
    yield bytes;
  }
}

/** Packs bytes as they are read. A reader that stops early ends the source, too; an error of the source is thrown. */
async function* deflate(source: AsyncGenerator<Uint8Array, undefined, undefined>): AsyncGenerator<Uint8Array, undefined, undefined> {
  let failure: { error: unknown } | null = null;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await source.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        failure = { error };
        controller.error(error);
      }
    },
  });
  const reader = stream.pipeThrough(new CompressionStream('deflate-raw') as ReadableWritablePair<Uint8Array, Uint8Array>).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } catch (error) {
    throw failure === null ? error : (failure as { error: unknown }).error;
  } finally {
    await source.return(undefined);
    await reader.cancel().catch(() => {});
  }
}

const toSizes = ({ checksum, packedBytes, unpackedBytes }: WrittenPart): [bytes: 2 | 4, value: number][] => [
  [4, checksum],
  [4, packedBytes],
  [4, unpackedBytes],
];

const toLocalHeader = (part: WrittenPart): Uint8Array =>
  joinBytes([
    toFields(
      [4, 0x04034b50],
      [2, version],
      [2, flags],
      [2, method],
      [2, 0],
      [2, date],
      [4, 0],
      [4, 0],
      [4, 0],
      [2, part.name.byteLength],
      [2, 0],
    ),
    part.name,
  ]);

function toDirectory(parts: WrittenPart[], offset: number): Uint8Array {
  const entries = parts.flatMap((part) => [
    toFields(
      [4, 0x02014b50],
      [2, version],
      [2, version],
      [2, flags],
      [2, method],
      [2, 0],
      [2, date],
      ...toSizes(part),
      [2, part.name.byteLength],
      [2, 0],
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, part.headerOffset],
    ),
    part.name,
  ]);
  const bytes = joinBytes(entries);
  const end = toFields([4, 0x06054b50], [2, 0], [2, 0], [2, parts.length], [2, parts.length], [4, bytes.byteLength], [4, offset], [2, 0]);
  return joinBytes([bytes, end]);
}

/** Numbers one after the other, each in so many bytes, the lowest first. */
function toFields(...fields: [bytes: 2 | 4, value: number][]): Uint8Array {
  const view = new DataView(new ArrayBuffer(fields.reduce((sum, [bytes]) => sum + bytes, 0)));
  let place = 0;
  for (const [bytes, value] of fields) {
    if (bytes === 2) view.setUint16(place, value, true);
    else view.setUint32(place, value, true);
    place += bytes;
  }
  return new Uint8Array(view.buffer);
}

function joinBytes(parts: Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let place = 0;
  for (const part of parts) {
    joined.set(part, place);
    place += part.byteLength;
  }
  return joined;
}
