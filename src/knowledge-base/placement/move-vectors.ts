import type { Context } from '../../context.ts';
import { isServiceError } from '../../library/errors.ts';
import { getVectorIndex } from '../../providers/vector-index/get-vector-index.ts';
import type { IndexName } from '../../providers/vector-index/vector-index.ts';
import type { FanoutMessage } from '../../outbox/messages.ts';
import { copyPage } from './copy-page.ts';
import * as store from './move-store.ts';
import type { VectorMove, MoveChange, MoveStepResult } from './move-store.ts';
import { ensurePlacement } from './placement.ts';

/** A step that takes longer is considered lost; the minute tick enqueues it again. */
const stepTimeoutMs = 120_000;
const pageSize = 500;
/** A search that began before the switch still reads the old index. */
const clearingDelaySeconds = 60;
const pendingDeletionsDelaySeconds = 30;
const retryDelaySeconds = 30;

/**
 * Runs one step of moving the organization's vectors to another index. Vectors are copied page by page; meanwhile new vectors go to both
 * indexes and removals wait. Once queries find every vector in the new index, search switches to it and the old index is cleared. Every
 * step is repeatable.
 */
export async function moveVectors(context: Context): Promise<void> {
  const { database, organization, clock, log } = context;
  await ensurePlacement(context);
  const now = clock();
  const move = await store.claimMove(database, organization.id, now, now + stepTimeoutMs);
  if (!move) return;
  try {
    const { change, nextAfterSeconds } = await runNextStep(context, move);
    const dueAt = nextAfterSeconds === null ? null : clock() + nextAfterSeconds * 1000;
    if (await store.saveMove(database, move, { ...change, due_at: dueAt })) {
      if (nextAfterSeconds !== null) await enqueueMove(context.bindings, organization.id, nextAfterSeconds);
      return;
    }
    await store.rescheduleMove(database, move, clock(), null);
    await enqueueMove(context.bindings, organization.id);
  } catch (error) {
    log.error('a step of moving vectors failed', error);
    await store.rescheduleMove(database, move, clock() + retryDelaySeconds * 1000, isServiceError(error) ? error.message : String(error));
  }
}

/** Sends the message of the organization's next step. */
export const enqueueMove = (bindings: Env, organizationId: number, delaySeconds = 0) =>
  bindings.FANOUT_QUEUE.send({ v: 1, kind: 'vector_move', organization_id: organizationId } satisfies FanoutMessage, { delaySeconds });

async function runNextStep(context: Context, move: VectorMove): Promise<MoveStepResult> {
  switch (move.phase) {
    case null:
      return move.move_to === null || move.move_to === move.kept_in ? finishMove(context) : beginCopy(context, move.move_to);
    case 'copying': {
      if (move.move_to !== move.other) return { change: toClearingChange(), nextAfterSeconds: 0 };
      const copied = await copyPage(context, move, pageSize);
      return copied === 'all' ? switchIndex(move) : copied;
    }
    case 'clearing':
      return clearPage(context, move);
  }
}

async function beginCopy({ database, bindings, organization, clock }: Context, target: IndexName): Promise<MoveStepResult> {
  // Throws when no index is bound.
  getVectorIndex(bindings, target, organization.id);
  const progress = {
    total: await store.countChunks(database, organization.id),
    moved: 0,
    missing: 0,
    missing_documents: [],
    looks: 0,
    cursor: null,
  };
  const timestamps = { started_at: clock(), finished_at: null, error: null };
  return { change: { ...progress, ...timestamps, phase: 'copying', other: target, raisesRevision: true }, nextAfterSeconds: 0 };
}

const toClearingChange = (): MoveChange => ({ phase: 'clearing', cursor: null, looks: 0, raisesRevision: true });

const switchIndex = ({ kept_in: keptIn, other }: VectorMove): MoveStepResult => ({
  change: { ...toClearingChange(), kept_in: other, other: keptIn, error: null },
  nextAfterSeconds: clearingDelaySeconds,
});

async function clearPage({ database, bindings, organization }: Context, move: VectorMove): Promise<MoveStepResult> {
  const page = await store.findChunksAfter(database, organization.id, move.cursor, pageSize);
  const last = page.at(-1);
  if (last) {
    await getVectorIndex(bindings, move.other!, organization.id).remove(page.map(({ id }) => id));
    const cursor = { document: last.document_id, generation: last.generation, chunk: last.chunk_index, tail: [] };
    return { change: { cursor }, nextAfterSeconds: 0 };
  }
  // Only the rows of deleted chunks name their vectors, so the move waits until both are removed.
  if (await store.hasDeletedChunks(database, organization.id)) return { change: {}, nextAfterSeconds: pendingDeletionsDelaySeconds };
  return { change: { phase: null, other: null, cursor: null, raisesRevision: true }, nextAfterSeconds: 0 };
}

function finishMove({ clock }: Context): MoveStepResult {
  return { change: { move_to: null, finished_at: clock() }, nextAfterSeconds: null };
}
