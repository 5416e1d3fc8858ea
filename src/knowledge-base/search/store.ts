import type { Database } from '../../database/client.ts';
import type { knowledgeDocument } from '../../database/schema/knowledge-base.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { chunkColumns, toChunkRow, type ChunkRow, type StoredChunkRow } from '../chunks/store.ts';
import { toPlacementRow, selectPlacement, type PlacementRow } from '../placement/store.ts';

/** At most `limit` published documents of the organization, of those with `uuids` or of all. */
export async function findSearchableDocuments(
  database: Database,
  organizationId: number,
  uuids: string[] | null,
  limit: number,
): Promise<number[]> {
  const statement =
    uuids === null
      ? database.prepare<{ id: number }>(
          'SELECT id FROM knowledge_document WHERE organization_id = ? AND is_active = 1 AND generation > 0 ORDER BY id DESC LIMIT ?',
          organizationId,
          limit,
        )
      : database.prepare<{ id: number }>(
          `SELECT d.id FROM json_each(?) j CROSS JOIN knowledge_document d
           WHERE d.organization_id = ? AND d.uuid = j.value AND d.is_active = 1 AND d.generation > 0 LIMIT ?`,
          JSON.stringify(uuids),
          organizationId,
          limit,
        );
  return (await database.all(statement)).map(({ id }) => id);
}

/**
 * The ids of at most `limit` chunks that match best, best first, and the placement of the organization's vectors, in one call. `match` null
 * matches none. Some chunks may be obsolete or not published yet.
 */
export async function findChunksByKeywords(
  database: Database,
  organizationId: number,
  match: string | null,
  limit: number,
): Promise<{ words: number[]; placement: PlacementRow | null }> {
  const byWords = () =>
    database.prepare<{ id: number }>(
      `SELECT rowid AS id FROM knowledge_chunk_search WHERE knowledge_chunk_search MATCH ? ORDER BY bm25(knowledge_chunk_search, 0, 1), rowid LIMIT ?`,
      match,
      limit,
    );
  if (match === null) {
    const row = await database.first(selectPlacement(database, organizationId));
    return { words: [], placement: row && toPlacementRow(row) };
  }
  const [[placement], words] = await database.batch([selectPlacement(database, organizationId), byWords()]);
  return { words: words.map(({ id }) => id), placement: placement ? toPlacementRow(placement) : null };
}

const searchableCondition = 'c.organization_id = ?2 AND d.id = c.document_id AND d.is_active = 1 AND d.generation = c.generation';

/** As `findChunksByKeywords`, with published chunks only. Reads every chunk that matches. */
export async function findSearchableChunksByKeywords(
  database: Database,
  organizationId: number,
  match: string,
  limit: number,
): Promise<number[]> {
  const rows = await database.all(
    database.prepare<{ id: number }>(
      `SELECT c.id FROM knowledge_chunk_search s CROSS JOIN knowledge_chunk c CROSS JOIN knowledge_document d
       WHERE knowledge_chunk_search MATCH ?1 AND c.id = s.rowid AND ${searchableCondition} ORDER BY bm25(knowledge_chunk_search, 0, 1), c.id LIMIT ?3`,
      match,
      organizationId,
      limit,
    ),
  );
  return rows.map(({ id }) => id);
}

/** A published chunk with its document. */
export interface SearchableChunk extends ChunkRow {
  filename: string;
  document_uuid: string;
}

/** The published chunks of the organization among `ids`, by id. */
export async function findSearchableChunks(
  database: Database,
  organizationId: number,
  ids: number[],
): Promise<Map<number, SearchableChunk>> {
  const rows = await database.all(
    database.prepare<StoredChunkRow & Pick<StoredRow<typeof knowledgeDocument>, 'filename'> & { document_uuid: string }>(
      `SELECT ${chunkColumns}, d.filename, d.uuid AS document_uuid
       FROM json_each(?1) j CROSS JOIN knowledge_chunk c CROSS JOIN knowledge_document d WHERE c.id = j.value AND ${searchableCondition}`,
      JSON.stringify(ids),
      organizationId,
    ),
  );
  return new Map(rows.map((row) => [row.id, toChunkRow(row)]));
}
