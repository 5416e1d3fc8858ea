import type { Context } from '../../context.ts';
import { isServiceError } from '../../library/errors.ts';
import { getVectorIndex } from '../../providers/vector-index/get-vector-index.ts';
import type { IndexName, VectorItem } from '../../providers/vector-index/vector-index.ts';
import { deleteChunks, markEmbedded } from '../chunks/store.ts';
import type { DocumentGeneration } from '../documents/generation.ts';
import { indexesToWrite, ensurePlacement, type Placement, indexesWithVectors } from './placement.ts';
import { cancelCopy } from './store.ts';

/** A move changes the written indexes three times: at its start, its switch and its end. */
const maxAttempts = 10;

/**
 * Stores the vectors of a generation's chunks in the organization's indexes and marks the chunks as embedded. False: the generation is no
 * longer in progress, and its vectors are removed. Throws the errors of a `VectorIndex`.
 */
export async function putVectors(context: Context, generation: DocumentGeneration, items: VectorItem[], model: string): Promise<boolean> {
  const { database, bindings, organization } = context;
  const ids = items.map(({ id }) => id);
  const touched = new Set<IndexName>();
  const removeFrom = async (names: Iterable<IndexName>) => {
    for (const name of names) await getVectorIndex(bindings, name, organization.id).remove(ids);
  };
  for (let tries = 0; tries < maxAttempts; tries++) {
    const placement = await ensurePlacement(context);
    const names = indexesToWrite(placement);
    for (const name of names) touched.add(name);
    if (!(await upsertIntoIndexes(context, placement, items))) continue;
    if ((await markEmbedded(database, generation, ids, model, placement.revision)) === ids.length) {
      await removeFrom([...touched].filter((name) => !names.includes(name)));
      return true;
    }
    if ((await ensurePlacement(context)).revision !== placement.revision) continue;
    // The document was deleted or is processed again; its chunks may have been removed before their vectors were stored.
    await removeFrom(touched);
    return false;
  }
  throw new Error(`the placement of the vectors changed ${maxAttempts} times`);
}

/** False: the target of a move refuses the vectors, so the move is cancelled. */
async function upsertIntoIndexes(
  { database, bindings, organization }: Context,
  placement: Placement,
  items: VectorItem[],
): Promise<boolean> {
  for (const name of indexesToWrite(placement)) {
    try {
      await getVectorIndex(bindings, name, organization.id).upsert(items);
    } catch (error) {
      if (name === placement.kept_in || !isServiceError(error)) throw error;
      await cancelCopy(database, organization.id, placement.revision, error.message);
      return false;
    }
  }
  return true;
}

/** Whether queries find the chunks in every written index; during a move, in both. */
export async function areVectorsVisible(context: Context, ids: number[]): Promise<boolean> {
  const { bindings, organization } = context;
  for (const name of indexesToWrite(await ensurePlacement(context)))
    if (!(await getVectorIndex(bindings, name, organization.id).areVisible(ids))) return false;
  return true;
}

/**
 * Removes chunks and their vectors. `again`: the placement changed meanwhile; call again. `later`: a copy is in progress and would restore
 * removed vectors; call again when it has ended.
 */
export async function removeChunks(context: Context, ids: number[]): Promise<'done' | 'again' | 'later'> {
  const { database, bindings, organization } = context;
  const placement = await ensurePlacement(context);
  if (placement.phase === 'copying') return 'later';
  for (const name of indexesWithVectors(placement)) await getVectorIndex(bindings, name, organization.id).remove(ids);
  // Rows are deleted last: only they name the vectors.
  return (await deleteChunks(database, organization.id, ids, placement.revision)) ? 'done' : 'again';
}
