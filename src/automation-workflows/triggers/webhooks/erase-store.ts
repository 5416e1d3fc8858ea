import type { Database } from '../../../database/client.ts';
import type { DeliveryPayload } from '../../runs/queries/records.ts';

export interface ErasableDelivery {
  id: number;
  /** JSON text, or a pointer into R2. */
  payload: string;
}

const deletedContactFilter = `contact_id = ?1 AND organization_id = ?2
  AND EXISTS (SELECT 1 FROM contact WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NOT NULL)`;

/** A page of the deliveries that named a deleted contact. */
export const findErasableDeliveries = (
  database: Database,
  organizationId: number,
  contactId: number,
  limit: number,
): Promise<ErasableDelivery[]> =>
  database.all(
    database.prepare(
      `SELECT id, payload FROM webhook_delivery INDEXED BY webhook_delivery_contact WHERE ${deletedContactFilter} LIMIT ?3`,
      contactId,
      organizationId,
      limit,
    ),
  );

const erasedPayload: DeliveryPayload = { body: null, raw: null, headers: {}, query: {}, variables: {} };

/** Leaves of deliveries that they came, to which trigger and when. What nobody has handled yet starts nothing any more. */
export async function eraseDeliveryRows(database: Database, organizationId: number, ids: number[], now: number): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE webhook_delivery SET contact_id = NULL, payload = ?4, note = iif(handled_at IS NULL OR note IS NOT NULL, 'The contact was deleted', NULL),
         handled_at = ifnull(handled_at, ?3)
       WHERE id IN (SELECT value FROM json_each(?1)) AND +organization_id = ?2`,
      JSON.stringify(ids),
      organizationId,
      now,
      JSON.stringify(erasedPayload),
    ),
    'idempotent',
  );
}
