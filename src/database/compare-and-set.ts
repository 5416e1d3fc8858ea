import pRetry from 'p-retry';
import type { Database, Statement } from './client.ts';
import type { FirstAttempt } from './write-receipts.ts';

// A change that was computed from rows is written only if the rows have not changed since. The slower of two requests reads again and
// computes its change anew.

/** The pauses between attempts, in ms, doubled at most by jitter. */
const conflictDelays = { retries: 11, minTimeout: 5, factor: 1.25, randomize: true } as const;
const writeConflict = 'overtaken by another request';

/** The moment of a change, always later than the moment `before`, even within one millisecond, so that it identifies the version of a row. */
export const nextTimestamp = (before: number | null, now: number): number => Math.max(now, (before ?? 0) + 1);

/** Fails its batch, so that nothing is written, unless the statement before this one changed a row. */
const requireChange = (database: Database): Statement => database.prepare("SELECT json(iif(changes() > 0, '0', ?))", writeConflict);

/**
 * Runs `update` and, only if it changed a row, `also`, in one transaction. Returns the rows of `update`; null when it changed none. When
 * the answer was lost, `readBack` builds the query of the changed rows.
 */
export async function compareAndSet<Shape extends object>(
  database: Database,
  update: Statement<Shape>,
  also: Statement[],
  readBack: (first: FirstAttempt) => Statement<Shape>,
): Promise<Shape[] | null> {
  try {
    const statements: [Statement<Shape>, ...Statement[]] = [update, requireChange(database), ...also];
    const [rows] = await database.batchOnce(statements, async (first) => [await database.all(readBack(first))], 2);
    return rows;
  } catch (error) {
    if (/malformed JSON/.test(String((error as Error).message))) return null;
    throw error;
  }
}

class WriteConflict extends Error {}

/**
 * Computes and writes a change, at most 12 times, until no other request was faster (`change` answers null for a faster one). Undefined when
 * another request was faster each time.
 */
export async function retryOnConflict<Changed>(change: () => Promise<Changed | null>): Promise<Changed | undefined> {
  const attempt = async (): Promise<Changed> => {
    const changed = await change();
    if (changed === null) throw new WriteConflict();
    return changed;
  };
  try {
    return await pRetry(attempt, { ...conflictDelays, shouldRetry: ({ error }) => error instanceof WriteConflict });
  } catch (error) {
    if (error instanceof WriteConflict) return undefined;
    throw error;
  }
}
