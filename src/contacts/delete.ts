import type { Context } from '../accounts/context.ts';
import type { Database } from '../database/client.ts';
import { notFound } from '../library/errors.ts';
import { announceCleanup } from '../queues/announce.ts';
import * as store from './store-erase.ts';

/** Erases personal data and frees phone and external id at once; what else names the contact follows in pages. */
export async function deleteContact(context: Context, id: number): Promise<void> {
  const cleanup = await store.buryContact(context.database, context.organization.id, id, context.clock());
  if (cleanup === null) throw notFound('Contact');
  announceCleanup(context, cleanup);
}

/** One page of what follows a contact's deletion; answers whether all is done. */
export const eraseContactTraces = (database: Database, organizationId: number, contactId: number): Promise<boolean> =>
  store.unlinkEvents(database, organizationId, contactId);

/** One page of what follows a list's deletion; answers whether all is done. */
export const removeDeletedListMembers = (database: Database, organizationId: number, listId: number): Promise<boolean> =>
  store.removeMembersOfDeleted(database, organizationId, listId);
