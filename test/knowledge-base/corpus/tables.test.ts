import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ParsedDocument } from '../../../src/knowledge-base/parsing/blocks.ts';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { tokensOf, writeRow } from './source.ts';
import { drawing, drawTable, tableModel, tableWriters, withRepeats, type Drawing, type TableModel, type TableType } from './table-model.ts';

/** The rows of all tables of a document. Rows above the names of the columns may be read as titles. */
const rowsOf = ({ blocks }: ParsedDocument): string[] =>
  blocks.filter(({ kind }) => kind === 'table').flatMap(({ text }) => text.split('\n'));
const allTokens = ({ blocks }: ParsedDocument): string[] => blocks.flatMap(({ text }) => tokensOf(text));

/** In these, a table of one column may be there for layout, and is read as paragraphs. */
const layoutTypes = new Set<TableType>(['html', 'docx', 'md']);
const repeatingTypes = new Set<TableType>(['html', 'docx']);

async function holds(type: TableType, model: TableModel): Promise<void> {
  const document = await parseDocument(await tableWriters[type](model), `table.${type}`);
  const grid = repeatingTypes.has(type) ? withRepeats(model) : model.grid;
  const expected = grid.map(writeRow).filter((row) => row !== '');
  if (grid[0]!.length === 1 && layoutTypes.has(type)) expect(allTokens(document)).toEqual(expected.flatMap(tokensOf));
  else expect(rowsOf(document)).toEqual(expected);
}

const runs: Record<TableType, number> = { html: 80, docx: 20, pptx: 40, xlsx: 40, csv: 80, md: 40 };

describe.each(Object.keys(runs) as TableType[])('tables of %s', (type) => {
  test('have each cell in its row and column', async () => {
    await fc.assert(
      fc.asyncProperty(tableModel, (model) => holds(type, model)),
      { numRuns: runs[type] },
    );
  });

  test('the same, of many tables', { tags: 'soak', timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(tableModel, (model) => holds(type, model)),
      { numRuns: runs[type] * 10 },
    );
  });
});

const severalColumns = tableModel.filter(({ grid }) => grid[0]!.length > 1);
type Shape = (cell: string, column: number, row: number, rows: number) => string;
const shaped = (shape: Shape): fc.Arbitrary<TableModel> =>
  severalColumns.map(({ grid }) => ({
    merges: [],
    grid: grid.map((cells, row) => (row === 0 ? cells : cells.map((cell, column) => shape(cell, column, row, grid.length)))),
  }));
/** A short number at the edge of pages may be that of the page. */
const notAlone = (cell: string): string => (cell !== '' && cell.length < 4 ? `${cell} pcs` : cell);
/** Nothing tells where a column lies that is empty on a whole page. */
const betweenRules = shaped((cell, column, row, rows) => notAlone(cell) || (column === 0 || row >= rows - 3 ? `row ${row}` : ''));
/** Without rules, a line with empty cells, or one that reads on in small letters, may be the second line of the cells above. */
const withoutRules = shaped((cell, _column, row) => capitalize(notAlone(cell.replace('\n', ' ').slice(0, 9)) || `row ${row}`));
const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

async function isDrawnAndRead(model: TableModel, how: Drawing): Promise<void> {
  const document = await parseDocument(drawTable(model, how), 'table.pdf');
  expect(rowsOf(document)).toEqual(model.grid.map(writeRow).filter((row) => row !== ''));
}

describe('tables of pdf', () => {
  test.each([
    ['between rules', betweenRules, drawing.filter(({ hasRules }) => hasRules)],
    ['without rules', withoutRules, drawing.filter(({ hasRules, gaps }) => !hasRules && gaps.length === 1)],
  ])('%s have each cell in its row and column', async (_what, models, drawings) => {
    await fc.assert(fc.asyncProperty(models, drawings, isDrawnAndRead), { numRuns: 30 });
  });
});
