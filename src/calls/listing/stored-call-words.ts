import type { Database, Row, Statement } from '../../database/client.ts';
import { jsonChunks } from '../../database/json-chunks.ts';
import type { Utterance } from '../../voice-agents/conversation/transcript.ts';
import { artifactKey, type TalkFile } from '../records/artifacts.ts';
import { toCallWords, toScope } from './call-words.ts';

/** The words of a stored call, separated by blanks. */
export interface CallWords {
  id: number;
  words: string;
}

/** Whether a row of `voice_agent_run` is a call with a transcript. */
export const isFoundByWords = (row: Row): boolean => row['is_completed'] === 1 && row['has_transcript'] === 1 && row['mode'] !== 'textchat';

/** The words of a call from its transcript in R2 and the summary in its row; null: the transcript is not there. */
export async function readCallWords(files: R2Bucket, organizationId: number, row: Row): Promise<CallWords | null> {
  const id = row['id'] as number;
  const utterances = await readUtterances(files, organizationId, id);
  if (!utterances) return null;
  return { id, words: toCallWords(utterances, readSummary(row['result'] as string | null)) };
}

function readSummary(result: string | null): string | null {
  const annotations = result === null ? null : (JSON.parse(result) as { annotations?: { summary?: unknown } }).annotations;
  return typeof annotations?.summary === 'string' ? annotations.summary : null;
}

/** Earlier versions wrote a file for the transcript alone. */
async function readUtterances(files: R2Bucket, organizationId: number, id: number): Promise<Utterance[] | null> {
  const file =
    (await files.get(artifactKey(organizationId, id, 'talk.json'))) ??
    (await files.get(artifactKey(organizationId, id, 'transcript.json')));
  return file && (await file.json<Pick<TalkFile, 'utterances'>>()).utterances;
}

const ownCalls = 'json_each(?) j CROSS JOIN voice_agent_run r WHERE r.organization_id = ?';

/** No call of these is found by words that it had. */
export const deleteCallWords = (database: Database, organizationId: number, ids: number[]): Statement =>
  database.prepare(
    `DELETE FROM call_search WHERE rowid IN (SELECT r.id FROM ${ownCalls} AND r.id = j.value)`,
    JSON.stringify(ids),
    organizationId,
  );

/** Stores the words of calls that have none. A call that was erased meanwhile gets none. */
export const insertManyCallWords = (database: Database, organizationId: number, calls: CallWords[]): Statement[] =>
  jsonChunks(calls).map((json) =>
    database.prepare(
      `INSERT INTO call_search (rowid, scope, text)
       SELECT r.id, '${toScope(organizationId)}', j.value ->> 'words' FROM ${ownCalls} AND r.id = j.value ->> 'id' AND r.has_transcript = 1`,
      json,
      organizationId,
    ),
  );
