import type { Context } from '../../accounts/context.ts';
import { isServiceError } from '../../library/errors.ts';
import { vectorIndexOf, type VectorIndex } from '../../providers/vector-index/vector-index.ts';
import { chunksAfter, type Move, type MovedChunk, type StepResult } from './move-store.ts';

/** An index shows what it takes in order, so the last ones speak for all. */
const lookedAt = 20;
/** An hour: after 2, 4, 6 ... and then 60 seconds. */
const mostLooks = 75;
const mostDocumentsNamed = 100;
const notShown = 'The vector index has not shown all of the vectors for an hour; search stays where it is until it does';

/** Copies the next page from `kept_in` to `other`; `all` once everything is there to be found. */
export async function copyPage(context: Context, move: Move, pageSize: number): Promise<StepResult | 'all'> {
  const { database, bindings, organization } = context;
  const [source, target] = [move.kept_in, move.other!].map((name) => vectorIndexOf(bindings, name, organization.id)) as [
    VectorIndex,
    VectorIndex,
  ];
  const page = await chunksAfter(database, organization.id, move.cursor, pageSize);
  if (page.length === 0) {
    if (await target.areVisible(move.cursor?.tail ?? [])) return 'all';
    return lookAgain(move, move.looks >= mostLooks ? notShown : move.error);
  }
  const { vectors, missing } = await readPage(page, source, target);
  // What was written lately may not be shown yet.
  if (missing.length > 0 && move.kept_in === 'vectorize' && move.looks < mostLooks) return lookAgain(move, move.error);
  try {
    await target.upsert(page.flatMap(({ id, document_id }) => itemOf(id, document_id, vectors.get(id))));
  } catch (error) {
    if (!isServiceError(error)) throw error;
    // It would refuse the same again: what was copied goes, and the vectors stay where they are.
    return {
      change: { phase: 'clearing', move_to: move.kept_in, cursor: null, looks: 0, error: error.message, raisesRevision: true },
      nextAfterSeconds: 0,
    };
  }
  return { change: progress(move, page, missing, [...vectors.keys()]), nextAfterSeconds: 0 };
}

const lookAgain = ({ looks }: Move, error: string | null): StepResult => ({
  change: { looks: looks + 1, error },
  nextAfterSeconds: Math.min(60, 2 * (looks + 1)),
});

/** The vectors of a page, and the wanted chunks of which neither index has one. */
async function readPage(page: MovedChunk[], source: VectorIndex, target: VectorIndex) {
  const vectors = await source.read(page.map(({ id }) => id));
  const absent = page.filter(({ id, is_wanted }) => is_wanted && !vectors.has(id));
  const there = absent.length === 0 ? new Map<number, Float32Array>() : await target.read(absent.map(({ id }) => id));
  return { vectors, missing: absent.filter(({ id }) => !there.has(id)) };
}

const itemOf = (id: number, documentId: number, vector: Float32Array | undefined) => (vector ? [{ id, documentId, vector }] : []);

function progress(move: Move, page: MovedChunk[], missing: MovedChunk[], written: number[]) {
  const last = page.at(-1)!;
  const tail = [...(move.cursor?.tail ?? []), ...written].slice(-lookedAt);
  const documents = new Set([...move.missing_documents, ...missing.map(({ document_uuid }) => document_uuid)]);
  return {
    cursor: { document: last.document_id, generation: last.generation, chunk: last.chunk_index, tail },
    moved: move.moved + page.length - missing.length,
    missing: move.missing + missing.length,
    missing_documents: [...documents].slice(0, mostDocumentsNamed),
    looks: 0,
    error: null,
  };
}
