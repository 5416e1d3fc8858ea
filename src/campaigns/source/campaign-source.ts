import type { TableColumns } from './columns.ts';
import type { SeenPhones } from './seen-phones.ts';

/**
 * A row as a campaign begins with it. `row_number` is the same at every reading. `phone` is E.164 when it is pending or a duplicate, else
 * what stands in its place. `reason` is a word, then for people a sentence.
 */
export interface CampaignSourceRow {
  row_number: number;
  phone: string;
  contact_id: number | null;
  state: 'pending' | 'failed' | 'skipped';
  reason: string | null;
  variables: Record<string, unknown>;
}

export interface CampaignSource {
  /** Of a table; null: its rows are records that have no columns. */
  columns: TableColumns | null;
  /**
   * The rows in order of their numbers, once. After an interruption `after` is the last row that was taken in, and reading goes on behind
   * it: a list may have changed in between, and the numbers of its members with it. Throws `UnreadableFileError` when the rest cannot be read.
   */
  batches(seen: SeenPhones, after?: Pick<CampaignSourceRow, 'row_number' | 'contact_id'> | null): AsyncGenerator<CampaignSourceRow[]>;
  /** Lets go of the source, for whoever does not read all batches. */
  close(): Promise<void>;
}
