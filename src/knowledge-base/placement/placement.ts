import type { Context } from '../../context.ts';
import { getVectorIndex, type IndexName, type VectorIndex } from '../../providers/vector-index/vector-index.ts';
import { findSearchableChunk, setInitialPlacement, findPlacement, type PlacementRow } from './store.ts';

/** Where an organization's vectors are. */
export type Placement = Pick<PlacementRow, 'phase' | 'other' | 'revision'> & { kept_in: IndexName };

/** The index that search looks into; `row` is the organization's placement, if it has one. */
export async function getSearchIndex(context: Context, row: PlacementRow | null): Promise<VectorIndex> {
  const { bindings, organization } = context;
  return getVectorIndex(bindings, row?.kept_in ?? (await detectIndex(context)), organization.id);
}

/** The placement for whoever writes, read anew: it has a row from now on. */
export async function ensurePlacement(context: Context): Promise<Placement> {
  const { database, organization } = context;
  const row = await findPlacement(database, organization.id);
  if (row?.kept_in) return toPlacement(row);
  return toPlacement(await setInitialPlacement(database, organization.id, await detectIndex(context)));
}

/** Where new vectors go: during a copy into both indexes. */
export const indexesToWrite = ({ kept_in: keptIn, other, phase }: Placement): IndexName[] =>
  phase === 'copying' ? [keptIn, other!] : [keptIn];

/** Where a vector may be. */
export const indexesWithVectors = ({ kept_in: keptIn, other }: Placement): IndexName[] => (other === null ? [keptIn] : [keptIn, other]);

const toPlacement = ({ kept_in, phase, other, revision }: PlacementRow): Placement => ({ kept_in: kept_in!, phase, other, revision });

/**
 * For an organization of which nobody has said it. Its vectors may be older than `vector_placement`, when VECTOR_BACKEND may have been another:
 * the embedded index, which is there wherever the service is, is asked for one.
 */
async function detectIndex({ database, bindings, organization, settings }: Context): Promise<IndexName> {
  const chunk = await findSearchableChunk(database, organization.id);
  if (chunk === null) return settings.VECTOR_BACKEND;
  const isEmbedded = await getVectorIndex(bindings, 'embedded', organization.id).areVisible([chunk]);
  return isEmbedded ? 'embedded' : settings.VECTOR_BACKEND;
}
