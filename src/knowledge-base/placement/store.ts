import type { Database } from '../../database/client.ts';
import type { vectorPlacement } from '../../database/schema/knowledge-base.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import type { IndexName } from '../../providers/vector-index/vector-index.ts';

/** A placement's row. Its columns are explained in `database/schema/knowledge-base.ts`. */
type StoredPlacement = StoredRow<typeof vectorPlacement>;

/** The organization's placement. Moments in epoch ms. */
export interface PlacementRow extends Omit<StoredPlacement, 'cursor' | 'missing_documents' | 'kept_in' | 'other' | 'phase' | 'move_to'> {
  kept_in: IndexName | null;
  other: IndexName | null;
  phase: 'copying' | 'clearing' | null;
  move_to: IndexName | null;
  cursor: MoveCursor | null;
  missing_documents: string[];
}

/** The last processed chunk, and the ids of the last written vectors. */
export interface MoveCursor {
  document: number;
  generation: number;
  chunk: number;
  tail: number[];
}

const columns = `organization_id, kept_in, other, phase, move_to, revision, cursor, total, moved, missing, missing_documents, looks, error, due_at,
  started_at, finished_at`;

export const toPlacementRow = (row: StoredPlacement): PlacementRow => ({
  ...row,
  kept_in: row.kept_in as IndexName | null,
  other: row.other as IndexName | null,
  phase: row.phase as PlacementRow['phase'],
  move_to: row.move_to as IndexName | null,
  cursor: row.cursor === null ? null : (JSON.parse(row.cursor) as MoveCursor),
  missing_documents: JSON.parse(row.missing_documents) as string[],
});

/** A statement for the caller's batch. `toPlacementRow` reads its row. */
export const selectPlacement = (database: Database, organizationId: number) =>
  database.prepare<StoredPlacement>(`SELECT ${columns} FROM vector_placement WHERE organization_id = ?`, organizationId);

export async function findPlacement(database: Database, organizationId: number): Promise<PlacementRow | null> {
  const row = await database.first(selectPlacement(database, organizationId));
  return row && toPlacementRow(row);
}

/** Stores the index of the organization's vectors unless one is stored already; answers the stored placement. */
export async function setInitialPlacement(database: Database, organizationId: number, keptIn: IndexName): Promise<PlacementRow> {
  const row = await database.first(
    database.prepare<StoredPlacement>(
      `INSERT INTO vector_placement (organization_id, kept_in) VALUES (?, ?)
       ON CONFLICT (organization_id) DO UPDATE SET kept_in = coalesce(kept_in, excluded.kept_in) RETURNING ${columns}`,
      organizationId,
      keptIn,
    ),
    'vector_placement.organization_id',
  );
  return toPlacementRow(row!);
}

/** A published chunk of the newest document that has one; null when no document has. */
export async function findSearchableChunk(database: Database, organizationId: number): Promise<number | null> {
  const row = await database.first(
    database.prepare<{ id: number }>(
      `SELECT c.id FROM knowledge_document d CROSS JOIN knowledge_chunk c
       WHERE d.organization_id = ? AND d.is_active = 1 AND d.generation > 0 AND c.document_id = d.id AND c.generation = d.generation
       ORDER BY d.id DESC LIMIT 1`,
      organizationId,
    ),
  );
  return row?.id ?? null;
}

/** Cancels a copy because of `error`; the copied vectors are cleared next. Does nothing when the placement has another revision. */
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
