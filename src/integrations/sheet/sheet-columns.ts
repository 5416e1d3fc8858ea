import { nameHeaders } from '../../library/delimited-text/table-of-records.ts';

export interface SheetColumn {
  /** Unique; mappings refer to it. */
  name: string;
  /** Whether the column has no header; its name is then its position. */
  isBlank: boolean;
}

/** The columns of a header row. Cells to the right of the last header belong to no column. */
export function toSheetColumns(headers: string[]): SheetColumn[] {
  const cleaned = headers.map((header) => header.trim());
  const last = cleaned.findLastIndex((header) => header !== '');
  const kept = cleaned.slice(0, last + 1);
  return nameHeaders(kept).map((name, index) => ({ name, isBlank: kept[index] === '' }));
}
