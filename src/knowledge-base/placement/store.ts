import type { Database, Row } from '../../database/client.ts';
import type { IndexName } from '../../providers/vector-index/vector-index.ts';

/** Of the table; its columns are explained in `database/schema/knowledge-base.ts`. Moments in epoch ms. */
export interface PlacementRow {
  organization_id: number;
  kept_in: IndexName | null;
  other: IndexName | null;
  phase: 'copying' | 'clearing' | null;
  move_to: IndexName | null;
  revision: number;
  cursor: MoveCursor | null;
  total: number;
  moved: number;
  missing: number;
  missing_documents: string[];
  looks: number;
  error: string | null;
  due_at: number | null;
  started_at: number | null;
  finished_at: number | null;
}

/** The last chunk that is done, and the ids of the last ones that were written. */
export interface MoveCursor {
  document: number;
  generation: number;
  chunk: number;
  tail: number[];
}

const columns = `organization_id, kept_in, other, phase, move_to, revision, cursor, total, moved, missing, missing_documents, looks, error, due_at,
  started_at, finished_at`;

export const toPlacementRow = (row: Row): PlacementRow =>
  ({
    ...row,
    cursor: row['cursor'] === null ? null : (JSON.parse(row['cursor'] as string) as unknown),
    missing_documents: JSON.parse(row['missing_documents'] as string) as unknown,
  }) as unknown as PlacementRow;

/** For a batch; its one row goes through `toPlacementRow`. */
export const selectPlacement = (database: Database, organizationId: number) =>
  database.prepare(`SELECT ${columns} FROM vector_placement WHERE organization_id = ?`, organizationId);

export async function findPlacement(database: Database, organizationId: number): Promise<PlacementRow | null> {
  const row = await database.first(selectPlacement(database, organizationId));
  return row && toPlacementRow(row);
}

/** Says where the vectors are, unless that has been said meanwhile; answers what counts. */
export async function setInitialPlacement(database: Database, organizationId: number, keptIn: IndexName): Promise<PlacementRow> {
  const row = await database.first(
    database.prepare(
      `INSERT INTO vector_placement (organization_id, kept_in) VALUES (?, ?)
       ON CONFLICT (organization_id) DO UPDATE SET kept_in = coalesce(kept_in, excluded.kept_in) RETURNING ${columns}`,
      organizationId,
      keptIn,
    ),
    'vector_placement.organization_id',
  );
  return toPlacementRow(row!);
}

/** A chunk that search may show, of the newest document that has one; null: there is none. */
export async function findSearchableChunk(database: Database, organizationId: number): Promise<number | null> {
  const row = await database.first<{ id: number }>(
    database.prepare(
      `SELECT c.id FROM knowledge_document d CROSS JOIN knowledge_chunk c
       WHERE d.organization_id = ? AND d.is_active = 1 AND d.generation > 0 AND c.document_id = d.id AND c.generation = d.generation
       ORDER BY d.id DESC LIMIT 1`,
      organizationId,
    ),
  );
  return row?.id ?? null;
}

/** Ends a copy for the reason `error`: what was copied is to be cleared away. Of the revision only; another has gone on. */
export async function cancelCopy(database: Database, organizationId: number, revision: number, error: string): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE vector_placement SET phase = 'clearing', move_to = kept_in, revision = revision + 1, cursor = NULL, looks = 0, error = ?3
       WHERE organization_id = ?1 AND revision = ?2 AND phase = 'copying'`,
      organizationId,
      revision,
      error,
    ),
    'idempotent',
  );
}
