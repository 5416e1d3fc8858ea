import type { Context } from '../../context.ts';
import { isServiceError } from '../../library/errors.ts';
import { getVectorIndex } from '../../providers/vector-index/get-vector-index.ts';
import type { VectorIndex } from '../../providers/vector-index/vector-index.ts';
import { toVisibilityDelaySeconds, maxVisibilityChecks, visibilitySampleSize } from './visibility.ts';
import { findChunksAfter, type VectorMove, type ChunkToMove, type MoveStepResult } from './move-store.ts';

const maxMissingDocuments = 100;
const notVisibleMessage = 'The vector index has not shown all of the vectors for an hour; search stays where it is until it does';

/** Copies the next page from `kept_in` to `other`; `all` once queries find every copied vector in `other`. */
export async function copyPage(context: Context, move: VectorMove, pageSize: number): Promise<MoveStepResult | 'all'> {
  const { database, bindings, organization } = context;
  const [source, target] = [move.kept_in, move.other!].map((name) => getVectorIndex(bindings, name, organization.id)) as [
    VectorIndex,
    VectorIndex,
  ];
  const page = await findChunksAfter(database, organization.id, move.cursor, pageSize);
  if (page.length === 0) {
    if (await target.areVisible(move.cursor?.tail ?? [])) return 'all';
    return checkAgainLater(move, move.looks >= maxVisibilityChecks ? notVisibleMessage : move.error);
  }
  const { vectors, missing } = await readPage(page, source, target);
  // Vectors of recent upserts may not be visible yet.
  if (missing.length > 0 && move.kept_in === 'vectorize' && move.looks < maxVisibilityChecks) return checkAgainLater(move, move.error);
  try {
    await target.upsert(page.flatMap(({ id, document_id }) => toVectorItems(id, document_id, vectors.get(id))));
  } catch (error) {
    if (!isServiceError(error)) throw error;
    // The index would refuse the same vectors again: the copies are removed and the vectors stay in their index.
    return {
      change: { phase: 'clearing', move_to: move.kept_in, cursor: null, looks: 0, error: error.message, raisesRevision: true },
      nextAfterSeconds: 0,
    };
  }
  return { change: toMoveProgress(move, page, missing, [...vectors.keys()]), nextAfterSeconds: 0 };
}

const checkAgainLater = ({ looks }: VectorMove, error: string | null): MoveStepResult => ({
  change: { looks: looks + 1, error },
  nextAfterSeconds: toVisibilityDelaySeconds(looks),
});

/** The vectors of a page, and the wanted chunks without a vector in either index. */
async function readPage(page: ChunkToMove[], source: VectorIndex, target: VectorIndex) {
  const vectors = await source.read(page.map(({ id }) => id));
  const absent = page.filter(({ id, is_wanted }) => is_wanted && !vectors.has(id));
  const copied = absent.length === 0 ? new Map<number, Float32Array>() : await target.read(absent.map(({ id }) => id));
  return { vectors, missing: absent.filter(({ id }) => !copied.has(id)) };
}

const toVectorItems = (id: number, documentId: number, vector: Float32Array | undefined) => (vector ? [{ id, documentId, vector }] : []);

function toMoveProgress(move: VectorMove, page: ChunkToMove[], missing: ChunkToMove[], written: number[]) {
  const last = page.at(-1)!;
  const tail = [...(move.cursor?.tail ?? []), ...written].slice(-visibilitySampleSize);
  const documents = new Set([...move.missing_documents, ...missing.map(({ document_uuid }) => document_uuid)]);
  return {
    cursor: { document: last.document_id, generation: last.generation, chunk: last.chunk_index, tail },
    moved: move.moved + page.length - missing.length,
    missing: move.missing + missing.length,
    missing_documents: [...documents].slice(0, maxMissingDocuments),
    looks: 0,
    error: null,
  };
}
