import { invalid } from '../google/errors.ts';
import type { Tab } from './grid.ts';

/** A rectangle of a tab. Rows count from 1, columns from 0; both ends belong to it. */
export interface Range {
  tab: Tab;
  firstRow: number;
  lastRow: number;
  firstColumn: number;
  lastColumn: number;
  /** The range in the vendor's notation. */
  text: string;
}

const form = /^(?:(?:'((?:[^']|'')+)'|([^'!]+))!)?(?:([A-Z]{1,3})?(\d{1,7})?)(?::([A-Z]{1,3})?(\d{1,7})?)?$/;

/** Reads A1 notation; without a tab it is the first one, a bare name the whole tab. Throws GoogleError. */
export function parseRange(text: string, tabs: Tab[]): Range {
  const whole = tabs.find(({ title }) => title === text || `'${title.replaceAll("'", "''")}'` === text);
  const [, quoted, bare, column, row, toColumn, toRow] = whole ? [] : (form.exec(text) ?? []);
  const name = quoted?.replaceAll("''", "'") ?? bare;
  const tab = whole ?? (name === undefined ? tabs[0] : tabs.find(({ title }) => title === name));
  const isUnderstood = whole !== undefined || column !== undefined || row !== undefined;
  if (tab === undefined || !isUnderstood) throw invalid(`Unable to parse range: ${text}`);
  const isCell = toColumn === undefined && toRow === undefined && !whole;
  const firstColumn = column === undefined ? 0 : columnOf(column);
  const firstRow = row === undefined ? 1 : Number(row);
  const lastColumn = toColumn === undefined ? (isCell ? firstColumn : tab.columnCount - 1) : columnOf(toColumn);
  const lastRow = toRow === undefined ? (isCell ? firstRow : tab.rowCount) : Number(toRow);
  return { tab, firstRow, lastRow, firstColumn, lastColumn, text: toA1Notation(tab, firstRow, lastRow, firstColumn, lastColumn) };
}

const columnOf = (letters: string): number => [...letters].reduce((sum, letter) => sum * 26 + letter.codePointAt(0)! - 64, 0) - 1;

const lettersOf = (column: number): string =>
  (column < 26 ? '' : lettersOf(Math.floor(column / 26) - 1)) + String.fromCodePoint(65 + (column % 26));

/** The range in A1 notation. The name of the tab is quoted if necessary. */
export function toA1Notation(tab: Tab, firstRow: number, lastRow: number, firstColumn: number, lastColumn: number): string {
  const name = /^[A-Za-z_]\w*$/.test(tab.title) ? tab.title : `'${tab.title.replaceAll("'", "''")}'`;
  const [from, to] = [`${lettersOf(firstColumn)}${firstRow}`, `${lettersOf(lastColumn)}${lastRow}`];
  return `${name}!${from === to ? from : `${from}:${to}`}`;
}
