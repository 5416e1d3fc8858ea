import type { Context } from '../../context.ts';
import { getVectorIndex } from '../../providers/vector-index/get-vector-index.ts';
import type { IndexName, VectorIndex } from '../../providers/vector-index/vector-index.ts';
import { findSearchableChunk, setInitialPlacement, findPlacement, type PlacementRow } from './store.ts';

/** The indexes that hold an organization's vectors. */
export type Placement = Pick<PlacementRow, 'phase' | 'other' | 'revision'> & { kept_in: IndexName };

/** The index that search reads. `row`: the organization's placement, if it has one. */
export async function getSearchIndex(context: Context, row: PlacementRow | null): Promise<VectorIndex> {
  const { bindings, organization } = context;
  return getVectorIndex(bindings, row?.kept_in ?? (await detectIndex(context)), organization.id);
}

/** The current placement for a write. It is stored if the organization had none. */
export async function ensurePlacement(context: Context): Promise<Placement> {
  const { database, organization } = context;
  const row = await findPlacement(database, organization.id);
  if (row?.kept_in) return toPlacement(row);
  return toPlacement(await setInitialPlacement(database, organization.id, await detectIndex(context)));
}

/** The indexes for new vectors: both during a copy. */
export const indexesToWrite = ({ kept_in: keptIn, other, phase }: Placement): IndexName[] =>
  phase === 'copying' ? [keptIn, other!] : [keptIn];

/** The indexes that may hold a vector. */
export const indexesWithVectors = ({ kept_in: keptIn, other }: Placement): IndexName[] => (other === null ? [keptIn] : [keptIn, other]);

const toPlacement = ({ kept_in, phase, other, revision }: PlacementRow): Placement => ({ kept_in: kept_in!, phase, other, revision });

/**
 * The index of an organization without a stored placement. Its vectors may be older than `vector_placement`, from a time with another
 * VECTOR_BACKEND, so the embedded index is asked for one of them.
 */
async function detectIndex({ database, bindings, organization, settings }: Context): Promise<IndexName> {
  const chunk = await findSearchableChunk(database, organization.id);
  if (chunk === null) return settings.VECTOR_BACKEND;
  const isEmbedded = await getVectorIndex(bindings, 'embedded', organization.id).areVisible([chunk]);
  return isEmbedded ? 'embedded' : settings.VECTOR_BACKEND;
}
