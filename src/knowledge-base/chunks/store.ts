import type { Database, Row } from '../../database/client.ts';
import type { DocumentRow } from '../documents/store.ts';

/** A chunk as it is shown. */
export interface ChunkRow {
  id: number;
  document_id: number;
  chunk_index: number;
  chunk_text: string;
  contextualized_text: string;
  chunk_metadata: Record<string, unknown>;
  embedding_model: string;
}

export const chunkColumns = 'c.id, c.document_id, c.chunk_index, c.chunk_text, c.contextualized_text, c.chunk_metadata, c.embedding_model';

export const toChunkRow = (row: Row): ChunkRow =>
  ({ ...row, chunk_metadata: JSON.parse(row['chunk_metadata'] as string) as unknown }) as unknown as ChunkRow;

/** Those that search finds, in the order of the document, from the index `from` on. */
export async function findChunksOfDocument(database: Database, document: DocumentRow, from: number, limit: number): Promise<ChunkRow[]> {
  const rows = await database.all(
    database.prepare(
      `SELECT ${chunkColumns} FROM knowledge_chunk c WHERE c.document_id = ? AND c.generation = ? AND c.chunk_index >= ? ORDER BY c.chunk_index LIMIT ?`,
      document.id,
      document.generation,
      from,
      limit,
    ),
  );
  return rows.map(toChunkRow);
}
