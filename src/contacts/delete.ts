import type { Context } from '../accounts/context.ts';
import { notFound } from '../library/errors.ts';
import { announceCleanup } from '../queues/announce.ts';
import { buryContact } from './store-erase.ts';

/** Erases personal data and frees phone and external id at once; what else names the contact follows in pages. */
export async function deleteContact(context: Context, id: number): Promise<void> {
  const cleanup = await buryContact(context.database, context.organization.id, id, context.clock());
  if (cleanup === null) throw notFound('Contact');
  announceCleanup(context, cleanup);
}
