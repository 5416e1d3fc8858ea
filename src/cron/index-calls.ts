import pMap from 'p-map';
import { deleteCallWords, insertManyCallWords, isFoundByWords, readCallWords, type CallWords } from '../calls/listing/stored-call-words.ts';
import type { Database, Row } from '../database/client.ts';
import { isNotInTransitSql } from '../database/transit.ts';

/** Its row in `progress` says up to which id calls may lack their words; without the row, none does. */
const cursor = 'calls_without_words';
const pageRows = 200;
const filesAtOnce = 6;

/**
 * Has calls found by their words that are older than the search in transcripts, or come from a copy of the database: a page a tick, from the
 * newest down. Repeatable.
 */
export async function indexCalls(bindings: Env, database: Database): Promise<void> {
  const progress = await database.first(database.prepare<{ value: number }>('SELECT value FROM progress WHERE name = ?', cursor));
  if (!progress) return;
  const rows = await database.all(
    database.prepare(
      `SELECT id, organization_id, mode, is_completed, has_transcript, result FROM voice_agent_run
       WHERE id <= ? AND ${isNotInTransitSql('organization_id')} ORDER BY id DESC LIMIT ${pageRows}`,
      progress.value,
    ),
  );
  const byOrganization = Map.groupBy(rows.filter(isFoundByWords), (row) => row['organization_id'] as number);
  for (const [organizationId, own] of byOrganization) await indexOwn(bindings, database, organizationId, own);
  const last = rows.at(-1);
  const next =
    rows.length === pageRows
      ? database.prepare('UPDATE progress SET value = ? WHERE name = ?', (last!['id'] as number) - 1, cursor)
      : database.prepare('DELETE FROM progress WHERE name = ?', cursor);
  await database.all(next, 'idempotent');
}

async function indexOwn({ FILES }: Env, database: Database, organizationId: number, rows: Row[]): Promise<void> {
  const found = await pMap(rows, (row) => readCallWords(FILES, organizationId, row), { concurrency: filesAtOnce });
  const words = found.filter((one): one is CallWords => one !== null);
  const ids = words.map(({ id }) => id);
  if (ids.length > 0)
    await database.batch(
      [deleteCallWords(database, organizationId, ids), ...insertManyCallWords(database, organizationId, words)],
      'idempotent',
    );
}
