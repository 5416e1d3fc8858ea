import { Buffer } from 'node:buffer';
import type { Table } from './blocks.ts';

/** Shorter texts stay as they are. */
const minLength = 4096;
/** How much more than a string a packed text may take: a letter of Latin 1 beyond ASCII is one byte in a string and two in UTF-8. */
const maxGrowth = 1.25;

/**
 * Keeps texts of large tables as bytes of UTF-8 beside the heap, where no collection of garbage copies them again and again while millions of small
 * strings come and go. One letter beyond Latin 1 would make a string take two bytes for each of its letters, too. The text that was last asked
 * for stays unpacked, since whoever asks for one asks often.
 */
export class PackedTexts {
  #last: { bytes: Uint8Array; text: string } | undefined;

  /** The same table, whose `text` is unpacked when it is asked for. */
  pack(table: Table): Table {
    const { text, ...facts } = table;
    if (text.length < minLength || !text.isWellFormed()) return table;
    const bytesPerLetter = /[^\0-\u{ff}]/u.test(text) ? 2 : 1;
    const length = Buffer.byteLength(text);
    if (length > text.length * bytesPerLetter * maxGrowth) return table;
    const bytes = new Uint8Array(length);
    new TextEncoder().encodeInto(text, bytes);
    const unpack = () => this.#unpack(bytes);
    return {
      ...facts,
      get text() {
        return unpack();
      },
    };
  }

  #unpack(bytes: Uint8Array): string {
    if (this.#last?.bytes !== bytes) this.#last = { bytes, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
    return this.#last.text;
  }
}
