import type { Context } from '../../accounts/context.ts';
import { deleteLinksOf } from './link-store.ts';

const pageSize = 500;

/** Forgets a page of which contacts stood for which records of a tool that is connected no more. True: that was all. The contacts stay. */
export const forgetLinks = async ({ database, organization }: Context, integrationId: number): Promise<boolean> =>
  (await deleteLinksOf(database, organization.id, integrationId, pageSize)) < pageSize;
