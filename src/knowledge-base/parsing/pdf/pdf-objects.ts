import { decodeLatin1 } from '../../../library/text/decode-latin1.ts';
import { tooLarge } from '../../../library/text/unparsable-document.ts';
import { exportAgainAdvice, maxUnpackedStreamBytes, parsePacking, findStreamEnd, decodeNames } from './reject-decompression-bombs.ts';
import { unpackStream } from './unpack-stream.ts';

/** The maximum of all unpacked streams. */
const maxTotalUnpackedBytes = 512 << 20;
const maxVersions = 1000;

/** An object of the file, or an object packed with others into a stream. `start`: the index of a stream's first byte. */
export interface PdfObject {
  text: string;
  start: number | undefined;
}

/** All objects by number. A file may have several objects of a number; which one the reader takes is not known here, so all count. */
export class PdfObjects {
  private readonly bytes: Uint8Array;
  private readonly file: string;
  private readonly objects = new Map<number, PdfObject[]>();

  private totalUnpackedBytes = 0;

  private constructor(bytes: Uint8Array, file: string) {
    this.bytes = bytes;
    this.file = file;
  }

  static async read(bytes: Uint8Array, file: string): Promise<PdfObjects> {
    const objects = new PdfObjects(bytes, file);
    for (const { index, 0: mark, 1: number } of file.matchAll(/(?<!\d)(\d{1,10})[\s\0]+\d{1,5}[\s\0]+obj(?![a-z])/g)) {
      const begin = index + mark.length;
      const object = objects.readObjectAt(begin);
      objects.add(Number(number), object);
      if (object.start !== undefined && /\/ObjStm\b/.test(object.text))
        objects.addPackedObjects(await objects.unpack(object), /\/First[\s\0]+(\d+)/.exec(object.text)?.[1]);
    }
    return objects;
  }

  get(number: number): PdfObject[] {
    return this.objects.get(number) ?? [];
  }

  entries(): IterableIterator<[number, PdfObject[]]> {
    return this.objects.entries();
  }

  /** The unpacked bytes of a stream, as Latin 1; empty when the object has none. */
  async unpack({ text, start }: PdfObject): Promise<string> {
    if (start === undefined) return '';
    let unpacked = '';
    for await (const piece of unpackStream(this.bytes.subarray(start, findStreamEnd(this.file, start)), parsePacking(text))) {
      unpacked += decodeLatin1(piece);
      if (unpacked.length > maxUnpackedStreamBytes) break;
      this.totalUnpackedBytes += piece.length;
      if (this.totalUnpackedBytes > maxTotalUnpackedBytes)
        throw tooLarge(`its text takes more than ${maxTotalUnpackedBytes >> 20} MiB unpacked`);
    }
    return unpacked;
  }

  private readObjectAt(begin: number): PdfObject {
    const ends = /endobj|(?<![a-z])stream\r?\n|(?<!\d)\d{1,10}[\s\0]+\d{1,5}[\s\0]+obj(?![a-z])/g;
    ends.lastIndex = begin;
    const end = ends.exec(this.file);
    const text = decodeNames(this.file.slice(begin, end?.index ?? this.file.length));
    return { text, start: end?.[0].startsWith('stream') ? end.index + end[0].length : undefined };
  }

  /** The unpacked text begins with pairs of numbers: of an object, and of its place after `first`. */
  private addPackedObjects(unpacked: string, first = '0'): void {
    const numbers = unpacked.slice(0, Number(first)).match(/\d+/g)?.map(Number) ?? [];
    const pairs = numbers.flatMap((number, index) =>
      index % 2 === 0 ? [{ number, place: Number(first) + (numbers[index + 1] ?? 0) }] : [],
    );
    pairs.sort((one, other) => other.place - one.place);
    let end = unpacked.length;
    let last = end;
    for (const { number, place } of pairs) {
      if (place < last) end = last;
      last = place;
      this.add(number, { text: decodeNames(unpacked.slice(place, end)), start: undefined });
    }
  }

  private add(number: number, object: PdfObject): void {
    const others = this.objects.get(number);
    if (others && others.length >= maxVersions) throw tooLarge(`it holds more than ${maxVersions} versions of a part`, exportAgainAdvice);
    if (others) others.push(object);
    else this.objects.set(number, [object]);
  }
}
