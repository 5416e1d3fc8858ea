import type { Context } from '../../context.ts';
import { getVectorIndex } from '../../providers/vector-index/vector-index.ts';
import { indexesToWrite, ensurePlacement } from './placement.ts';

/** Whether chunks can be found wherever they were written; during a move also where search will look next. */
export async function areVectorsVisible(context: Context, ids: number[]): Promise<boolean> {
  const { bindings, organization } = context;
  for (const name of indexesToWrite(await ensurePlacement(context)))
    if (!(await getVectorIndex(bindings, name, organization.id).areVisible(ids))) return false;
  return true;
}
