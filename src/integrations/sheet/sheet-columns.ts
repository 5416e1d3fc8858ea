import { nameHeaders } from '../../library/delimited-text/table-of-records.ts';

export interface SheetColumn {
  /** Unique; mappings refer to it. */
  name: string;
  /** Whether the column has no header; its name is then its position. */
  isBlank: boolean;
}

/** The columns of a header row. Cells right of the last header belong to none of them. */
export function toSheetColumns(headers: string[]): SheetColumn[] {
  const cleaned = headers.map((header) => header.trim());
  const last = cleaned.findLastIndex((header) => header !== '');
  const kept = cleaned.slice(0, last + 1);
  return nameHeaders(kept).map((name, index) => ({ name, isBlank: kept[index] === '' }));
}

const positionPattern = /^column_([1-9]\d{0,3})$/;

/** Whether a column is named by its place, so that any row may have it. */
export const isNamedByPlace = (name: string): boolean => positionPattern.test(name);

/** The index of a column by its name. A column right of the headers has its place as name (`column_10`). -1: there is no such column. */
export function findColumnIndex(names: string[], name: string): number {
  const index = names.indexOf(name);
  const place = Number(positionPattern.exec(name)?.[1] ?? 0);
  return index < 0 && place > names.length ? place - 1 : index;
}
