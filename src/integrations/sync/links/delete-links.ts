import type { Context } from '../../../context.ts';
import { deleteIntegrationLinks, deleteContactLinks } from './store.ts';

const pageSize = 500;

/** Deletes a page of the links of a disconnected integration; the contacts stay. True: no link is left. */
export const deleteLinksPage = async ({ database, organization }: Context, integrationId: number): Promise<boolean> =>
  (await deleteIntegrationLinks(database, organization.id, integrationId, pageSize)) < pageSize;

/** Deletes a page of the links of a deleted contact. True: no link is left. */
export const deleteContactLinksPage = async ({ database, organization }: Context, contactId: number): Promise<boolean> =>
  (await deleteContactLinks(database, organization.id, contactId, pageSize)) < pageSize;
