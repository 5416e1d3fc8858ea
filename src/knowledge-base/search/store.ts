import type { Database, Row } from '../../database/client.ts';
import { chunkColumns, toChunkRow, type ChunkRow } from '../chunks/store.ts';
import { toPlacementRow, selectPlacement, type PlacementRow } from '../placement/store.ts';

/** Documents of the organization that search may look into, of those named or of all; at most `limit`. */
export async function findSearchableDocuments(
  database: Database,
  organizationId: number,
  uuids: string[] | null,
  limit: number,
): Promise<number[]> {
  const statement =
    uuids === null
      ? database.prepare(
          'SELECT id FROM knowledge_document WHERE organization_id = ? AND is_active = 1 AND generation > 0 ORDER BY id DESC LIMIT ?',
          organizationId,
          limit,
        )
      : database.prepare(
          `SELECT d.id FROM json_each(?) j CROSS JOIN knowledge_document d
           WHERE d.organization_id = ? AND d.uuid = j.value AND d.is_active = 1 AND d.generation > 0 LIMIT ?`,
          JSON.stringify(uuids),
          organizationId,
          limit,
        );
  return (await database.all<{ id: number }>(statement)).map(({ id }) => id);
}

/**
 * Ids of the chunks that fit `match` best, best first, as far as `limit` reaches; null fits none. Some may be no longer, or not yet, to be shown.
 * And, in the same call, where the organization's vectors are.
 */
export async function findChunksByKeywords(
  database: Database,
  organizationId: number,
  match: string | null,
  limit: number,
): Promise<{ words: number[]; placement: PlacementRow | null }> {
  const byWords = () =>
    database.prepare(
      `SELECT rowid AS id FROM knowledge_chunk_search WHERE knowledge_chunk_search MATCH ? ORDER BY bm25(knowledge_chunk_search, 0, 1), rowid LIMIT ?`,
      match,
      limit,
    );
  const [[placement], words = []] = (await database.batch([
    selectPlacement(database, organizationId),
    ...(match === null ? [] : [byWords()]),
  ])) as [Row[], Row[]?];
  return { words: words.map((row) => row['id'] as number), placement: placement ? toPlacementRow(placement) : null };
}

const searchableCondition = 'c.organization_id = ?2 AND d.id = c.document_id AND d.is_active = 1 AND d.generation = c.generation';

/** The same of only those that are to be shown; it reads every chunk that fits. */
export async function findSearchableChunksByKeywords(
  database: Database,
  organizationId: number,
  match: string,
  limit: number,
): Promise<number[]> {
  const rows = await database.all<{ id: number }>(
    database.prepare(
      `SELECT c.id FROM knowledge_chunk_search s CROSS JOIN knowledge_chunk c CROSS JOIN knowledge_document d
       WHERE knowledge_chunk_search MATCH ?1 AND c.id = s.rowid AND ${searchableCondition} ORDER BY bm25(knowledge_chunk_search, 0, 1), c.id LIMIT ?3`,
      match,
      organizationId,
      limit,
    ),
  );
  return rows.map(({ id }) => id);
}

/** A chunk with its document. */
export interface SearchableChunk extends ChunkRow {
  filename: string;
  document_uuid: string;
}

/** Of these chunks those of the organization that are current chunks of active documents, by id. */
export async function findSearchableChunks(
  database: Database,
  organizationId: number,
  ids: number[],
): Promise<Map<number, SearchableChunk>> {
  const rows = await database.all(
    database.prepare(
      `SELECT ${chunkColumns}, d.filename, d.uuid AS document_uuid
       FROM json_each(?1) j CROSS JOIN knowledge_chunk c CROSS JOIN knowledge_document d WHERE c.id = j.value AND ${searchableCondition}`,
      JSON.stringify(ids),
      organizationId,
    ),
  );
  return new Map(rows.map((row) => [row['id'] as number, toChunkRow(row) as SearchableChunk]));
}
