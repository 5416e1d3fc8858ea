import { Buffer } from 'node:buffer';
import type { Table } from './blocks.ts';

/** Shorter texts stay as they are. */
const minLength = 4096;

/**
 * Keeps texts in UTF-8 where that is smaller: one letter beyond Latin 1 makes a string take two bytes for each of its letters, so that a table of
 * 25 MiB would take 50. The text that was last asked for stays unpacked, since whoever asks for one asks often.
 */
export class PackedTexts {
  #last: { bytes: Uint8Array; text: string } | undefined;

  /** The same table, whose `text` is unpacked when it is asked for. */
  pack(table: Table): Table {
    const { text, ...facts } = table;
    if (text.length < minLength || !/[^\0-\u{ff}]/u.test(text) || !text.isWellFormed()) return table;
    if (Buffer.byteLength(text) > text.length * 2) return table;
    const bytes = new TextEncoder().encode(text);
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
