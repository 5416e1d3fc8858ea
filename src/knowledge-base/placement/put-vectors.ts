import type { Context } from '../../accounts/context.ts';
import { isServiceError } from '../../library/errors.ts';
import { vectorIndexOf, type IndexName, type VectorItem } from '../../providers/vector-index/vector-index.ts';
import { markEmbedded, type Making } from '../pipeline/store.ts';
import { writtenIndexes, writtenPlacement, type Placement } from './placement.ts';
import { callOffCopy } from './store.ts';

/** A move changes what is written to at its begin, its turn and its end. */
const mostTries = 10;

/**
 * Puts the vectors of a making's chunks wherever they belong, and says so of the chunks; answers whether the making is still under way. If not,
 * no vector of theirs stays. Throws as an index does.
 */
export async function putVectors(context: Context, making: Making, items: VectorItem[], model: string): Promise<boolean> {
  const { database, bindings, organization } = context;
  const ids = items.map(({ id }) => id);
  const touched = new Set<IndexName>();
  const removeFrom = async (names: Iterable<IndexName>) => {
    for (const name of names) await vectorIndexOf(bindings, name, organization.id).remove(ids);
  };
  for (let tries = 0; tries < mostTries; tries++) {
    const placement = await writtenPlacement(context);
    const names = writtenIndexes(placement);
    for (const name of names) touched.add(name);
    if (!(await putInto(context, placement, items))) continue;
    if ((await markEmbedded(database, making, ids, model, placement.revision)) === ids.length) {
      await removeFrom([...touched].filter((name) => !names.includes(name)));
      return true;
    }
    if ((await writtenPlacement(context)).revision !== placement.revision) continue;
    // Deleted or begun anew meanwhile: the chunks may have been cleared away before their vectors came.
    await removeFrom(touched);
    return false;
  }
  throw new Error(`the placement of the vectors changed ${mostTries} times`);
}

/** False: the index that the vectors are moved to refuses them; so the move is called off. */
async function putInto({ database, bindings, organization }: Context, placement: Placement, items: VectorItem[]): Promise<boolean> {
  for (const name of writtenIndexes(placement)) {
    try {
      await vectorIndexOf(bindings, name, organization.id).upsert(items);
    } catch (error) {
      if (name === placement.kept_in || !isServiceError(error)) throw error;
      await callOffCopy(database, organization.id, placement.revision, error.message);
      return false;
    }
  }
  return true;
}
