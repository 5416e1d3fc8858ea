import { splitTags } from './contact-text.ts';

/** The values of a row by contact field; empty cells are absent. */
type RowValues = Record<string, string>;

/** The rows of one person in a sheet, in order: the first `read` ones as this reading found them, the others as the reading before did. */
export interface PersonRows {
  rows: RowValues[];
  read: number;
}

/** The values of all rows of a person, as a bulk upsert folds them: a later value wins, an empty cell keeps the earlier one, tags are added. */
export function foldRows(rows: RowValues[]): RowValues {
  if (rows.length === 1) return rows[0]!;
  const folded: RowValues = Object.assign({}, ...rows);
  const tags = rows.flatMap((row) => splitTags(row['tags'] ?? ''));
  return tags.length > 0 ? { ...folded, tags: [...new Set(tags)].join(', ') } : folded;
}

/** With the next row that a reading finds. A row of the reading before is replaced by the one that is found in its place. */
export const withNextRow = ({ rows, read }: PersonRows, row: RowValues): PersonRows => ({
  rows: [...rows.slice(0, read), row, ...rows.slice(read + 1)],
  read: read + 1,
});

/** How many rows of the reading before are still to be found. */
export const countMissing = ({ rows, read }: PersonRows): number => Math.max(0, rows.length - read);

/** Whether the rows are too many to be kept with their person: the rows before them would be written again with each. */
export const isFull = ({ rows, read }: PersonRows): boolean => read >= maxRows || (read >= rows.length && sizeOf(rows) > maxLength);

export const maxRows = 100;
const maxLength = 500_000;
const sizeOf = (rows: RowValues[]): number => rows.reduce((sum, row) => sum + JSON.stringify(row).length, 0);
