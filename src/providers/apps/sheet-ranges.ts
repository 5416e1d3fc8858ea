/** Rectangles of cells in A1 notation (https://developers.google.com/workspace/sheets/api/guides/concepts#cell). */

const quoteTab = (tab: string): string => `'${tab.replaceAll("'", "''")}'`;

/** The letters of a column, counted from 0: A to Z, AA and on. */
export function columnLetters(column: number): string {
  const letter = String.fromCodePoint(65 + (column % 26));
  return column < 26 ? letter : columnLetters(Math.floor(column / 26) - 1) + letter;
}

/** The range of whole rows, counted from 1; both ends are inclusive. */
export const rowRange = (tab: string, from: number, to = from): string => `${quoteTab(tab)}!${from}:${to}`;

/** The range of a rectangle. Rows count from 1, columns from 0; both ends are inclusive. */
export const cellRange = (tab: string, from: { row: number; column: number }, to = from): string => {
  const [first, last] = [from, to].map(({ row, column }) => columnLetters(column) + String(row)) as [string, string];
  return `${quoteTab(tab)}!${first === last ? first : `${first}:${last}`}`;
};

/** The first row of a range such as `'Leads'!A122:E122`. */
export function firstRowOf(range: string): number | undefined {
  const row = /![A-Z]*(\d+)(?::[A-Z]*\d*)?$/.exec(range)?.[1];
  return row === undefined ? undefined : Number(row);
}
