import type { Context } from '../../accounts/context.ts';
import { vectorIndexOf } from '../../providers/vector-index/vector-index.ts';
import { writtenIndexes, writtenPlacement } from './placement.ts';

/** Whether chunks can be found wherever they were written; during a move also where search will look next. */
export async function areWrittenVisible(context: Context, ids: number[]): Promise<boolean> {
  const { bindings, organization } = context;
  for (const name of writtenIndexes(await writtenPlacement(context)))
    if (!(await vectorIndexOf(bindings, name, organization.id).areVisible(ids))) return false;
  return true;
}
