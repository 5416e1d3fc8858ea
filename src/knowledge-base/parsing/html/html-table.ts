import { BlockWriter } from '../block-writer.ts';
import type { Block } from '../blocks.ts';

interface Cell {
  blocks: Block[];
  isHeader: boolean;
  columns: number;
  rows: number;
}

/** `isCovered`: a cell of a row above spans this row. */
interface Row {
  cells: Cell[];
  isCovered: boolean;
}

/** A table with more rows is a data table, and its rows are written one by one. */
const layoutCheckRows = 40;
const maxCellLength = 1500;
const maxColumnSpan = 20;
/** Further cells cannot span rows. */
const maxRowSpanColumns = 1000;

/**
 * Reads one table. Pages and e-mails also use tables for layout: a row of a single cell, or with headings, tables or long texts in its
 * cells, is read cell by cell as plain blocks.
 */
export class HtmlTable {
  private rows: Row[] = [];
  private row: Cell[] = [];
  private isRowOpen = false;
  /** How many of the next rows have a cell of a row above. */
  private coveredRows = 0;
  private cell: Cell | undefined;
  private isInHead = false;
  private isStreamed = false;
  private hasLayout = false;
  /** For each column: the text of a cell that spans rows, and its number of remaining rows. */
  private rowSpans: ({ text: string; rows: number } | undefined)[] = [];

  get isInCell(): boolean {
    return this.cell !== undefined;
  }

  /** A block inside the open cell. */
  add(block: Block): void {
    this.cell?.blocks.push(block);
  }

  openHead(): void {
    this.isInHead = true;
  }

  openRow(writer?: BlockWriter): void {
    this.closeRow(writer);
    this.isRowOpen = true;
  }

  openCell(isHeader: boolean, columns: number, rows: number): void {
    this.closeCell();
    this.cell = { blocks: [], isHeader: isHeader || this.isInHead, columns: Math.min(columns, maxColumnSpan), rows };
  }

  closeCell(): void {
    if (this.cell) this.row.push(this.cell);
    this.cell = undefined;
  }

  /** `writer`: where rows may be written at once; absent inside another table. */
  closeRow(writer?: BlockWriter): void {
    this.closeCell();
    // A row may have no cells but those of rows above.
    if (this.row.length > 0 || (this.isRowOpen && this.coveredRows > 0)) {
      const row = { cells: this.row, isCovered: this.coveredRows > 0 };
      this.coveredRows = row.cells.reduce((most, cell) => Math.max(most, cell.rows - 1), this.coveredRows - 1);
      this.rows.push(row);
      // Rows are checked once each, until one is a header.
      this.hasLayout ||= !this.isStreamed && isLayout(row);
    }
    this.row = [];
    this.isRowOpen = false;
    if (!writer || (!this.isStreamed && (this.rows.length < layoutCheckRows || this.hasLayout))) return;
    this.isStreamed = true;
    this.writeRows(writer);
  }

  closeHead(): void {
    this.isInHead = false;
  }

  /** The remaining rows when the table ends. */
  close(): Block[] {
    this.closeRow();
    const local = new BlockWriter();
    this.writeRows(local);
    local.endTable();
    return local.blocks;
  }

  private writeRows(writer: BlockWriter): void {
    for (const row of this.rows) {
      if (!this.isStreamed && isLayout(row)) {
        for (const block of row.cells.flatMap((cell) => cell.blocks)) writer.add(block);
        // It is a row of the cells above, too.
        for (let column = 0; column < this.rowSpans.length; column += 1) this.takeFromAbove(column);
      } else writer.row(this.toCellTexts(row.cells), (row.cells.length > 0 && row.cells.every((cell) => cell.isHeader)) || undefined);
    }
    this.rows = [];
  }

  private toCellTexts(row: Cell[]): string[] {
    const texts: string[] = [];
    const fillFromAbove = () => {
      while (this.rowSpans[texts.length]) texts.push(this.takeFromAbove(texts.length));
    };
    for (const cell of row) {
      fillFromAbove();
      const text = cell.blocks.map((block) => block.text).join(' ');
      for (let column = 0; column < cell.columns; column += 1) {
        if (cell.rows > 1 && texts.length < maxRowSpanColumns)
          this.rowSpans[texts.length] = { text: column === 0 ? text : '', rows: cell.rows - 1 };
        texts.push(column === 0 ? text : '');
      }
    }
    // Cells that span rows may stand right of a row that is cut short.
    const last = this.rowSpans.findLastIndex((above) => above !== undefined);
    while (texts.length <= last) texts.push(this.takeFromAbove(texts.length));
    return texts;
  }

  /** The text of the cell that spans this row in a column, whose remaining rows are one less; empty where there is none. */
  private takeFromAbove(column: number): string {
    const above = this.rowSpans[column];
    if (above === undefined) return '';
    this.rowSpans[column] = above.rows > 1 ? { text: above.text, rows: above.rows - 1 } : undefined;
    return above.text;
  }
}

function isLayout({ cells, isCovered }: Row): boolean {
  return (cells.length === 1 && cells[0]?.columns === 1 && !isCovered) || !cells.every((cell) => cell.blocks.every(isCellText));
}

const isCellText = (block: Block) => block.kind !== 'heading' && block.kind !== 'table' && block.text.length <= maxCellLength;
