import type { Context } from '../../../context.ts';
import { deleteFiles } from '../../../database/delete-files.ts';
import { payloadKey } from '../../../database/payload.ts';
import { findErasableDeliveries, eraseDeliveryRows } from './store.ts';

/** Payloads of a page are in memory together, up to 64 KiB each. */
const pageSize = 100;

/** Takes what was sent out of a page of the deliveries that named a deleted contact, and out of R2. True: that was all. */
export async function eraseDeliveries({ database, organization, bindings, clock }: Context, contactId: number): Promise<boolean> {
  const deliveries = await findErasableDeliveries(database, organization.id, contactId, pageSize);
  if (deliveries.length === 0) return true;
  // Before the rows, since these alone know where the files are.
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
