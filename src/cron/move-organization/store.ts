import type { Database } from '../../database/client.ts';
import type { MovePhase, organizationMove } from '../../database/schema/accounts.ts';
import type { RowKey } from './copy-rows.ts';
import type { StoredRow } from '../../database/stored-row.ts';

type MoveRow = Omit<StoredRow<typeof organizationMove>, 'cursor'> & { cursor: RowKey | null };

/** A move that this worker holds. */
export type Move = MoveRow & { due_at: number };

/** What a step changes. */
export type MoveChange = Partial<
  Pick<MoveRow, 'phase' | 'step' | 'cursor' | 'copied' | 'changes_left' | 'tries' | 'note' | 'announced_at' | 'finished_at'>
>;

/** Takes up a move that is due at `now`, until `until` (epoch ms); null when there is none. Workers before this one write nothing any more. */
export async function claimMove(catalog: Database, organizationId: number, now: number, until: number): Promise<Move | null> {
  const claim = catalog.prepare(
    'UPDATE organization_move SET due_at = ?3, claim = claim + 1 WHERE subject_id = ?1 AND due_at <= ?2 RETURNING 1',
    organizationId,
    now,
    until,
  );
  const [claimed] = await catalog.batchOnce([claim], async ({ changes }) => [changes ? [{}] : []]);
  if (!claimed.length) return null;
  const row = await findMove(catalog, organizationId);
  return row?.due_at === until ? (row as Move) : null;
}

export async function findMove(catalog: Database, organizationId: number): Promise<MoveRow | null> {
  const row = await catalog.first(
    catalog.prepare<Omit<MoveRow, 'cursor'> & { cursor: string | null }>(
      'SELECT * FROM organization_move WHERE subject_id = ?',
      organizationId,
    ),
  );
  return row && { ...row, cursor: row.cursor === null ? null : (JSON.parse(row.cursor) as RowKey) };
}

const isHeld = 'subject_id = ?1 AND claim = ?2 AND phase = ?3';

/** Saves a step, due again at `dueAt` (epoch ms; null: the move is over). False when another worker or the operator has changed the move. */
export async function saveMove(catalog: Database, move: Move, change: MoveChange, dueAt: number | null): Promise<boolean> {
  const next = { ...move, ...change };
  const save = catalog.prepare(
    `UPDATE organization_move SET phase = ?4, step = ?5, cursor = ?6, copied = ?7, changes_left = ?8, tries = ?9, note = ?10, announced_at = ?11,
       finished_at = ?12, due_at = ?13 WHERE ${isHeld} RETURNING 1`,
    move.subject_id,
    move.claim,
    move.phase,
    next.phase,
    next.step,
    next.cursor === null ? null : JSON.stringify(next.cursor),
    next.copied,
    next.changes_left,
    next.tries,
    next.note,
    next.announced_at,
    next.finished_at,
    dueAt,
  );
  const [rows] = await catalog.batchOnce([save], async ({ changes }) => [changes ? [{}] : []]);
  return rows.length > 0;
}

/** Has nobody cache the organization's row from now on. Their caches of before last a minute. */
export async function announceMove(catalog: Database, { subject_id: id, to_shard: to }: Move): Promise<void> {
  await catalog.all(catalog.prepare('UPDATE organization SET moving_to = ? WHERE id = ? AND deleting_at IS NULL', to, id), 'idempotent');
}

export async function endAnnouncement(catalog: Database, { subject_id: id }: Move): Promise<void> {
  await catalog.all(catalog.prepare('UPDATE organization SET moving_to = NULL WHERE id = ?', id), 'idempotent');
}

/** Makes the new shard the organization's, in one transaction with the phase. False when the move is not this worker's, or called off. */
export async function switchShard(catalog: Database, move: Move, now: number, dueAt: number): Promise<boolean> {
  const { subject_id: id, claim, from_shard: from, to_shard: to } = move;
  const held = `EXISTS (SELECT 1 FROM organization_move WHERE subject_id = ?1 AND claim = ?2 AND phase = 'fenced')`;
  const [, rows] = await catalog.batchOnce(
    [
      catalog.prepare(
        `UPDATE organization SET shard = ?4, moving_to = NULL WHERE id = ?1 AND shard = ?3 AND deleting_at IS NULL AND ${held}`,
        id,
        claim,
        from,
        to,
      ),
      catalog.prepare(
        `UPDATE organization_move SET phase = 'left', step = 0, cursor = NULL, note = NULL, moved_at = ?3, due_at = ?4
         WHERE subject_id = ?1 AND claim = ?2 AND phase = 'fenced' AND changes() > 0 RETURNING 1`,
        id,
        claim,
        now,
        dueAt,
      ),
    ],
    async ({ changes }) => [[], changes ? [{}] : []],
  );
  return rows!.length > 0;
}

const overPhases: ReadonlySet<MovePhase> = new Set(['moved', 'cancelled', 'refused']);

export const isOver = ({ phase }: Pick<MoveRow, 'phase'>): boolean => overPhases.has(phase);

/** Organizations with a step that was due before `before`. */
export async function findOverdueMoves(catalog: Database, before: number, limit: number): Promise<number[]> {
  const rows = await catalog.all(
    catalog.prepare<{ subject_id: number }>(
      'SELECT subject_id FROM organization_move WHERE due_at IS NOT NULL AND due_at < ? ORDER BY due_at LIMIT ?',
      before,
      limit,
    ),
  );
  return rows.map(({ subject_id: id }) => id);
}
