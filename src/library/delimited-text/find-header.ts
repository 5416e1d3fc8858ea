const maxTitleLines = 10;
const maxHeaderLength = 80;

/**
 * The index of the header among the first rows. Rows above it are titles: lines of one cell, or of far fewer cells than the rows below them, above a row of names.
 * `isHeader` knows headers of the reader's own: below titles, a row that it accepts is the header. A line of one cell that it accepts ("Phone numbers")
 * is a title where it also accepts a wider row of names below.
 */
export function findHeader(rows: string[][], isHeader: (cells: string[]) => boolean = () => false): number {
  const widths = rows.map(measureRow);
  const known = findKnownHeader(rows, widths, isHeader);
  if (known === 0 || (known > 0 && widths.slice(0, known).every((width) => width < widths[known]!))) return known;
  const usual = findUsualWidth(widths);
  if (usual < 2) return 0;
  const header = widths.findIndex((width) => width > 1 && width >= usual / 2);
  if (header <= 0 || header > maxTitleLines || !rows[header]!.every(isName)) return 0;
  return isTitled(rows, header) ? header : 0;
}

function findKnownHeader(rows: string[][], widths: number[], isHeader: (cells: string[]) => boolean): number {
  const known = rows.slice(0, maxTitleLines + 1).findIndex(isHeader);
  if (known < 0 || widths[known]! > 1) return known;
  const wider = rows.findIndex(
    (cells, index) => index > known && index <= maxTitleLines && widths[index]! > 1 && cells.every(isName) && isHeader(cells),
  );
  return wider < 0 ? known : wider;
}

/** A single word above rows of words may be the only header that somebody wrote. */
function isTitled(rows: string[][], header: number): boolean {
  const hasSentence = rows.slice(0, header).some((cells) => cells.some((cell) => /\S\s+\S/.test(cell)));
  return hasSentence || rows.slice(header + 1).some((cells) => cells.some((cell) => cell !== '' && !isName(cell)));
}

/** The place of the last cell that is not empty, from 1. */
const measureRow = (cells: string[]): number => cells.findLastIndex((cell) => cell !== '') + 1;

function findUsualWidth(widths: number[]): number {
  const frequency = new Map<number, number>();
  for (const width of widths) frequency.set(width, (frequency.get(width) ?? 0) + 1);
  return [...frequency].toSorted(([one, often], [other, otherOften]) => otherOften - often || other - one)[0]?.[0] ?? 0;
}

/** Whether a cell may be the name of a column: short, and no number, date, phone number or address. */
export const isName = (cell: string): boolean =>
  cell.length <= maxHeaderLength && !/^[-+(]?[\p{Sc}\s]*\d[\d\s.,:/()%-]*\p{Sc}?$|@/u.test(cell);
