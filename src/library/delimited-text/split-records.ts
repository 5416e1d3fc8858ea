import { UnreadableFileError } from '../text/unreadable-file.ts';
import { scanRecord, type Escape } from './scan-record.ts';
import { splitBrokenLine } from './split-broken-line.ts';

/**
 * A record of a delimited text. `text`: well formed, with doubled quotes. `cells`: those of a line whose quotes are broken, as they stand; `isClear`: each of its
 * quoted cells has an end, and there are as many as columns. `file_row`: its number in the text, from 1; blank lines count.
 */
export type RawRecord = SoundRecord | BrokenRecord;
export interface SoundRecord {
  file_row: number;
  text: string;
  cellCount: number;
}
interface BrokenRecord {
  file_row: number;
  cells: string[];
  isClear: boolean;
}

export interface RecordShape {
  delimiter: string;
  /** The usual number of cells; undefined while it is unknown. */
  width: number | undefined;
}

/** The maximum of records that are in memory at once. */
const maxBatchLength = 1000;
/** The maximum length of a record, in characters. */
const maxRecordLength = 1 << 20;
/** A quoted cell with at least so many whole lines, each of which has the cells of a row, is not one cell: its quotes belong to different rows. */
const minSwallowedRows = 3;

/**
 * Splits a text into records, in time linear in its length, whatever its quotes. A record with a broken quote ends at its line end, so that the records after it
 * are read. Throws `UnreadableFileError` for a line of more than 1 Mi characters.
 */
export class RecordSplitter {
  private readonly shape: RecordShape;
  private text = '';
  private at = 0;
  private fileRow: number;
  private escape: Escape = 'doubled';
  /** No quoted cell that passes a line end before this place is whole. */
  private readonly noLineEndsBefore: Record<Escape, number> = { doubled: 0, backslash: 0 };
  /** The length of the text that is read again when more arrives; it is doubled each time, so that a long record is not read for each piece. */
  private wanted = 0;

  constructor(shape: RecordShape, rowsBefore = 0) {
    this.shape = shape;
    this.fileRow = rowsBefore;
  }

  /** Yields the records that end in the text so far, in batches of a bounded size. `isLast`: no more text follows. */
  *split(piece: string, isLast: boolean): Generator<RawRecord[], undefined, undefined> {
    this.text = this.text.slice(this.at) + piece;
    for (const escape of ['doubled', 'backslash'] as const) this.noLineEndsBefore[escape] -= this.at;
    this.at = 0;
    if (this.text.length < this.wanted && !isLast) return;
    let records: RawRecord[] = [];
    while (this.at < this.text.length) {
      const start = this.at;
      const record = this.next(isLast);
      if (record === 'cut') {
        this.wanted = (this.text.length - start) * 2;
        if (records.length > 0) yield records;
        return;
      }
      this.fileRow += 1;
      if (record !== 'blank') records.push(record);
      if (records.length < maxBatchLength) continue;
      yield records;
      records = [];
    }
    this.wanted = 0;
    if (records.length > 0) yield records;
  }

  private next(isLast: boolean): RawRecord | 'blank' | 'cut' {
    const start = this.at;
    for (const escape of this.escape === 'doubled' ? (['doubled', 'backslash'] as const) : (['backslash', 'doubled'] as const)) {
      const scanned = scanRecord(this.text, start, {
        delimiter: this.shape.delimiter,
        escape,
        isLast,
        noLineEndsBefore: this.noLineEndsBefore[escape],
        maxLength: maxRecordLength,
      });
      if (scanned === 'cut') {
        if (this.text.length - start > maxRecordLength) throw tooLong(this.fileRow + 1);
        return 'cut';
      }
      if ('broken' in scanned) {
        this.forbidLineEnds(escape, scanned.broken);
        continue;
      }
      const { end, cells: cellCount, quoted, isMultiline } = scanned;
      if (isMultiline && this.swallowsRows(start, end)) {
        this.forbidLineEnds(escape, end);
        continue;
      }
      if (end - start > maxRecordLength) throw tooLong(this.fileRow + 1);
      if (escape === 'backslash' && this.escape === 'doubled' && quoted.length > 0) this.escape = 'backslash';
      this.at = this.afterLineEnd(end);
      const text = escape === 'doubled' ? this.text.slice(start, end) : this.doubleQuotes(start, end, quoted);
      return text.trim() === '' ? 'blank' : { file_row: this.fileRow + 1, text, cellCount };
    }
    return this.nextBrokenLine(isLast);
  }

  private nextBrokenLine(isLast: boolean): RawRecord | 'cut' {
    const start = this.at;
    let end = start;
    while (end < this.text.length && this.text[end] !== '\n' && this.text[end] !== '\r') end += 1;
    if (end - start > maxRecordLength) throw tooLong(this.fileRow + 1);
    if (!isLast && end + 1 >= this.text.length) return 'cut';
    this.at = this.afterLineEnd(end);
    const { cells, isClosed } = splitBrokenLine(this.text.slice(start, end), this.shape.delimiter);
    return { file_row: this.fileRow + 1, cells, isClear: isClosed && cells.length === this.shape.width };
  }

  private forbidLineEnds(escape: Escape, before: number): void {
    this.noLineEndsBefore[escape] = Math.max(this.noLineEndsBefore[escape], before);
  }

  private afterLineEnd(end: number): number {
    return end + (this.text[end] === '\r' && this.text[end + 1] === '\n' ? 2 : 1);
  }

  private swallowsRows(start: number, end: number): boolean {
    const { width = 0, delimiter } = this.shape;
    if (width < 3) return false;
    const inner = this.text
      .slice(start, end)
      .split(/\r\n?|\n/)
      .slice(1, -1)
      .filter((line) => line.trim() !== '');
    return inner.length >= minSwallowedRows && inner.every((line) => line.split(delimiter).length === width);
  }

  /** The record with the quotes of its quoted cells doubled instead of behind backslashes. */
  private doubleQuotes(start: number, end: number, quoted: [number, number][]): string {
    const parts: string[] = [];
    let done = start;
    for (const [opening, closing] of quoted) {
      const cell = this.text.slice(opening + 1, closing).replace(/"/g, '""');
      parts.push(this.text.slice(done, opening + 1), cell.replace(/\\("")|\\(\\)/g, '$1$2'));
      done = closing;
    }
    return parts.join('') + this.text.slice(done, end);
  }
}

const tooLong = (row: number) =>
  new UnreadableFileError(`Row ${row} is longer than 1 MiB; a quote in it may never be closed, or the file is no table`);
