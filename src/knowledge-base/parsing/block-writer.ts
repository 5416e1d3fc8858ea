import type { Block, Table } from './blocks.ts';
import { cleanLine, cleanText } from './clean-text.ts';
import { maxBlocks, maxCells, maxCharacters, maxRows } from './limits.ts';
import { PackedTexts } from './packed-texts.ts';
import { WarningCounts } from './warnings.ts';
import { tooLarge } from '../../library/text/unparsable-document.ts';

/** Long tables are split into blocks of this size, so that no string of a whole file is built. */
const tablePartLength = 1 << 16;
/** In code units. */
export const maxParagraphLength = 1 << 16;
/** Right of the header, longer runs of empty cells are cut, so that a stray cell far to the right makes no row of thousands of separators. */
export const maxConsecutiveEmptyCells = 20;
/** Up to this width, cells stay below their names. */
export const maxAlignedColumns = 256;

/** `columns`: the width of its widest row. `isTitle`: it has only rows of one cell so far, which are titles if a row of names follows. */
interface OpenTable {
  header: string | null;
  rows: string[];
  columns: number;
  length: number;
  parts: number;
  isTitle: boolean;
}

/**
 * Collects the output of a reader, in reading order, as blocks of clean text without blank ones. Throws `UnparsableDocument` (`too_large`)
 * above the limits of a document.
 */
export class BlockWriter {
  readonly blocks: Block[] = [];
  readonly warnings = new WarningCounts();
  /** The names of parts of an Office file: pictures that a text of the file describes. */
  readonly describedImages = new Set<string>();
  page: number | null = null;
  private characters = 0;
  private rows = 0;
  private cells = 0;
  private openTable: OpenTable | undefined;
  private readonly packedTexts = new PackedTexts();

  heading(level: number, text: string): void {
    this.add({ kind: 'heading', level: Math.min(Math.max(level, 1), 6), text: cleanLine(text), page: this.page });
  }

  paragraph(text: string): void {
    for (const piece of splitLongText(text)) this.add({ kind: 'paragraph', text: cleanText(piece), page: this.page });
  }

  listItem(text: string): void {
    this.add({ kind: 'list_item', text: cleanText(text), page: this.page });
  }

  /** Without `isHeader`, the first row, or the first below titles of one cell, counts as the header when it looks like one. */
  row(cells: string[], isHeader?: boolean): void {
    this.countRow(cells);
    const cleaned = dropEmptyCells(cells.map(cleanLine), Math.min(this.openTable?.columns ?? 0, maxAlignedColumns));
    if (cleaned.length === 0) return;
    const row = cleaned.join(' | ').trim();
    if (this.openTable?.isTitle && looksLikeHeader(cleaned)) this.endTable();
    if (this.openTable && cleaned.length > 1) this.openTable.isTitle = false;
    this.openTable ??= {
      header: isHeader === true || (isHeader === undefined && looksLikeHeader(cleaned)) ? row : null,
      rows: [],
      columns: 0,
      length: 0,
      parts: 0,
      isTitle: isHeader === undefined && cleaned.length === 1,
    };
    this.openTable.columns = Math.max(this.openTable.columns, cleaned.length);
    this.openTable.rows.push(row);
    this.openTable.length += row.length + 1;
    if (this.openTable.length >= tablePartLength) this.writeRows(this.openTable);
  }

  /** Ends the current table. Any other kind of block ends it too. */
  endTable(): void {
    const table = this.openTable;
    this.openTable = undefined;
    if (table && table.rows.length > 0) this.writeRows(table);
  }

  /** The next rows continue the current table on another page. */
  continueTable(page: number): void {
    if (this.openTable && this.openTable.rows.length > 0) this.writeRows(this.openTable);
    this.page = page;
  }

  /** Adds a block of another reader. */
  add(block: Block): void {
    if (this.openTable) this.endTable();
    if (block.text !== '') this.push(block);
  }

  private countRow(cells: string[]): void {
    this.rows += 1;
    this.cells += cells.length;
    if (this.rows > maxRows) throw tooLarge(`it holds more than ${maxRows} rows of tables`);
    if (this.cells > maxCells) throw tooLarge(`it holds more than ${maxCells} cells of tables`);
    const length = cells.reduce((sum, cell) => sum + cell.length, 0);
    if (this.characters + length > maxCharacters) throw tooMuchText();
  }

  private writeRows(table: OpenTable): void {
    const part: Table = { kind: 'table', header: table.header, isContinued: table.parts > 0, text: table.rows.join('\n'), page: this.page };
    table.rows = [];
    table.length = 0;
    table.parts += 1;
    this.push(part);
  }

  private push(block: Block): void {
    this.characters += block.text.length;
    if (this.characters > maxCharacters) throw tooMuchText();
    if (this.blocks.length >= maxBlocks) throw tooLarge(`it holds more than ${maxBlocks} paragraphs`);
    this.blocks.push(block.kind === 'table' ? this.packedTexts.pack(block) : block);
  }
}

const tooMuchText = () => tooLarge(`it holds more than ${Math.floor(maxCharacters / 1e6)} million characters of text`);

/** Splits a text of megabytes without paragraphs at blanks: string operations need several times its size. */
function* splitLongText(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > maxParagraphLength) {
    const end = start + maxParagraphLength;
    const blank = Math.max(text.lastIndexOf('\n', end), text.lastIndexOf(' ', end));
    const isLowSurrogate = /[\udc00-\udfff]/.test(text.charAt(end));
    const cut = blank > start ? blank : isLowSurrogate ? end - 1 : end;
    yield text.slice(start, cut);
    start = cut;
  }
  yield text.slice(start);
}

/** The cells without trailing empty ones and, right of the first `columns`, without long runs of empty ones. */
function dropEmptyCells(cells: string[], columns: number): string[] {
  const last = cells.findLastIndex((cell) => cell !== '');
  let empty = 0;
  return cells.slice(0, last + 1).filter((cell, index) => {
    empty = cell === '' ? empty + 1 : 0;
    return empty <= maxConsecutiveEmptyCells || index < columns;
  });
}

/** Whether a row looks like a header: every cell has a short text, and none is a number. */
function looksLikeHeader(cells: string[]): boolean {
  return (
    cells.length > 1 && cells.every((cell) => cell !== '' && cell.length <= 80 && !/^[-+(]?[\p{Sc}\s]*\d[\d\s.,:/%-]*\)?$/u.test(cell))
  );
}
