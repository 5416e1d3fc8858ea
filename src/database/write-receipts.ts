/** The effect of the first attempt: rows changed by its last statement, and the id that was inserted last. */
export interface FirstAttempt {
  changes: number;
  rowId: number;
}

/** How long receipts are kept: far longer than a repeat takes. */
const receiptTtlMs = 3_600_000;

const receiptKeyAt = (now: number): string => now.toString(36).padStart(9, '0');

/** Made before the first try, and unlike any other. Receipts sort by their age. */
export const newReceiptKey = (): string => `${receiptKeyAt(Date.now())}-${crypto.randomUUID()}`;

export const insertReceiptSql = 'INSERT INTO write_receipt (key, changes, row_id) VALUES (?, changes(), last_insert_rowid())';

export const selectReceiptSql = 'SELECT changes, row_id AS rowId FROM write_receipt WHERE key = ?';

/** All keys of receipts older than `receiptTtlMs` sort before this key. */
export const receiptKeyCutoff = (now: number): string => receiptKeyAt(now - receiptTtlMs);
