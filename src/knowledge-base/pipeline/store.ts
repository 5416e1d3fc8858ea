import type { Database } from '../../database/client.ts';
import { documentColumns, toDocumentRow, type DocumentRow } from '../documents/store.ts';
import type { PageManifest } from './page-storage.ts';
import type { NewChunk } from './split-into-pages.ts';

/** Names one making of a document's chunks. What is done for it changes nothing once the document has another, or none, under way. */
export interface DocumentGeneration {
  organization_id: number;
  id: number;
  generation: number;
}

export const toDocumentGeneration = ({ organization_id, id, next_generation }: DocumentRow): DocumentGeneration => ({
  organization_id,
  id,
  generation: next_generation,
});

/** Its parameters are the first three. */
const inProgressCondition = `d.organization_id = ?1 AND d.id = ?2 AND d.next_generation = ?3 AND d.is_active = 1 AND d.status IN ('pending', 'processing')`;
const generationParameters = ({ organization_id, id, generation }: DocumentGeneration): [number, number, number] => [
  organization_id,
  id,
  generation,
];

/** Takes a step: null when nothing is under way. By `dueAt` it should be done. */
export async function beginStep(database: Database, making: DocumentGeneration, now: number, dueAt: number): Promise<DocumentRow | null> {
  const row = await database.first(
    database.prepare(
      `UPDATE knowledge_document AS d SET status = 'processing', due_at = ?5, updated_at = ?4 WHERE ${inProgressCondition} RETURNING ${documentColumns}`,
      ...generationParameters(making),
      now,
      dueAt,
    ),
    'idempotent',
  );
  return row && toDocumentRow(row);
}

/**
 * Notes what was read, unless another document of the organization has the same content, or is about to: then the answer is its filename. The
 * hash is written and compared in one statement, so of two documents at the same time one is the first.
 */
export async function recordHash(
  database: Database,
  making: DocumentGeneration,
  file: { hash: string; bytes: number },
): Promise<string | null> {
  const same = `SELECT o.filename FROM knowledge_document o WHERE o.organization_id = ?1 AND o.file_hash = ?4 AND o.file_hash <> '' AND o.id <> ?2
    AND o.is_active = 1 AND (o.generation > 0 OR o.status IN ('pending', 'processing'))`;
  const [, duplicates] = await database.batch(
    [
      database.prepare(
        `UPDATE knowledge_document AS d SET file_hash = ?4, size_bytes = ?5 WHERE ${inProgressCondition} AND NOT EXISTS (${same})`,
        ...generationParameters(making),
        file.hash,
        file.bytes,
      ),
      database.prepare(
        `${same} AND EXISTS (SELECT 1 FROM knowledge_document d WHERE ${inProgressCondition}) ORDER BY o.id LIMIT 1`,
        ...generationParameters(making),
        file.hash,
      ),
    ],
    'idempotent',
  );
  return (duplicates![0] as { filename: string } | undefined)?.filename ?? null;
}

export async function isInProgress(database: Database, making: DocumentGeneration): Promise<boolean> {
  const statement = database.prepare(`SELECT 1 FROM knowledge_document d WHERE ${inProgressCondition}`, ...generationParameters(making));
  return (await database.first(statement)) !== null;
}

export interface StoredChunk {
  id: number;
  chunk_index: number;
  embedding_model: string | null;
}

/** Stores what is not stored yet of a page, and answers all of it in order; nothing when the making is no longer under way. */
export async function insertChunks(database: Database, making: DocumentGeneration, page: NewChunk[]): Promise<StoredChunk[]> {
  const [, rows] = await database.batch(
    [
      database.prepare(
        `INSERT INTO knowledge_chunk (organization_id, document_id, generation, chunk_index, chunk_text, contextualized_text, search_text, chunk_metadata)
       SELECT ?1, ?2, ?3, j.value ->> 'chunk_index', j.value ->> 'chunk_text', j.value ->> 'contextualized_text', j.value ->> 'search_text',
         j.value -> 'chunk_metadata'
       FROM json_each(?4) j WHERE EXISTS (SELECT 1 FROM knowledge_document d WHERE ${inProgressCondition})
       ON CONFLICT (document_id, generation, chunk_index) DO NOTHING`,
        ...generationParameters(making),
        JSON.stringify(page),
      ),
      database.prepare(
        `SELECT id, chunk_index, embedding_model FROM knowledge_chunk
       WHERE document_id = ?2 AND generation = ?3 AND chunk_index BETWEEN ?4 AND ?5
         AND EXISTS (SELECT 1 FROM knowledge_document d WHERE ${inProgressCondition}) ORDER BY chunk_index`,
        ...generationParameters(making),
        page[0]!.chunk_index,
        page.at(-1)!.chunk_index,
      ),
    ],
    'knowledge_chunk.chunk_index',
  );
  return rows as unknown as StoredChunk[];
}

/**
 * Says of chunks that their vectors are where they belong; answers of how many. Of none when the making is no longer under way, or vectors
 * belong elsewhere since `revision` of the placement.
 */
export async function markEmbedded(
  database: Database,
  making: DocumentGeneration,
  ids: number[],
  model: string,
  revision: number,
): Promise<number> {
  const rows = await database.all(
    database.prepare(
      `UPDATE knowledge_chunk SET embedding_model = ?4 WHERE id IN (SELECT value FROM json_each(?5)) AND document_id = ?2 AND generation = ?3
         AND EXISTS (SELECT 1 FROM knowledge_document d WHERE ${inProgressCondition})
         AND EXISTS (SELECT 1 FROM vector_placement p WHERE p.organization_id = ?1 AND p.revision = ?6) RETURNING id`,
      ...generationParameters(making),
      model,
      JSON.stringify(ids),
      revision,
    ),
    'idempotent',
  );
  return rows.length;
}

/** The index of the last chunk that has a vector; -1: none has. Pages get theirs one after the other, and all chunks of a page together. */
export async function findLastEmbeddedIndex(database: Database, { id, generation }: DocumentGeneration): Promise<number> {
  const row = await database.first<{ last: number }>(
    database.prepare(
      `SELECT chunk_index AS last FROM knowledge_chunk WHERE document_id = ? AND generation = ? AND embedding_model IS NOT NULL
       ORDER BY chunk_index DESC LIMIT 1`,
      id,
      generation,
    ),
  );
  return row?.last ?? -1;
}

/** How many chunks have a vector, and the ids of the last `limit` of them. */
export async function findEmbeddedChunks(
  database: Database,
  { id, generation }: DocumentGeneration,
  limit: number,
): Promise<{ count: number; last: number[] }> {
  const [counted, last] = await database.batch([
    database.prepare(
      'SELECT count(*) AS count FROM knowledge_chunk WHERE document_id = ? AND generation = ? AND embedding_model IS NOT NULL',
      id,
      generation,
    ),
    database.prepare(
      'SELECT id FROM knowledge_chunk WHERE document_id = ? AND generation = ? ORDER BY chunk_index DESC LIMIT ?',
      id,
      generation,
      limit,
    ),
  ]);
  return { count: (counted![0] as { count: number }).count, last: last!.map((row) => row['id'] as number) };
}

/** The one moment at which search turns to the new chunks. The old ones are due to be cleared away. */
export async function publishGeneration(
  database: Database,
  making: DocumentGeneration,
  { chunks, mime_type, parser_metadata }: Pick<PageManifest, 'chunks' | 'mime_type' | 'parser_metadata'>,
  now: number,
): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE knowledge_document AS d SET generation = ?3, status = 'completed', error = NULL, total_chunks = ?4, mime_type = ?5,
         parser_metadata = ?6, due_at = ?7, updated_at = ?7 WHERE ${inProgressCondition}`,
      ...generationParameters(making),
      chunks,
      mime_type,
      JSON.stringify(parser_metadata),
      now,
    ),
    'idempotent',
  );
}

/** Ends a making without chunks. What search found before stays. `hash` where it was not noted before. */
export async function failGeneration(
  database: Database,
  making: DocumentGeneration,
  { error, hash }: { error: string; hash: string | null },
  now: number,
): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE knowledge_document AS d SET status = 'failed', error = ?4, file_hash = coalesce(?5, d.file_hash), due_at = ?6, updated_at = ?6
       WHERE ${inProgressCondition}`,
      ...generationParameters(making),
      error,
      hash,
      now,
    ),
    'idempotent',
  );
}

/** The same for the reason that the last try noted, or `otherwise`, with `advice` behind it. */
export async function failWithLastError(
  database: Database,
  making: DocumentGeneration,
  { otherwise, advice }: { otherwise: string; advice: string },
  now: number,
): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE knowledge_document AS d SET status = 'failed', error = coalesce(d.error, ?4) || ?5, due_at = ?6, updated_at = ?6
       WHERE ${inProgressCondition}`,
      ...generationParameters(making),
      otherwise,
      advice,
      now,
    ),
    'idempotent',
  );
}

/** Notes why a step failed, and by when its next try should be done. */
export async function recordFailedAttempt(database: Database, making: DocumentGeneration, error: string, dueAt: number): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE knowledge_document AS d SET error = ?4, due_at = ?5 WHERE ${inProgressCondition}`,
      ...generationParameters(making),
      error,
      dueAt,
    ),
    'idempotent',
  );
}

/** By when the next step should be done. */
export async function setDueAt(database: Database, making: DocumentGeneration, dueAt: number): Promise<void> {
  await database.all(
    database.prepare(`UPDATE knowledge_document AS d SET due_at = ?4 WHERE ${inProgressCondition}`, ...generationParameters(making), dueAt),
    'idempotent',
  );
}

/** Documents whose message seems lost, the longest overdue first, each given until `dueAt` once more. */
export async function claimOverdueDocuments(
  database: Database,
  before: number,
  dueAt: number,
  limit: number,
): Promise<Pick<DocumentRow, 'id' | 'organization_id' | 'next_generation' | 'size_bytes'>[]> {
  return database.all(
    database.prepare(
      `UPDATE knowledge_document SET due_at = ? WHERE id IN (
         SELECT id FROM knowledge_document WHERE due_at IS NOT NULL AND due_at < ? ORDER BY due_at LIMIT ?
       ) RETURNING id, organization_id, next_generation, size_bytes`,
      dueAt,
      before,
      limit,
    ),
    'read-back',
  );
}
