import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import { enqueueCleanup } from '../../outbox/enqueue.ts';
import { tombstoneContact } from './erase-store.ts';

/** Erases personal data and frees phone and external id at once; what else names the contact follows in pages. */
export async function deleteContact(context: Context, id: number): Promise<void> {
  const cleanup = await tombstoneContact(context.database, context.organization.id, id, context.clock());
  if (cleanup === null) throw notFound('Contact');
  enqueueCleanup(context, cleanup);
}
