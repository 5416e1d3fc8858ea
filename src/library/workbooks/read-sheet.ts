import { pieceLength } from '../office-files/limits.ts';
import { XmlReader } from '../office-files/read-xml.ts';
import { tooLarge } from '../text/unparsable-document.ts';
import type { FormatNumber } from './number-formats.ts';
import type { PackedTexts } from './packed-texts.ts';
import { unescapeText } from './unescape-text.ts';

const maxColumns = 16_384;
const maxHiddenRanges = 100;

export interface SheetCell {
  /** From 1. */
  column: number;
  /** As the program shows it. */
  text: string;
  /** The value of a cell that holds a number. */
  number?: number;
  /** The cell shows an error, such as `#N/A`. */
  isError: boolean;
  /** The cell is in a hidden row or column. */
  isHidden: boolean;
}

export interface SheetRow {
  /** As the program numbers it, from 1. */
  number: number;
  /** The cells that hold anything, from left to right. */
  cells: SheetCell[];
}

interface CellSource {
  texts: PackedTexts;
  showNumber: FormatNumber;
  /** Of all cells: a text that is stored once may appear in many. */
  maxCharacters: number;
}

/** The rows of a sheet that hold anything, in batches, read from the pieces of its part. Throws `UnparsableDocument` above `maxCharacters`. */
export async function* readSheetRows(pieces: AsyncIterable<string>, source: CellSource): AsyncGenerator<SheetRow[], undefined, undefined> {
  const collector = new RowCollector(source);
  const reader = new XmlReader(collector);
  // An unpacked piece may be a thousand times as long as its packed bytes.
  for await (const piece of pieces)
    for (let start = 0; start < piece.length; start += pieceLength) {
      reader.write(piece.slice(start, start + pieceLength));
      const rows = collector.take();
      if (rows.length > 0) yield rows;
    }
  reader.end();
  const rows = collector.take();
  if (rows.length > 0) yield rows;
}

/** Collects the rows of SpreadsheetML (ECMA-376, part 1, 18.3). */
class RowCollector {
  readonly #source: CellSource;
  readonly #hiddenColumns: { from: number; to: number }[] = [];
  #rows: SheetRow[] = [];
  #row: SheetRow = { number: 0, cells: [] };
  #isHiddenRow = false;
  #characters = 0;
  #column = 0;
  #type = '';
  #style = 0;
  #value = '';
  #isInValue = false;
  #isSpoken = false;

  constructor(source: CellSource) {
    this.#source = source;
  }

  /** The rows that have ended since the last call. */
  take(): SheetRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open(name: string, attributes: Record<string, string>): void {
    if (name === 'col') {
      if (isTrue(attributes['hidden']) && this.#hiddenColumns.length < maxHiddenRanges)
        this.#hiddenColumns.push({ from: Number(attributes['min']), to: Number(attributes['max']) });
    } else if (name === 'row') {
      const next = this.#row.number + 1;
      this.#row = { number: Number(attributes['r'] ?? next) || next, cells: [] };
      this.#column = 0;
      this.#isHiddenRow = isTrue(attributes['hidden']);
    } else if (name === 'c') {
      this.#column = parseColumn(attributes['r']) ?? this.#column + 1;
      this.#type = attributes['t'] ?? 'n';
      this.#style = Number(attributes['s'] ?? 0);
      this.#value = '';
    } else if (name === 'rPh') this.#isSpoken = true;
    else if (name === 'v' || name === 't') this.#isInValue = !this.#isSpoken;
  }

  text(piece: string): void {
    if (this.#isInValue) this.#value += piece;
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#isInValue = false;
    else if (name === 'rPh') this.#isSpoken = false;
    else if (name === 'c' && this.#value !== '' && this.#column <= maxColumns) this.#addCell();
    else if (name === 'row' && this.#row.cells.length > 0) {
      sortByColumn(this.#row.cells);
      this.#rows.push(this.#row);
      this.#row = { number: this.#row.number, cells: [] };
    }
  }

  #addCell(): void {
    const shown = formatCell(this.#value, this.#type, this.#style, this.#source);
    const { maxCharacters } = this.#source;
    this.#characters += shown.text.length;
    if (this.#characters > maxCharacters)
      throw tooLarge(`it holds more than ${Math.floor(maxCharacters / 1e6)} million characters of text`);
    const column = this.#column;
    const isHidden = this.#isHiddenRow || this.#hiddenColumns.some(({ from, to }) => from <= column && column <= to);
    this.#row.cells.push({ column, ...shown, isError: this.#type === 'e', isHidden });
  }
}

const isTrue = (value: string | undefined): boolean => value === '1' || value === 'true';

function sortByColumn(cells: SheetCell[]): void {
  const isSorted = cells.every(({ column }, index) => index === 0 || cells[index - 1]!.column < column);
  if (!isSorted) cells.sort((one, other) => one.column - other.column);
}

function formatCell(value: string, type: string, style: number, { texts, showNumber }: CellSource): Pick<SheetCell, 'text' | 'number'> {
  if (type === 's') return { text: texts.at(Number(value)) ?? '' };
  if (type === 'b') return { text: value === '1' ? 'TRUE' : 'FALSE' };
  if (type !== 'n') return { text: unescapeText(value) };
  const number = Number(value);
  // A number that some program wrote with more digits than a number has is an identifier.
  if (/^-?\d{16,}$/.test(value) || Number.isNaN(number)) return { text: value };
  return { text: showNumber(number, style), number };
}

/** 28 for "AB12". */
function parseColumn(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0];
  return letters === undefined ? undefined : [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}
