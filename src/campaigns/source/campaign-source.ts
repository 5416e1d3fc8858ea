import type { TableColumns } from './columns.ts';
import type { SeenPhones } from './seen-phones.ts';

/**
 * A row as a campaign begins with it. `row_number` is the same at every reading. `phone` is E.164 of a pending row and of a duplicate, else the
 * beginning of the source's text. `reason` is a code, a colon and a sentence.
 */
export interface CampaignSourceRow {
  row_number: number;
  phone: string;
  /** The index of the column that the phone is from; absent: the row has none, or is no row of a table. */
  phone_column?: number;
  contact_id: number | null;
  state: 'pending' | 'failed' | 'skipped';
  reason: string | null;
  variables: Record<string, unknown>;
}

export interface CampaignSource {
  /** The columns of a table; null: the rows are records without columns. */
  columns: TableColumns | null;
  /**
   * Reads the rows once, in the order of their numbers. After an interruption, reading continues after the last stored row, `after`; a list may
   * have changed meanwhile, and with it the numbers of its members. Throws `UnreadableFileError` when the rest cannot be read.
   */
  batches(seen: SeenPhones, after?: Pick<CampaignSourceRow, 'row_number' | 'contact_id'> | null): AsyncGenerator<CampaignSourceRow[]>;
  /** As of `FileTable`. */
  guessedEncoding?: (() => string | null) | undefined;
  /** Releases the source when not all batches are read. */
  close(): Promise<void>;
}
