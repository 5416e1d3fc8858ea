import fc from 'fast-check';
import { makePresentation, makeWorkbook, slideOf } from '../parsing/make-archive.ts';
import type { Rule, PlacedText, PdfPage } from './write/write-pdf.ts';
import { writePages } from './write/write-pdf.ts';
import { escapeHtml } from './write/write-html.ts';
import { slideCell, slideTable } from './write/write-presentation.ts';
import { markdownTable, toDelimited } from './write/write-text.ts';
import { toWord, wordCell, wordRow, wordTable } from './write/write-word.ts';
import { sheetRows } from './write/write-workbook.ts';

/** A cell that spans others: `width` columns and `height` rows. */
interface Merge {
  row: number;
  column: number;
  width: number;
  height: number;
}

/** `grid`: the texts, of which those of covered cells are empty. The first row has the names of the columns. */
export interface TableModel {
  grid: string[][];
  merges: Merge[];
}

const names = ['Item', 'Size', 'Price', 'Colour', 'Stock', 'Weight', 'Maker', 'Note'];
const cellText = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 3, arbitrary: fc.constantFrom('tea', 'kettle', 'Äpfel', 'blue', 'x', 'N/A') },
  { weight: 2, arbitrary: fc.constantFrom('green tea', 'pot of tea', 'AT&T <b>', 'a, b; c') },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 99_999 }).map(String) },
  { weight: 2, arbitrary: fc.constantFrom('4.50', '007', '491761234567', '-3', '12%', '2026-05-01') },
  { weight: 1, arbitrary: fc.constantFrom('two\nlines', 'red\nor 5') },
);

export const tableModel: fc.Arbitrary<TableModel> = fc
  .record({ columns: fc.integer({ min: 1, max: 8 }), rows: fc.integer({ min: 1, max: 40 }) })
  .chain(({ columns, rows }) =>
    fc.record({
      body: fc.array(fc.array(cellText, { minLength: columns, maxLength: columns }), { minLength: rows, maxLength: rows }),
      merges: fc.array(
        fc.record({
          row: fc.integer({ min: 1, max: rows }),
          column: fc.nat({ max: columns - 1 }),
          width: fc.integer({ min: 1, max: 3 }),
          height: fc.integer({ min: 1, max: 3 }),
        }),
        { maxLength: columns > 1 ? 4 : 0 },
      ),
    }),
  )
  .map(({ body, merges }) => merge([names.slice(0, body[0]!.length), ...body], merges));

/** Keeps the merges that fit into the table and into each other, and empties what they cover. */
function merge(grid: string[][], wanted: Merge[]): TableModel {
  const taken = new Set<string>();
  const merges: Merge[] = [];
  for (const one of wanted) {
    const fits = one.row + one.height <= grid.length && one.column + one.width <= grid[0]!.length && one.width + one.height > 2;
    const places = placesOf(one);
    if (!fits || places.some((place) => taken.has(place.join()))) continue;
    for (const [row, column] of places) {
      taken.add([row, column].join());
      if (row !== one.row || column !== one.column) grid[row]![column] = '';
    }
    grid[one.row]![one.column] ||= 'merged';
    merges.push(one);
  }
  return { grid, merges };
}

const placesOf = ({ row, column, width, height }: Merge): [row: number, column: number][] =>
  Array.from({ length: width * height }, (_, index) => [row + Math.floor(index / width), column + (index % width)]);

const isCovered = ({ merges }: TableModel, row: number, column: number): boolean =>
  merges.some((one) => (one.row !== row || one.column !== column) && placesOf(one).some(([r, c]) => r === row && c === column));
const mergeAt = ({ merges }: TableModel, row: number, column: number): Merge | undefined =>
  merges.find((one) => one.row === row && one.column === column);

/** The texts as readers of pages and of Word have them: a cell that spans rows has its text in each. */
export const withRepeats = ({ grid, merges }: TableModel): string[][] => {
  const repeated = grid.map((cells) => [...cells]);
  for (const { row, column, height } of merges)
    for (let below = 1; below < height; below += 1) repeated[row + below]![column] = grid[row]![column]!;
  return repeated;
};

const encode = (content: string): Uint8Array => new TextEncoder().encode(content);

function writeHtml(model: TableModel): Uint8Array {
  const rows = model.grid.map((cells, row) => {
    const written = cells.map((cell, column) => {
      if (isCovered(model, row, column)) return '';
      const { width = 1, height = 1 } = mergeAt(model, row, column) ?? {};
      return `<td colspan="${width}" rowspan="${height}">${escapeHtml(cell).replaceAll('\n', '<br>')}</td>`;
    });
    return `<tr>${written.join('')}</tr>`;
  });
  return encode(`<!doctype html><html><body><table>${rows.join('\n')}</table></body></html>`);
}

const writeDocument = (model: TableModel): Promise<Uint8Array> =>
  toWord(
    wordTable(
      model.grid.map((cells, row) =>
        wordRow(
          cells.flatMap((cell, column) => {
            const own = mergeAt(model, row, column);
            const above = model.merges.find((one) => one.column === column && one.row < row && row < one.row + one.height);
            if (isCovered(model, row, column) && !above) return [];
            const { width = 1, height = 1 } = own ?? above ?? {};
            const span = width > 1 ? `<w:gridSpan w:val="${width}"/>` : '';
            return [wordCell(cell, span + (height > 1 ? (above ? '<w:vMerge/>' : '<w:vMerge w:val="restart"/>') : ''))];
          }),
        ),
      ),
    ),
  );

const writeSlides = (model: TableModel): Promise<Uint8Array> =>
  makePresentation([
    slideOf(
      slideTable(
        model.grid.map((cells, row) =>
          cells.map((cell, column) => {
            const { width = 1, height = 1 } = mergeAt(model, row, column) ?? {};
            return slideCell(cell, isCovered(model, row, column) ? 'hMerge="1"' : `gridSpan="${width}" rowSpan="${height}"`);
          }),
        ),
      ),
    ),
  ]);

function writeWorkbook({ grid }: TableModel): Promise<Uint8Array> {
  const texts: string[] = [];
  return makeWorkbook([{ name: 'Sheet1', rows: sheetRows(grid, texts) }], { texts });
}

export type TableType = 'html' | 'docx' | 'pptx' | 'xlsx' | 'csv' | 'md';

export const tableWriters: Record<TableType, (model: TableModel) => Uint8Array | Promise<Uint8Array>> = {
  html: writeHtml,
  docx: writeDocument,
  pptx: writeSlides,
  xlsx: writeWorkbook,
  csv: ({ grid }) => encode(toDelimited(grid)),
  md: ({ grid }) => encode(`${markdownTable(grid.map((cells) => cells.map(escapeMarkdown)))}\n`),
};

const escapeMarkdown = (cell: string): string => cell.replace(/[<>&]/g, String.raw`\$&`);

/** How a table is drawn on pages. `pitch`: the distance of lines of text in a cell, in sizes of the letters. `gaps`: between rows, in turns. */
export interface Drawing {
  hasRules: boolean;
  gaps: number[];
  size: number;
}

export const drawing: fc.Arbitrary<Drawing> = fc.record({
  hasRules: fc.boolean(),
  gaps: fc.constantFrom([0.15], [0.4], [1.2], [0.15, 1.2], [0.4, 0.15, 1.6]),
  size: fc.constantFrom(8, 9),
});

const [left, right, top, bottom] = [50, 545, 790, 60];
const [lineHeight, padding] = [1.15, 2];

/** Draws a table; rows that do not fit go to the next page, never a single one. */
export function drawTable({ grid }: TableModel, { hasRules, gaps, size }: Drawing): Uint8Array {
  const step = (right - left) / grid[0]!.length;
  const heights = grid.map((cells, row) => {
    const lines = Math.max(...cells.map((cell) => cell.split('\n').length));
    return lines * lineHeight * size + gapOf(row, gaps, size);
  });
  const pages: PdfPage[] = [{ texts: [], rules: [] }];
  let y = top;
  for (const [row, cells] of grid.entries()) {
    const height = heights[row]!;
    const rest = heights.slice(row).reduce((sum, one) => sum + one, 0);
    const leavesOne = row === grid.length - 2 && y - rest < bottom && y < top;
    if (y - height < bottom || leavesOne) {
      pages.push({ texts: [], rules: [] });
      y = top;
    }
    const page = pages.at(-1)!;
    page.texts.push(
      ...cells.flatMap((cell, column) => writeLines(cell, left + column * step + padding, y - gapOf(row, gaps, size) / 2, size)),
    );
    if (hasRules) page.rules.push(...frameOf(y, height, step, cells.length));
    y -= height;
  }
  return writePages(pages);
}

const gapOf = (row: number, gaps: number[], size: number): number => gaps[row % gaps.length]! * size;

const writeLines = (cell: string, x: number, from: number, size: number): PlacedText[] =>
  cell
    .split('\n')
    .map((text, index) => ({ text, size, x, y: from - (index + 0.9) * lineHeight * size }))
    .filter(({ text }) => text !== '');

function frameOf(y: number, height: number, step: number, columns: number): Rule[] {
  const sides = Array.from({ length: columns + 1 }, (_, index): Rule => [left + index * step, y, left + index * step, y - height]);
  return [[left, y, right, y], [left, y - height, right, y - height], ...sides];
}
