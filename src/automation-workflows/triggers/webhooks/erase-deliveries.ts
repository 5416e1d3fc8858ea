import type { Context } from '../../../context.ts';
import { deleteFiles } from '../../../database/delete-files.ts';
import { payloadKey } from '../../../database/payload.ts';
import { findErasableDeliveries, eraseDeliveryRows } from './store.ts';

/** The payloads of a page, up to 64 KiB each, are in memory together. */
const pageSize = 100;

/** Erases the content of a page of the deliveries that named a deleted contact, in D1 and R2. Answers whether none is left. */
export async function eraseDeliveries({ database, organization, bindings, clock }: Context, contactId: number): Promise<boolean> {
  const deliveries = await findErasableDeliveries(database, organization.id, contactId, pageSize);
  if (deliveries.length === 0) return true;
  // Before the rows, which alone know where the files are.
  await deleteFiles(
    bindings.FILES,
    deliveries.flatMap(({ payload }) => payloadKey(payload) ?? []),
  );
  await eraseDeliveryRows(
    database,
    organization.id,
    deliveries.map(({ id }) => id),
    clock(),
  );
  return deliveries.length < pageSize;
}
