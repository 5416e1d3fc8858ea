import type { Context } from '../../accounts/context.ts';
import { deleteLinksOf, deleteLinksTo } from './link-store.ts';

const pageSize = 500;

/** Forgets a page of which contacts stood for which records of a tool that is connected no more. True: that was all. The contacts stay. */
export const forgetLinks = async ({ database, organization }: Context, integrationId: number): Promise<boolean> =>
  (await deleteLinksOf(database, organization.id, integrationId, pageSize)) < pageSize;

/** Forgets a page of what a deleted contact stood for in connected tools. True: that was all. */
export const forgetLinksTo = async ({ database, organization }: Context, contactId: number): Promise<boolean> =>
  (await deleteLinksTo(database, organization.id, contactId, pageSize)) < pageSize;
