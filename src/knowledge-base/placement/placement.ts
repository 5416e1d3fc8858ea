import type { Context } from '../../accounts/context.ts';
import { vectorIndexOf, type IndexName, type VectorIndex } from '../../providers/vector-index/vector-index.ts';
import { anyShownChunk, decidePlacement, findPlacement, type PlacementRow } from './store.ts';

/** Where an organization's vectors are. */
export type Placement = Pick<PlacementRow, 'phase' | 'other' | 'revision'> & { kept_in: IndexName };

/** The index that search looks into; `row` is the organization's placement, if it has one. */
export async function searchedIndex(context: Context, row: PlacementRow | null): Promise<VectorIndex> {
  const { bindings, organization } = context;
  return vectorIndexOf(bindings, row?.kept_in ?? (await whereTheyAre(context)), organization.id);
}

/** The placement for whoever writes, read anew: it has a row from now on. */
export async function writtenPlacement(context: Context): Promise<Placement> {
  const { database, organization } = context;
  const row = await findPlacement(database, organization.id);
  if (row?.kept_in) return placementOf(row);
  return placementOf(await decidePlacement(database, organization.id, await whereTheyAre(context)));
}

/** Where new vectors go: during a copy into both indexes. */
export const writtenIndexes = ({ kept_in: keptIn, other, phase }: Placement): IndexName[] =>
  phase === 'copying' ? [keptIn, other!] : [keptIn];

/** Where a vector may be. */
export const heldIndexes = ({ kept_in: keptIn, other }: Placement): IndexName[] => (other === null ? [keptIn] : [keptIn, other]);

const placementOf = ({ kept_in, phase, other, revision }: PlacementRow): Placement => ({ kept_in: kept_in!, phase, other, revision });

/**
 * For an organization of which nobody has said it. Its vectors may be older than `vector_placement`, when VECTOR_BACKEND may have been another:
 * the embedded index, which is there wherever the service is, is asked for one.
 */
async function whereTheyAre({ database, bindings, organization, settings }: Context): Promise<IndexName> {
  const chunk = await anyShownChunk(database, organization.id);
  if (chunk === null) return settings.VECTOR_BACKEND;
  const isEmbedded = await vectorIndexOf(bindings, 'embedded', organization.id).areVisible([chunk]);
  return isEmbedded ? 'embedded' : settings.VECTOR_BACKEND;
}
