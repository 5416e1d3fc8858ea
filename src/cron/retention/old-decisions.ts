import { maxWindowDays } from '../../contact-policy/policy.ts';
import { findOldRows } from './old-rows-store.ts';
import { retentionCutoff, type RetentionRun } from './rule.ts';

const dayMs = 86_400_000;
/** A window of the contact policy reaches back a little further than its length. */
const minDays = maxWindowDays + 2;

/** Deletes a page of decisions of contact policies that no window reaches any more. False: none is left. */
export async function removeOldDecisions(run: RetentionRun): Promise<boolean> {
  const { database, now } = run;
  const before = Math.min(retentionCutoff(run, 'RETENTION_DAYS'), now - minDays * dayMs);
  const { rows, isLast } = await findOldRows(database, { table: 'contact_decision', isDone: 'true', length: '0' }, before);
  if (rows.length > 0)
    await database.all(
      database.prepare(
        'DELETE FROM contact_decision WHERE id IN (SELECT value FROM json_each(?))',
        JSON.stringify(rows.map(({ id }) => id)),
      ),
      'idempotent',
    );
  return !isLast;
}
