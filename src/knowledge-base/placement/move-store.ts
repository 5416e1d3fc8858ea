import type { Database } from '../../database/client.ts';
import { findPlacement, type MoveCursor, type PlacementRow } from './store.ts';

/** A step of a move, held until `due_at`; nobody else takes one before. */
export type VectorMove = PlacementRow & { kept_in: NonNullable<PlacementRow['kept_in']>; due_at: number };

/** Takes the next step of the organization's move until `until`; null: there is none, or it is not due. */
export async function claimMove(database: Database, organizationId: number, now: number, until: number): Promise<VectorMove | null> {
  const take = database.prepare(
    'UPDATE vector_placement SET due_at = ?3 WHERE organization_id = ?1 AND due_at <= ?2 RETURNING organization_id',
    organizationId,
    now,
    until,
  );
  const [taken] = await database.batchOnce([take], async ({ changes }) => [changes ? [{}] : []]);
  const row = taken![0] && (await findPlacement(database, organizationId));
  return row?.due_at === until ? (row as VectorMove) : null;
}

/** What a step changes. */
export type MoveChange = Partial<Omit<PlacementRow, 'organization_id' | 'revision'>> & { raisesRevision?: boolean };

/** What a step comes to, and after how many seconds the next is due; null: there is none. */
export interface MoveStepResult {
  change: MoveChange;
  nextAfterSeconds: number | null;
}

/** Ends the step; false: its holder was late, or the operator or a writer wants something else by now. Then nothing is changed. */
export async function saveMove(database: Database, move: VectorMove, { raisesRevision = false, ...change }: MoveChange): Promise<boolean> {
  const next = { ...move, ...change };
  const save = database.prepare(
    `UPDATE vector_placement SET kept_in = ?1 ->> 'kept_in', other = ?1 ->> 'other', phase = ?1 ->> 'phase', move_to = ?1 ->> 'move_to',
         revision = revision + ?2, cursor = nullif(?1 -> 'cursor', 'null'), total = ?1 ->> 'total', moved = ?1 ->> 'moved', missing = ?1 ->> 'missing',
         missing_documents = ?1 -> 'missing_documents', looks = ?1 ->> 'looks', error = ?1 ->> 'error', due_at = ?1 ->> 'due_at',
         started_at = ?1 ->> 'started_at', finished_at = ?1 ->> 'finished_at'
       WHERE organization_id = ?3 AND revision = ?4 AND due_at = ?5 AND move_to IS ?6 RETURNING organization_id`,
    JSON.stringify(next),
    raisesRevision ? 1 : 0,
    move.organization_id,
    move.revision,
    move.due_at,
    move.move_to,
  );
  const [rows] = await database.batchOnce([save], async ({ changes }) => [changes ? [{}] : []]);
  return rows!.length > 0;
}

/** Gives a step back, to be taken from `dueAt` on; `error` where it failed. */
export async function rescheduleMove(database: Database, move: VectorMove, dueAt: number, error: string | null): Promise<void> {
  await database.all(
    database.prepare(
      'UPDATE vector_placement SET due_at = ?3, error = coalesce(?4, error) WHERE organization_id = ?1 AND due_at = ?2',
      move.organization_id,
      move.due_at,
      dueAt,
      error,
    ),
    'idempotent',
  );
}

/** A chunk that has a vector. */
export interface ChunkToMove {
  id: number;
  document_id: number;
  document_uuid: string;
  generation: number;
  chunk_index: number;
  /** Whether search shows it, or is about to. */
  is_wanted: number;
}

const chunkToMoveColumns = `c.id, c.document_id, d.uuid AS document_uuid, c.generation, c.chunk_index,
  (c.generation = d.generation OR (c.generation = d.next_generation AND d.status IN ('pending', 'processing'))) AS is_wanted`;

/** Those of active documents behind the cursor, in its order. */
export async function findChunksAfter(
  database: Database,
  organizationId: number,
  cursor: Omit<MoveCursor, 'tail'> | null,
  limit: number,
): Promise<ChunkToMove[]> {
  const { document, generation, chunk } = cursor ?? { document: 0, generation: 0, chunk: 0 };
  const [rest, following] = await database.batch([
    database.prepare(
      `SELECT ${chunkToMoveColumns} FROM knowledge_document d CROSS JOIN knowledge_chunk c
       WHERE d.organization_id = ?1 AND d.id = ?2 AND d.is_active = 1 AND c.document_id = d.id AND (c.generation, c.chunk_index) > (?3, ?4)
         AND c.embedding_model IS NOT NULL ORDER BY c.generation, c.chunk_index LIMIT ?5`,
      organizationId,
      document,
      generation,
      chunk,
      limit,
    ),
    database.prepare(
      `SELECT ${chunkToMoveColumns} FROM knowledge_document d CROSS JOIN knowledge_chunk c
       WHERE d.organization_id = ?1 AND d.is_active = 1 AND d.id > ?2 AND c.document_id = d.id AND c.embedding_model IS NOT NULL
       ORDER BY d.id, c.generation, c.chunk_index LIMIT ?3`,
      organizationId,
      document,
      limit,
    ),
  ]);
  return [...rest!, ...following!].slice(0, limit) as unknown as ChunkToMove[];
}

/** About how many chunks there are to move. */
export async function countChunks(database: Database, organizationId: number): Promise<number> {
  const row = await database.first<{ total: number }>(
    database.prepare(
      'SELECT coalesce(sum(total_chunks), 0) AS total FROM knowledge_document WHERE organization_id = ? AND is_active = 1 AND generation > 0',
      organizationId,
    ),
  );
  return row!.total;
}

/** Whether a deleted document's chunks are still to be cleared away. */
export async function hasDeletedChunks(database: Database, organizationId: number): Promise<boolean> {
  const statement = database.prepare(
    'SELECT 1 FROM knowledge_document WHERE organization_id = ? AND is_active = 0 AND due_at IS NOT NULL LIMIT 1',
    organizationId,
  );
  return (await database.first(statement)) !== null;
}

/** Organizations with a step that should have been taken by `before`, the longest overdue first. */
export async function findOverdueMoves(database: Database, before: number, limit: number): Promise<number[]> {
  const rows = await database.all<{ organization_id: number }>(
    database.prepare(
      'SELECT organization_id FROM vector_placement WHERE due_at IS NOT NULL AND due_at < ? ORDER BY due_at LIMIT ?',
      before,
      limit,
    ),
  );
  return rows.map(({ organization_id }) => organization_id);
}
