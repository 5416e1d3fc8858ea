import type { Database, Statement } from '../../database/client.ts';

/** The two databases of a move. */
export interface MoveEnds {
  organizationId: number;
  source: Database;
  target: Database;
  /** The files of both, which stay where they are. */
  files: R2Bucket;
  /** The `claim` of the worker: nothing is written for an earlier one. */
  claim: number;
}

/** Another worker has taken up the move. */
export class OvertakenError extends Error {}

/** Runs statements in one transaction, as long as this worker holds the move. */
export async function writeHeld(ends: MoveEnds, database: Database, statements: Statement[]): Promise<void> {
  // A failed statement undoes its batch.
  const requireHold = database.prepare(
    "SELECT json(iif((SELECT holder FROM transit WHERE subject_id = ?1) IS ?2, '0', 'overtaken'))",
    ends.organizationId,
    ends.claim,
  );
  try {
    await database.batch([requireHold, ...statements], 'idempotent');
  } catch (error) {
    if (/malformed JSON/.test(String((error as Error).message))) throw new OvertakenError();
    throw error;
  }
}
