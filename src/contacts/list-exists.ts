import type { Context } from '../accounts/context.ts';
import { findList } from './store-lists.ts';

export const listExists = async ({ database, organization }: Context, listId: number): Promise<boolean> =>
  (await findList(database, organization.id, listId)) !== null;
