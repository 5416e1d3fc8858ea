/** How many rows of a queue one request looks at, from each end of the queue. */
export const maxScannedRows = 5000;

/** The records of a queue that are not handled yet. `oldest_at` in epoch ms; null: none. */
export interface Backlog {
  waiting: number;
  oldest_at: number | null;
  /** More rows were not looked at. */
  is_partial: number;
}
