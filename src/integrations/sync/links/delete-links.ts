import type { Context } from '../../../context.ts';
import { deleteIntegrationLinks, deleteContactLinks } from './store.ts';

const pageSize = 500;

/** Forgets a page of which contacts stood for which records of a tool that is connected no more. True: that was all. The contacts stay. */
export const deleteLinksPage = async ({ database, organization }: Context, integrationId: number): Promise<boolean> =>
  (await deleteIntegrationLinks(database, organization.id, integrationId, pageSize)) < pageSize;

/** Forgets a page of what a deleted contact stood for in connected tools. True: that was all. */
export const deleteContactLinksPage = async ({ database, organization }: Context, contactId: number): Promise<boolean> =>
  (await deleteContactLinks(database, organization.id, contactId, pageSize)) < pageSize;
