import type { Database, Row, Statement } from './client.ts';
import type { FirstAttempt } from './write-receipts.ts';

// A change that was worked out from rows as they were read is written only if they are still so. Whoever comes second reads
// again and works it out anew.

const maxAttempts = 12;
const writeConflict = 'overtaken by another request';

/** The moment of a change: later than the one before even within one millisecond, so that it tells a row from its older self. */
export const nextTimestamp = (before: number | null, now: number): number => Math.max(now, (before ?? 0) + 1);

/** Fails the batch that it stands in, so that nothing of it is written, unless the statement before it changed a row. */
const requireChange = (database: Database): Statement => database.prepare("SELECT json(iif(changes() > 0, '0', ?))", writeConflict);

/**
 * Runs `update` and, only if it changed a row, `also`, in one step. Answers the rows of `update`; null when it changed none. `readBack` is
 * given what was changed, for an answer that was lost.
 */
export async function compareAndSet<Shape extends Row = Row>(
  database: Database,
  update: Statement<Shape>,
  also: Statement[],
  readBack: (first: FirstAttempt) => Statement<Shape>,
): Promise<Shape[] | null> {
  try {
    const statements = [update, requireChange(database), ...also] as const;
    const [rows] = await database.batchOnce(statements, (first) => database.batch([readBack(first)]), 2);
    return rows;
  } catch (error) {
    if (/malformed JSON/.test(String((error as Error).message))) return null;
    throw error;
  }
}

/** Works a change out again and again until no other was faster; undefined when that never came to be. */
export async function retryOnConflict<Changed>(change: () => Promise<Changed | null>): Promise<Changed | undefined> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const changed = await change();
    if (changed !== null) return changed;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * attempt));
  }
  return undefined;
}
