import { nameHeaders } from '../../library/delimited-text/read-table.ts';

export interface SheetColumn {
  /** Unique, and what mappings speak of. */
  name: string;
  /** It has no header: the name is its position. */
  isBlank: boolean;
}

/** The columns that a header row makes. Only headers make columns: a cell to the right of them all is none. */
export function toSheetColumns(headers: string[]): SheetColumn[] {
  const cleaned = headers.map((header) => header.trim());
  const last = cleaned.findLastIndex((header) => header !== '');
  const kept = cleaned.slice(0, last + 1);
  return nameHeaders(kept).map((name, index) => ({ name, isBlank: kept[index] === '' }));
}
