import { makeWorkbook, type Sheet } from '../../parsing/make-archive.ts';
import { escapeHtml } from './write-html.ts';

const columnLetters = (column: number): string =>
  (column >= 26 ? columnLetters(Math.floor(column / 26) - 1) : '') + String.fromCharCode(65 + (column % 26));

/** Whether a workbook keeps the text as a number and shows it as it stands. */
const isNumber = (content: string): boolean => /^-?\d{1,15}(?:\.\d{1,6})?$/.test(content) && String(Number(content)) === content;

/** A cell: a number, or a text, which is stored in the cell or with the workbook in turns. `texts`: those of the workbook. */
function writeCell(content: string, row: number, column: number, texts: string[]): string {
  if (content === '') return '';
  const reference = `${columnLetters(column)}${row + 1}`;
  if (isNumber(content)) return `<c r="${reference}"><v>${content}</v></c>`;
  const element = `<t xml:space="preserve">${escapeHtml(content)}</t>`;
  if (column % 2 === 0) return `<c r="${reference}" t="inlineStr"><is>${element}</is></c>`;
  return `<c r="${reference}" t="s"><v>${texts.push(element) - 1}</v></c>`;
}

/** The rows of a sheet, from the first row on. */
export const sheetRows = (rows: string[][], texts: string[], from = 0): string =>
  rows
    .map(
      (cells, row) =>
        `<row r="${from + row + 1}">${cells.map((content, column) => writeCell(content, from + row, column, texts)).join('')}</row>`,
    )
    .join('');

export function toWorkbook(sheets: { name: string; rows: string[][] }[], more: Partial<Sheet> = {}): Promise<Uint8Array> {
  const texts: string[] = [];
  return makeWorkbook(
    sheets.map(({ name, rows }) => ({ name, rows: sheetRows(rows, texts), ...more })),
    { texts },
  );
}
