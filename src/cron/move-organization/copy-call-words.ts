import pMap from 'p-map';
import {
  deleteCallWords,
  insertManyCallWords,
  isFoundByWords,
  readCallWords,
  type CallWords,
} from '../../calls/listing/stored-call-words.ts';
import type { Row } from '../../database/client.ts';
import { writeHeld, type MoveEnds } from './ends.ts';

const filesAtOnce = 6;

/**
 * Has copied calls found by their words in the target, too. Words cannot be read from a full-text table, so they are made of the transcripts
 * again. Repeatable.
 */
export async function copyCallWords(ends: MoveEnds, rows: Row[]): Promise<void> {
  const { target, organizationId, files } = ends;
  const ids = rows.map((row) => row['id'] as number);
  const found = await pMap(rows.filter(isFoundByWords), (row) => readCallWords(files, organizationId, row), { concurrency: filesAtOnce });
  const words = found.filter((one): one is CallWords => one !== null);
  if (ids.length > 0)
    await writeHeld(ends, target, [deleteCallWords(target, organizationId, ids), ...insertManyCallWords(target, organizationId, words)]);
}
