import type { AppFailure } from '../../../providers/broker/broker.ts';

/** Where a record stands at the provider, as an error names it. */
export type RecordLocation = { row: number } | { external_id: string };

/** A record as it was read. */
export interface SourceRecord {
  place: RecordLocation;
  /** Names the record for as long as it is there. */
  key: string;
  /** By field of contacts, those with text alone. */
  values: Record<string, string>;
  /** Epoch ms; null: the provider does not say. */
  modifiedAt: number | null;
}

/** A record that is nobody who could be found again. */
export interface InvalidRecord {
  place: RecordLocation;
  problem: { code: string; detail: string };
}

/** Rows count from 1; `rows`: of the grid; `above`: a hash of what was in the row above; null: that is the header. */
export interface SheetPosition {
  row: number;
  rows: number;
  above: string | null;
}

/** Of books the next page, from 1. */
export type SourcePosition = { page: number } | SheetPosition;

export interface SourcePage {
  records: (SourceRecord | InvalidRecord)[];
  /** Null: this was the last page. */
  next: SourcePosition | null;
}

/** `sourceInvalid`: the source cannot be read as chosen, in words for a user. `rows_moved`: the rows that were read stand elsewhere now. */
export type SourceResult = SourcePage | AppFailure | { sourceInvalid: string } | 'rows_moved';

export interface Source {
  /** `place` null: from the beginning. */
  read(place: SourcePosition | null): Promise<SourceResult>;
}
