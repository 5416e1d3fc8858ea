/** What the first time left: rows changed by its last statement, and the id that was inserted last. */
export interface FirstTime {
  changes: number;
  rowId: number;
}

/** How long receipts are kept: far longer than a repeat takes. */
export const keptMs = 3_600_000;

const keyAt = (now: number): string => now.toString(36).padStart(9, '0');

/** Made before the first try, and unlike any other. Receipts sort by their age. */
export const newReceipt = (): string => `${keyAt(Date.now())}-${crypto.randomUUID()}`;

export const receiptStatement = 'INSERT INTO write_receipt (key, changes, row_id) VALUES (?, changes(), last_insert_rowid())';

export const receiptOf = 'SELECT changes, row_id AS rowId FROM write_receipt WHERE key = ?';

/** The keys of receipts that are older than `keptMs` come before this one. */
export const keptSince = (now: number): string => keyAt(now - keptMs);
