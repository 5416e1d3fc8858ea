import type { Context } from '../../context.ts';
import { isServiceError } from '../../library/errors.ts';
import { getVectorIndex, type IndexName, type VectorItem } from '../../providers/vector-index/vector-index.ts';
import { markEmbedded, type DocumentGeneration } from '../pipeline/store.ts';
import { indexesToWrite, ensurePlacement, type Placement } from './placement.ts';
import { cancelCopy } from './store.ts';

/** A move changes what is written to at its begin, its turn and its end. */
const maxAttempts = 10;

/**
 * Puts the vectors of a making's chunks wherever they belong, and says so of the chunks; answers whether the making is still under way. If not,
 * no vector of theirs stays. Throws as an index does.
 */
export async function putVectors(context: Context, making: DocumentGeneration, items: VectorItem[], model: string): Promise<boolean> {
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
    if ((await markEmbedded(database, making, ids, model, placement.revision)) === ids.length) {
      await removeFrom([...touched].filter((name) => !names.includes(name)));
      return true;
    }
    if ((await ensurePlacement(context)).revision !== placement.revision) continue;
    // Deleted or begun anew meanwhile: the chunks may have been cleared away before their vectors came.
    await removeFrom(touched);
    return false;
  }
  throw new Error(`the placement of the vectors changed ${maxAttempts} times`);
}

/** False: the index that the vectors are moved to refuses them; so the move is called off. */
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
