import { makeWorkbook, type Sheet } from '../knowledge-base/parsing/make-archive.ts';

/** A text, a number with the index of its style, a formula with its value as XML, or nothing. */
type Cell = string | number | { number: number; style: number } | { formula: string; value: string } | null;

export interface CellSheet extends Pick<Sheet, 'name' | 'state' | 'columns'> {
  rows: Cell[][];
  /** The numbers of hidden rows, from 1. */
  hidden?: number[];
}

const escapeXml = (text: string): string => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** 0 is A, 26 is AA. */
const lettersOf = (column: number): string =>
  (column < 26 ? '' : lettersOf(Math.floor(column / 26) - 1)) + String.fromCharCode(65 + (column % 26));

/** A workbook as Excel writes it: texts are shared, empty cells and rows left out. `formats`: the pattern of each style, from 1. */
export function workbookOf(sheets: CellSheet[], formats: string[] = []): Promise<Uint8Array> {
  const texts = new Map<string, number>();
  const indexOf = (text: string) => texts.get(text) ?? texts.set(text, texts.size).get(text)!;
  const toCell = (cell: Cell, place: string) => {
    if (cell === null || cell === '') return '';
    if (typeof cell === 'string') return `<c r="${place}" t="s"><v>${indexOf(cell)}</v></c>`;
    if (typeof cell === 'object' && 'formula' in cell) return `<c r="${place}"><f>${escapeXml(cell.formula)}</f>${cell.value}</c>`;
    const { number, style } = typeof cell === 'number' ? { number: cell, style: 0 } : cell;
    return `<c r="${place}" s="${style}"><v>${number}</v></c>`;
  };
  const toRow = (cells: Cell[], row: number, hidden: number[]) =>
    cells.length === 0
      ? ''
      : `<row r="${row}"${hidden.includes(row) ? ' hidden="1"' : ''}>${cells.map((cell, column) => toCell(cell, lettersOf(column) + String(row))).join('')}</row>`;
  const written = sheets.map(({ rows, hidden = [], ...sheet }) => ({
    ...sheet,
    rows: rows.map((cells, index) => toRow(cells, index + 1, hidden)).join(''),
  }));
  const shared = [...texts.keys()].map((text) => `<t xml:space="preserve">${escapeXml(text)}</t>`);
  return makeWorkbook(written, { texts: shared, formats });
}
