import { invalid } from '../google/errors.ts';
import type { Range } from './ranges.ts';

export type Cell = string | number | boolean;

export interface Tab {
  id: number;
  title: string;
  rowCount: number;
  columnCount: number;
  /** An empty cell is `''`. Rows may be shorter than the grid. */
  cells: Cell[][];
}

/** A number with more digits than a narrow column shows. */
const maxNumberLength = 100_000_000_000;

/** The text that a cell shows. */
function shown(cell: Cell): string {
  if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE';
  if (typeof cell === 'number' && Math.abs(cell) >= maxNumberLength) return cell.toExponential(5).toUpperCase();
  return String(cell);
}

/** The cells of a range, without the empty ones at the end of a row or of the whole; undefined: all are empty. */
export function readCells(tab: Tab, range: Range, render: 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE' | 'FORMULA'): Cell[][] | undefined {
  if (range.firstRow > tab.rowCount || range.firstColumn >= tab.columnCount)
    throw invalid(`Range (${range.text}) exceeds grid limits. Max rows: ${tab.rowCount}, max columns: ${tab.columnCount}`);
  const rows = tab.cells.slice(range.firstRow - 1, range.lastRow).map((row) => {
    const cells = row.slice(range.firstColumn, range.lastColumn + 1);
    return trimmed(cells, (cell) => cell === '').map((cell) => (render === 'FORMATTED_VALUE' ? shown(cell) : cell));
  });
  const filled = trimmed(rows, (row) => row.length === 0);
  return filled.length === 0 ? undefined : filled;
}

function trimmed<Item>(items: Item[], isEmpty: (item: Item) => boolean): Item[] {
  let length = items.length;
  while (length > 0 && isEmpty(items[length - 1]!)) length -= 1;
  return items.slice(0, length);
}

/** Writes values from the first cell of a range on; null leaves a cell as it is. */
export function writeCells(
  tab: Tab,
  range: Range,
  values: (Cell | null)[][],
  input: 'RAW' | 'USER_ENTERED',
): { cells: number; columns: number } {
  const columns = Math.max(0, ...values.map((row) => row.length));
  if (
    range.firstRow + values.length - 1 > Math.min(range.lastRow, tab.rowCount) ||
    range.firstColumn + columns > Math.min(range.lastColumn + 1, tab.columnCount)
  )
    throw invalid(`Requested writing within range [${range.text}], but tried writing to row [${range.firstRow + values.length}]`);
  let cells = 0;
  for (const [at, row] of values.entries())
    for (const [index, value] of row.entries()) {
      if (value === null) continue;
      setCell(tab, range.firstRow + at, range.firstColumn + index, input === 'RAW' ? value : entered(value));
      cells += 1;
    }
  return { cells, columns };
}

function setCell(tab: Tab, row: number, column: number, value: Cell): void {
  while (tab.cells.length < row) tab.cells.push([]);
  const cells = tab.cells[row - 1]!;
  while (cells.length <= column) cells.push('');
  cells[column] = value;
}

/** Reads a value as if a person had typed it: a number, or a formula, whose result here is an error. */
function entered(value: Cell): Cell {
  if (typeof value !== 'string') return value;
  if (/^[+-]?\d+(?:\.\d+)?$/.test(value)) return Number(value);
  return /^[=+]/.test(value) ? '#ERROR!' : value;
}

/** The last row that holds anything. */
export const lastRowOf = (tab: Tab): number => trimmed(tab.cells, (row) => row.every((cell) => cell === '')).length;
