import type { Context } from '../../context.ts';
import { getVectorIndex } from '../../providers/vector-index/vector-index.ts';
import { deleteChunks } from '../pipeline/finalize-store.ts';
import { indexesWithVectors, ensurePlacement } from './placement.ts';

/**
 * Removes chunks that search never shows again, and their vectors. `again`: the vectors moved meanwhile. `later`: they are being copied, and
 * what is copied while it is removed would come back.
 */
export async function removeChunks(context: Context, ids: number[]): Promise<'done' | 'again' | 'later'> {
  const { database, bindings, organization } = context;
  const placement = await ensurePlacement(context);
  if (placement.phase === 'copying') return 'later';
  for (const name of indexesWithVectors(placement)) await getVectorIndex(bindings, name, organization.id).remove(ids);
  // The rows go last: they know which vectors are there.
  return (await deleteChunks(database, organization.id, ids, placement.revision)) ? 'done' : 'again';
}
