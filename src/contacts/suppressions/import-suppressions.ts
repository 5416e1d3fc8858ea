import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { invalidAt } from '../../library/errors.ts';
import { UnreadableFileError } from '../../library/text/unreadable-file.ts';
import { publish } from '../../outbox/published-events.ts';
import { readSuppressionFile, type FileNumber } from './read-suppression-file.ts';
import { maxImportedRows, type ImportBody, type ImportResult } from './schemas.ts';
import { upsertSuppressions, type SuppressionToWrite } from './store.ts';
import { toSuppressionToWrite } from './suppressions.ts';

const maxErrorsShown = 100;

/** Suppresses the numbers of a list for the user `by`. Repeatable. Throws 422 for a list that cannot be read and for `until` in the past. */
export async function importSuppressions(context: Context, body: ImportBody, by: number): Promise<z.infer<typeof ImportResult>> {
  const now = context.clock();
  if (body.until != null && body.until <= now)
    throw invalidAt(['body', 'until'], 'Is in the past; give a later moment, or none to suppress the numbers for good');
  const { defaultCountry, id } = context.organization;
  const file = await readSuppressionFile(body.csv, { defaultCountry, maxRows: maxImportedRows, now }).catch(throwUnreadable);
  const wanted = foldByPhone(file.numbers.map((number) => toWanted(number, body, by)));
  const statements = upsertSuppressions(context.database, id, wanted, now);
  const written = statements.length > 0 ? (await context.database.batch(statements, 'suppression.phone')).flat() : [];
  if (written.length > 0) await publish(context, 'webhook_event.recorded', { type: 'suppression.added' });
  // What was there before, and in force, keeps its time of creation.
  const added = written.filter((row) => row.created_at === now).length;
  return {
    rows: file.rows,
    added,
    already_suppressed: written.length - added,
    phone_columns: file.phoneColumns,
    failed: file.problems.length,
    errors: file.problems.slice(0, maxErrorsShown),
  };
}

const toWanted = ({ phone, reason, until }: FileNumber, body: ImportBody, by: number): SuppressionToWrite =>
  toSuppressionToWrite({ phone, reason: reason ?? body.reason, source: 'import', createdBy: by, until: until ?? body.until });

/** A number that stands several times is suppressed for the longest of its times. */
function foldByPhone(suppressions: SuppressionToWrite[]): SuppressionToWrite[] {
  const longest = new Map<string, SuppressionToWrite>();
  for (const one of suppressions) {
    const known = longest.get(one.phone);
    if (!known || (known.until !== null && (one.until === null || one.until > known.until))) longest.set(one.phone, one);
  }
  return [...longest.values()];
}

function throwUnreadable(error: unknown): never {
  if (error instanceof UnreadableFileError) throw invalidAt(['body', 'csv'], error.message, 'unreadable_file');
  throw error;
}
