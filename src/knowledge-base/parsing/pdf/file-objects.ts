import { tooLarge } from '../unparsable-document.ts';
import { exportAnew, mostUnpackedStream, packingIn, endOf, withPlainNames } from './refuse-bombs.ts';
import { unpackedPieces } from './unpack-stream.ts';

/** Of all that is looked through, in bytes. */
const mostUnpackedInAll = 512 << 20;
const mostVersions = 1000;

/** An object of the file, or one that is packed into a stream with others. `start`: where the bytes of a stream begin. */
export interface FileObject {
  text: string;
  start: number | undefined;
}

/** All objects by number. A file may have several of a number, and which of them is read is told elsewhere: all count. */
export class FileObjects {
  private readonly bytes: Uint8Array;
  private readonly file: string;
  private readonly found = new Map<number, FileObject[]>();

  private unpackedInAll = 0;

  private constructor(bytes: Uint8Array, file: string) {
    this.bytes = bytes;
    this.file = file;
  }

  static async of(bytes: Uint8Array, file: string): Promise<FileObjects> {
    const objects = new FileObjects(bytes, file);
    for (const { index, 0: mark, 1: number } of file.matchAll(/(?<!\d)(\d{1,10})[\s\0]+\d{1,5}[\s\0]+obj(?![a-z])/g)) {
      const begin = index + mark.length;
      const object = objects.objectAt(begin);
      objects.add(Number(number), object);
      if (object.start !== undefined && /\/ObjStm\b/.test(object.text))
        objects.addPacked(await objects.unpacked(object), /\/First[\s\0]+(\d+)/.exec(object.text)?.[1]);
    }
    return objects;
  }

  get(number: number): FileObject[] {
    return this.found.get(number) ?? [];
  }

  numbered(): IterableIterator<[number, FileObject[]]> {
    return this.found.entries();
  }

  /** What a stream unpacks to, as Latin 1; an empty text where it has none. */
  async unpacked({ text, start }: FileObject): Promise<string> {
    if (start === undefined) return '';
    const decoder = new TextDecoder('latin1');
    let unpacked = '';
    for await (const piece of unpackedPieces(this.bytes.subarray(start, endOf(this.file, start)), packingIn(text))) {
      unpacked += decoder.decode(piece);
      if (unpacked.length > mostUnpackedStream) break;
      this.unpackedInAll += piece.length;
      if (this.unpackedInAll > mostUnpackedInAll) throw tooLarge(`its text takes more than ${mostUnpackedInAll >> 20} MiB unpacked`);
    }
    return unpacked;
  }

  private objectAt(begin: number): FileObject {
    const ends = /endobj|(?<![a-z])stream\r?\n|(?<!\d)\d{1,10}[\s\0]+\d{1,5}[\s\0]+obj(?![a-z])/g;
    ends.lastIndex = begin;
    const end = ends.exec(this.file);
    const text = withPlainNames(this.file.slice(begin, end?.index ?? this.file.length));
    return { text, start: end?.[0].startsWith('stream') ? end.index + end[0].length : undefined };
  }

  /** Pairs of numbers, of an object and of its place from `first` on, come before the objects. */
  private addPacked(unpacked: string, first = '0'): void {
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
      this.add(number, { text: withPlainNames(unpacked.slice(place, end)), start: undefined });
    }
  }

  private add(number: number, object: FileObject): void {
    const others = this.found.get(number);
    if (others && others.length >= mostVersions) throw tooLarge(`it holds more than ${mostVersions} versions of a part`, exportAnew);
    if (others) others.push(object);
    else this.found.set(number, [object]);
  }
}
