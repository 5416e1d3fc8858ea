import { pieceLength } from '../office-files/limits.ts';
import { showSymbols } from '../office-files/symbol-fonts.ts';
import { XmlReader } from '../office-files/read-xml.ts';
import { damaged, tooLarge } from '../text/unparsable-document.ts';
import { CellText } from './cell-text.ts';
import type { CellStyles } from './cell-styles.ts';
import type { PackedTexts } from './packed-texts.ts';

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
  /** The cell is in a hidden row or column, or of a format that shows nothing. */
  isHidden: boolean;
  /** The cell has a formula, whose result the file leaves out. */
  isUnsolved: boolean;
}

export interface SheetRow {
  /** As the program numbers it, from 1. */
  number: number;
  /** The cells that hold anything, from left to right. */
  cells: SheetCell[];
}

interface CellSource {
  /** Of the sheet. */
  name: string;
  texts: PackedTexts;
  styles: CellStyles;
  /** Of all cells: a text that is stored once may appear in many. */
  maxCharacters: number;
  /** Is given the headers and footers that are printed on each page, in their code (ECMA-376, part 1, 18.3.1.46). */
  onPrinted?: ((code: string) => void) | undefined;
  /** Is told the font of each symbol that is left out. */
  onUnreadSymbol: (font: string) => void;
}

const printElements = new Set(['oddHeader', 'evenHeader', 'firstHeader', 'oddFooter', 'evenFooter', 'firstFooter']);

/**
 * The rows of a sheet that hold anything, in batches, read from the pieces of its part. Throws `UnparsableDocument` above `maxCharacters`, and at
 * the end of a part that is cut off or missing.
 */
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
  if (!reader.isWhole) throw damaged(`its sheet "${source.name}" is missing or ends in the middle`);
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
  #isFormula = false;
  #hasValue = false;
  readonly #cell: CellText;
  #printed: string | undefined;

  constructor(source: CellSource) {
    this.#source = source;
    this.#cell = new CellText(source.onUnreadSymbol);
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
      [this.#isFormula, this.#hasValue] = [false, false];
      this.#cell.start();
    } else if (printElements.has(name)) this.#printed = '';
    else {
      this.#isFormula ||= name === 'f';
      this.#hasValue ||= name === 'v';
      this.#cell.open(name, attributes);
    }
  }

  text(piece: string): void {
    if (this.#printed === undefined) this.#cell.add(piece);
    else this.#printed += piece;
  }

  close(name: string): void {
    if (name === 'c') this.#closeCell();
    else if (name === 'row' && this.#row.cells.length > 0) {
      sortByColumn(this.#row.cells);
      this.#rows.push(this.#row);
      this.#row = { number: this.#row.number, cells: [] };
    } else if (this.#printed !== undefined && printElements.has(name)) {
      this.#source.onPrinted?.(this.#printed);
      this.#printed = undefined;
    } else this.#cell.close(name);
  }

  #closeCell(): void {
    // Programs that do not calculate write an empty value; the empty text that a formula gives is of the type of texts.
    const isEmptyText = this.#type === 'str' && this.#hasValue;
    const isUnsolved = this.#isFormula && this.#cell.raw.trim() === '' && !isEmptyText;
    if (this.#column <= maxColumns && (this.#cell.raw !== '' || isUnsolved)) this.#addCell(isUnsolved);
  }

  #addCell(isUnsolved: boolean): void {
    const shown = isUnsolved ? { text: '' } : formatCell(this.#cell, this.#type, this.#style, this.#source);
    const { maxCharacters } = this.#source;
    this.#characters += shown.text.length;
    if (this.#characters > maxCharacters)
      throw tooLarge(`it holds more than ${Math.floor(maxCharacters / 1e6)} million characters of text`);
    const column = this.#column;
    const isInHidden = this.#isHiddenRow || this.#hiddenColumns.some(({ from, to }) => from <= column && column <= to);
    const isHidden = isInHidden || (this.#type === 'n' && !isUnsolved && shown.text === '');
    this.#row.cells.push({ column, ...shown, isError: this.#type === 'e', isHidden, isUnsolved });
  }
}

const isTrue = (value: string | undefined): boolean => value === '1' || value === 'true';

function sortByColumn(cells: SheetCell[]): void {
  const isSorted = cells.every(({ column }, index) => index === 0 || cells[index - 1]!.column < column);
  if (!isSorted) cells.sort((one, other) => one.column - other.column);
}

function formatCell(cell: CellText, type: string, style: number, source: CellSource): Pick<SheetCell, 'text' | 'number'> {
  const { texts, styles } = source;
  const value = cell.raw;
  const inItsFont = (text: string, hasOwnFonts: boolean) =>
    hasOwnFonts ? text : showSymbols(text, styles.fontOf(style), source.onUnreadSymbol);
  if (type === 's') return { text: inItsFont(texts.at(Number(value)) ?? '', texts.hasOwnFonts(Number(value))) };
  if (type === 'b') return { text: value === '1' ? 'TRUE' : 'FALSE' };
  if (type !== 'n') return { text: type === 'e' ? cell.shown : inItsFont(cell.shown, cell.hasOwnFonts) };
  const number = Number(value);
  // A number that some program wrote with more digits than a number has is an identifier.
  if (/^-?\d{16,}$/.test(value) || Number.isNaN(number)) return { text: value };
  return { text: styles.showNumber(number, style), number };
}

/** 28 for "AB12". */
function parseColumn(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0];
  return letters === undefined ? undefined : [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}
