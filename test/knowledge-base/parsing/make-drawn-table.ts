import { pdfOf } from './make-raw-pdf.ts';

/** A table to be drawn on pages of Letter size in Helvetica. */
export interface DrawnTable {
  rows: string[][];
  /** Of the columns, in points. */
  widths: number[];
  size: number;
  /** The lines that are drawn: around all cells, below each row, below the header and around the table, or none. */
  rules: 'all' | 'across' | 'header' | 'none';
  /** In line distances, from the last line of a row to the next row, by the number of the row. */
  gaps: number[];
  /** Columns whose texts end at their right, below the header. */
  rightAligned?: boolean[];
  /** Each text stands in the middle of its column, below the header, too. */
  isCentred?: boolean;
  /** Each text stands in the middle of the height of its row. */
  isInMiddle?: boolean;
  /** Begins a new page before this row, and repeats the header there. */
  breakBefore?: number;
  repeatsHeader?: boolean;
  /** Lines as thin filled shapes instead of strokes. */
  fillsRules?: boolean;
}

const margin = 60;
const top = 720;
const lineDistance = 1.2;
const gutter = 14;

/** About the width of a text in Helvetica. */
const widthOf = (text: string, size: number): number =>
  [...text].reduce((sum, letter) => sum + (/[ilj.,'|! ft]/.test(letter) ? 0.28 : /[A-Zmw]/.test(letter) ? 0.7 : 0.556), 0) * size;

/** Cuts a text into the lines of a cell. */
export function wrapText(text: string, size: number, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(`${last} ${word}`, size) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

export function makeTablePdf(table: DrawnTable): Uint8Array {
  const { rows, breakBefore = rows.length, repeatsHeader = false } = table;
  const second = rows.slice(breakBefore);
  const pages = [rows.slice(0, breakBefore), ...(second.length > 0 ? [repeatsHeader ? [rows[0]!, ...second] : second] : [])];
  const kids = pages.map((_, index) => 4 + index * 2);
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    ...pages.flatMap((own, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`,
      ['', drawTable(table, own, index === 0 || repeatsHeader)] as const,
    ]),
  ]);
}

function drawTable(
  { widths, size, rules, gaps, rightAligned = [], isCentred = false, isInMiddle = false, fillsRules = false }: DrawnTable,
  rows: string[][],
  hasHeader: boolean,
): string {
  const lefts = widths.map((_, column) => margin + widths.slice(0, column).reduce((sum, width) => sum + width + gutter, 0));
  const content: string[] = [];
  const heights = [top + size + 2];
  let y = top;
  for (const [index, row] of rows.entries()) {
    const cells = row.map((text, column) => (text === '' ? [] : wrapText(text, size, widths[column]!)));
    const height = Math.max(1, ...cells.map(({ length }) => length));
    for (const [column, lines] of cells.entries())
      for (const [line, text] of lines.entries()) {
        const isRight = rightAligned[column] === true && !(hasHeader && index === 0);
        const rest = widths[column]! - widthOf(text, size);
        const x = lefts[column]! + (isRight ? rest : isCentred ? rest / 2 : 0);
        const place = line + (isInMiddle ? (height - lines.length) / 2 : 0);
        content.push(`BT /F1 ${size} Tf ${x.toFixed(2)} ${(y - place * size * lineDistance).toFixed(2)} Td (${text}) Tj ET`);
      }
    const bottom = y - (height - 1) * size * lineDistance;
    y = bottom - (gaps[index % gaps.length] ?? 1) * size * lineDistance;
    heights.push((bottom - size * 0.3 + y + size * 0.85) / 2);
  }
  const [left, right] = [margin - 7, lefts.at(-1)! + widths.at(-1)! + 7];
  const line = (x0: number, y0: number, x1: number, y1: number) =>
    content.push(fillsRules ? `${x0} ${y0} ${Math.max(0.5, x1 - x0)} ${y1 === y0 ? 0.5 : y1 - y0} re f` : `${x0} ${y0} m ${x1} ${y1} l S`);
  const across = rules === 'header' ? [heights[0]!, heights[1]!, heights.at(-1)!] : heights;
  if (rules !== 'none') for (const height of across) line(left, height, right, height);
  if (rules === 'all')
    for (const x of [left, ...lefts.slice(1).map((next) => next - gutter / 2), right]) line(x, heights[0]!, x, heights.at(-1)!);
  return content.join('\n');
}
