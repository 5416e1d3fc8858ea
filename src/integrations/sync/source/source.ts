import type { AppFailure } from '../../../providers/broker/broker.ts';

/** The location of a record at the provider, for errors. */
export type RecordLocation = { row: number } | { external_id: string };

/** A record as read. */
export interface SourceRecord {
  place: RecordLocation;
  /** Identifies the record as long as it exists. */
  key: string;
  /** The non-empty values by contact field. */
  values: Record<string, string>;
  /** Epoch ms; null: the provider does not say. */
  modifiedAt: number | null;
}

/** A record without a usable key. */
export interface InvalidRecord {
  place: RecordLocation;
  problem: { code: string; detail: string };
}

/**
 * Rows count from 1; `rows`: the size of the grid; `header`: the row with the headers, the first in positions of an earlier version; `above`: a
 * hash of the row above, or null at the first row.
 */
export interface SheetPosition {
  row: number;
  rows: number;
  header?: number;
  above: string | null;
}

/** The page of books, from 1, or the row of a sheet. */
export type SourcePosition = { page: number } | SheetPosition;

export interface SourcePage {
  records: (SourceRecord | InvalidRecord)[];
  /** Null: this was the last page. */
  next: SourcePosition | null;
}

/**
 * `sourceInvalid`: the source cannot be read as configured, with a sentence for the user. `rows_moved`: rows were moved since the last
 * page.
 */
export type SourceResult = SourcePage | AppFailure | { sourceInvalid: string } | 'rows_moved';

export interface Source {
  /** Reads a page. `place` null: the first one. */
  read(place: SourcePosition | null): Promise<SourceResult>;
}
