import { and, eq, isNotNull } from 'drizzle-orm';
import type { Database } from '../../database/client.ts';
import { knowledgeDocument, type knowledgeChunk } from '../../database/schema/knowledge-base.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { findPlacement, type MoveCursor, type PlacementRow } from './store.ts';

/** A claimed step of a move. No other consumer claims a step before `due_at`. */
export type VectorMove = PlacementRow & { kept_in: NonNullable<PlacementRow['kept_in']>; due_at: number };

/** Claims the next step of the organization's move until `until` (epoch ms); null when no step is due. */
export async function claimMove(database: Database, organizationId: number, now: number, until: number): Promise<VectorMove | null> {
  const claim = database.prepare(
    'UPDATE vector_placement SET due_at = ?3 WHERE organization_id = ?1 AND due_at <= ?2 RETURNING organization_id',
    organizationId,
    now,
    until,
  );
  const [claimed] = await database.batchOnce([claim], async ({ changes }) => [changes ? [{}] : []]);
  const row = claimed[0] && (await findPlacement(database, organizationId));
  return row?.due_at === until ? (row as VectorMove) : null;
}

/** The columns that a step changes. */
export type MoveChange = Partial<Omit<PlacementRow, 'organization_id' | 'revision'>> & { raisesRevision?: boolean };

/** The change of a step, and the delay of the next step in seconds; null: no step follows. */
export interface MoveStepResult {
  change: MoveChange;
  nextAfterSeconds: number | null;
}

/** Saves a step. False, without a change, when the claim expired or the target or the revision of the placement changed meanwhile. */
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
  return rows.length > 0;
}

/** Makes a claimed step due at `dueAt` (epoch ms). `error`: the reason of a failed try. */
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

/** A chunk with a vector. */
export interface ChunkToMove extends Pick<StoredRow<typeof knowledgeChunk>, 'id' | 'document_id' | 'generation' | 'chunk_index'> {
  document_uuid: string;
  /** 1 when search uses the chunk or will use it once its generation is published. */
  is_wanted: number;
}

const chunkToMoveColumns = `c.id, c.document_id, d.uuid AS document_uuid, c.generation, c.chunk_index,
  (c.generation = d.generation OR (c.generation = d.next_generation AND d.status IN ('pending', 'processing'))) AS is_wanted`;

/** The chunks of active documents after the cursor, in its order. */
export async function findChunksAfter(
  database: Database,
  organizationId: number,
  cursor: Omit<MoveCursor, 'tail'> | null,
  limit: number,
): Promise<ChunkToMove[]> {
  const { document, generation, chunk } = cursor ?? { document: 0, generation: 0, chunk: 0 };
  const [rest, following] = await database.batch([
    database.prepare<ChunkToMove>(
      `SELECT ${chunkToMoveColumns} FROM knowledge_document d CROSS JOIN knowledge_chunk c
       WHERE d.organization_id = ?1 AND d.id = ?2 AND d.is_active = 1 AND c.document_id = d.id AND (c.generation, c.chunk_index) > (?3, ?4)
         AND c.embedding_model IS NOT NULL ORDER BY c.generation, c.chunk_index LIMIT ?5`,
      organizationId,
      document,
      generation,
      chunk,
      limit,
    ),
    database.prepare<ChunkToMove>(
      `SELECT ${chunkToMoveColumns} FROM knowledge_document d CROSS JOIN knowledge_chunk c
       WHERE d.organization_id = ?1 AND d.is_active = 1 AND d.id > ?2 AND c.document_id = d.id AND c.embedding_model IS NOT NULL
       ORDER BY d.id, c.generation, c.chunk_index LIMIT ?3`,
      organizationId,
      document,
      limit,
    ),
  ]);
  return [...rest, ...following].slice(0, limit);
}

/** The approximate number of chunks to move. */
export async function countChunks(database: Database, organizationId: number): Promise<number> {
  const row = await database.first(
    database.prepare<{ total: number }>(
      'SELECT coalesce(sum(total_chunks), 0) AS total FROM knowledge_document WHERE organization_id = ? AND is_active = 1 AND generation > 0',
      organizationId,
    ),
  );
  return row!.total;
}

/** Whether chunks of a deleted document are still to be removed. */
export async function hasDeletedChunks(database: Database, organizationId: number): Promise<boolean> {
  const query = database.orm
    .select({ id: knowledgeDocument.id })
    .from(knowledgeDocument)
    .where(
      and(eq(knowledgeDocument.organizationId, organizationId), eq(knowledgeDocument.isActive, false), isNotNull(knowledgeDocument.dueAt)),
    )
    .limit(1);
  return (await database.run(() => query)).length > 0;
}

/** The organizations with a step due before `before` (epoch ms), the longest overdue first. */
export async function findOverdueMoves(database: Database, before: number, limit: number): Promise<number[]> {
  const rows = await database.all(
    database.prepare<{ organization_id: number }>(
      'SELECT organization_id FROM vector_placement WHERE due_at IS NOT NULL AND due_at < ? ORDER BY due_at LIMIT ?',
      before,
      limit,
    ),
  );
  return rows.map(({ organization_id }) => organization_id);
}
