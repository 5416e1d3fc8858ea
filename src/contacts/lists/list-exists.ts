import type { Context } from '../../context.ts';
import { findList } from './store.ts';

export const listExists = async ({ database, organization }: Context, listId: number): Promise<boolean> =>
  (await findList(database, organization.id, listId)) !== null;
