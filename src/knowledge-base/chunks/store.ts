import { and, desc, eq, isNotNull, sql } from 'drizzle-orm';
import type { Database } from '../../database/client.ts';
import { knowledgeChunk } from '../../database/schema/knowledge-base.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { generationParameters, inProgressCondition, type DocumentGeneration } from '../documents/generation.ts';
import type { DocumentRow } from '../documents/store.ts';
import type { IndexedText } from '../keywords/search-terms.ts';
import type { Chunk } from './chunk-document.ts';

/** A chunk before it is stored. */
export interface NewChunk extends IndexedText {
  chunk_index: number;
  chunk_text: string;
  contextualized_text: string;
  chunk_metadata: Chunk['metadata'];
}

/** A chunk's row with the columns of `chunkColumns`. */
export type StoredChunkRow = Pick<
  StoredRow<typeof knowledgeChunk>,
  'id' | 'document_id' | 'chunk_index' | 'chunk_text' | 'contextualized_text' | 'chunk_metadata'
> & { embedding_model: string };

/** A chunk as the API shows it. */
export type ChunkRow = Omit<StoredChunkRow, 'chunk_metadata'> & { chunk_metadata: Record<string, unknown> };

export const chunkColumns = 'c.id, c.document_id, c.chunk_index, c.chunk_text, c.contextualized_text, c.chunk_metadata, c.embedding_model';

export const toChunkRow = <Columns extends StoredChunkRow>(row: Columns) => ({
  ...row,
  chunk_metadata: JSON.parse(row.chunk_metadata) as Record<string, unknown>,
});

/** The published chunks of a document from the index `from` on, in its order. */
export async function findChunksOfDocument(database: Database, document: DocumentRow, from: number, limit: number): Promise<ChunkRow[]> {
  const rows = await database.all(
    database.prepare<StoredChunkRow>(
      `SELECT ${chunkColumns} FROM knowledge_chunk c WHERE c.document_id = ? AND c.generation = ? AND c.chunk_index >= ? ORDER BY c.chunk_index LIMIT ?`,
      document.id,
      document.generation,
      from,
      limit,
    ),
  );
  return rows.map(toChunkRow);
}

export type StoredChunk = Pick<StoredRow<typeof knowledgeChunk>, 'id' | 'chunk_index' | 'embedding_model'>;

/** Stores the missing chunks of a page and answers all of its chunks in order; none when the generation is no longer in progress. */
export async function insertChunks(database: Database, document: DocumentGeneration, page: NewChunk[]): Promise<StoredChunk[]> {
  const [, rows] = await database.batch(
    [
      database.prepare(
        `INSERT INTO knowledge_chunk (organization_id, document_id, generation, chunk_index, chunk_text, contextualized_text, search_text, search_terms, chunk_metadata)
       SELECT ?1, ?2, ?3, j.value ->> 'chunk_index', j.value ->> 'chunk_text', j.value ->> 'contextualized_text', j.value ->> 'search_text',
         j.value ->> 'search_terms', j.value -> 'chunk_metadata'
       FROM json_each(?4) j WHERE EXISTS (SELECT 1 FROM knowledge_document d WHERE ${inProgressCondition})
       ON CONFLICT (document_id, generation, chunk_index) DO NOTHING`,
        ...generationParameters(document),
        JSON.stringify(page),
      ),
      database.prepare<StoredChunk>(
        `SELECT id, chunk_index, embedding_model FROM knowledge_chunk
       WHERE document_id = ?2 AND generation = ?3 AND chunk_index BETWEEN ?4 AND ?5
         AND EXISTS (SELECT 1 FROM knowledge_document d WHERE ${inProgressCondition}) ORDER BY chunk_index`,
        ...generationParameters(document),
        page[0]!.chunk_index,
        page.at(-1)!.chunk_index,
      ),
    ],
    'knowledge_chunk.chunk_index',
  );
  return rows;
}

/**
 * Marks chunks whose vectors are stored; answers how many. Marks none when the generation is no longer in progress or the placement of the
 * organization's vectors has another revision.
 */
export async function markEmbedded(
  database: Database,
  document: DocumentGeneration,
  ids: number[],
  model: string,
  revision: number,
): Promise<number> {
  const rows = await database.all(
    database.prepare(
      `UPDATE knowledge_chunk SET embedding_model = ?4 WHERE id IN (SELECT value FROM json_each(?5)) AND document_id = ?2 AND generation = ?3
         AND EXISTS (SELECT 1 FROM knowledge_document d WHERE ${inProgressCondition})
         AND EXISTS (SELECT 1 FROM vector_placement p WHERE p.organization_id = ?1 AND p.revision = ?6) RETURNING id`,
      ...generationParameters(document),
      model,
      JSON.stringify(ids),
      revision,
    ),
    'idempotent',
  );
  return rows.length;
}

const isOfGeneration = ({ id, generation }: DocumentGeneration) =>
  and(eq(knowledgeChunk.documentId, id), eq(knowledgeChunk.generation, generation));

const isEmbedded = (document: DocumentGeneration) => and(isOfGeneration(document), isNotNull(knowledgeChunk.embeddingModel));

/** The index of the last chunk with a vector, or -1. Pages are embedded one after the other, all chunks of a page together. */
export async function findLastEmbeddedIndex(database: Database, document: DocumentGeneration): Promise<number> {
  const query = database.orm
    .select({ last: knowledgeChunk.chunkIndex })
    .from(knowledgeChunk)
    .where(isEmbedded(document))
    .orderBy(desc(knowledgeChunk.chunkIndex))
    .limit(1);
  return (await database.run(() => query))[0]?.last ?? -1;
}

/** The number of chunks with a vector, and the ids of the last `limit` chunks. */
export async function findEmbeddedChunks(
  database: Database,
  document: DocumentGeneration,
  limit: number,
): Promise<{ count: number; last: number[] }> {
  const { orm } = database;
  const [counted, last] = await database.run(() =>
    orm.batch([
      orm
        .select({ count: sql<number>`count(*)` })
        .from(knowledgeChunk)
        .where(isEmbedded(document)),
      orm
        .select({ id: knowledgeChunk.id })
        .from(knowledgeChunk)
        .where(isOfGeneration(document))
        .orderBy(desc(knowledgeChunk.chunkIndex))
        .limit(limit),
    ]),
  );
  return { count: counted[0]!.count, last: last.map(({ id }) => id) };
}

/** Deletes chunks. False: the placement of the vectors has another revision or the chunks are deleted already; nothing is done. */
export async function deleteChunks(database: Database, organizationId: number, ids: number[], revision: number): Promise<boolean> {
  const remove = database.prepare(
    `DELETE FROM knowledge_chunk WHERE id IN (SELECT value FROM json_each(?1)) AND organization_id = ?2
         AND EXISTS (SELECT 1 FROM vector_placement p WHERE p.organization_id = ?2 AND p.revision = ?3) RETURNING id`,
    JSON.stringify(ids),
    organizationId,
    revision,
  );
  const [rows] = await database.batchOnce([remove], async ({ changes }) => [changes ? [{}] : []]);
  return rows.length > 0;
}
