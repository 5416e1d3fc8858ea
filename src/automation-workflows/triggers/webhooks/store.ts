import { and, eq } from 'drizzle-orm';
import { webhookDelivery } from '../../../database/schema/automation-workflows.ts';
import type { StoredRow } from '../../../database/stored-row.ts';
import type { Database, Statement } from '../../../database/client.ts';
import type { SqlFragment } from '../../../database/sql-fragment.ts';
import type { HandlingState } from '../../../outbox/resend-record.ts';
import { toSenderKey } from '../../../database/request-key.ts';
import { givenUpPrefix } from '../../../outbox/failed-messages.ts';
import { splitBySize } from '../../../library/collections.ts';
import type { DeliveryPayload } from '../../runs/cause.ts';

export interface NewDelivery {
  organizationId: number;
  triggerId: number;
  /** The trigger's config as the row has it: by it the delivery was verified and read. */
  triggerConfig: string;
  /** The sender's id, or a key of this delivery alone. */
  deliveryId: string;
  /** A subquery for the contact; the delivery is stored only if it has a row. */
  contact: SqlFragment;
  payload: string;
  createdAt: number;
}

/** Why a delivery was not stored: its id is known, or the trigger has changed since it was read, or the contact has no row. */
export type NotStored = 'duplicate' | 'changed' | 'no contact';

const hasDeliveryId = (triggerId: number, deliveryId: string) =>
  and(eq(webhookDelivery.triggerId, triggerId), eq(webhookDelivery.deliveryId, deliveryId));

export async function findDelivery(database: Database, triggerId: number, deliveryId: string): Promise<number | null> {
  const query = database.orm.select({ id: webhookDelivery.id }).from(webhookDelivery).where(hasDeliveryId(triggerId, deliveryId));
  return (await database.run(() => query))[0]?.id ?? null;
}

/** Stores a delivery in one call, unless its id is stored already, and only while the trigger is as it was read and the workflow is active. */
export async function insertDelivery(database: Database, delivery: NewDelivery): Promise<{ id: number } | NotStored> {
  const { triggerId, triggerConfig, deliveryId, contact, payload, createdAt } = delivery;
  let isLost = false;
  const [inserted, found] = await database.batch(
    [
      database.prepare<{ id: number; contact_id: number | null }>(
        `INSERT INTO webhook_delivery (organization_id, trigger_id, delivery_id, contact_id, payload, created_at)
         SELECT ?, t.id, ?, known.id, ?, ? FROM automation_trigger t CROSS JOIN automation_workflow w CROSS JOIN (${contact.sql}) known
         WHERE t.id = ? AND t.state = 'active' AND t.config = ? AND w.id = t.workflow_id AND w.status = 'active'
         ON CONFLICT (trigger_id, delivery_id) WHERE delivery_id IS NOT NULL DO NOTHING RETURNING id, contact_id`,
        delivery.organizationId,
        deliveryId,
        payload,
        createdAt,
        ...contact.parameters,
        triggerId,
        triggerConfig,
      ),
      database.prepare<StoredDelivery>(
        `SELECT t.state = 'active' AND t.config = ?2 AND w.status = 'active' AS is_current, d.id, d.payload, d.created_at
         FROM automation_trigger t CROSS JOIN automation_workflow w
         LEFT JOIN webhook_delivery d ON d.trigger_id = t.id AND d.delivery_id = ?3 WHERE t.id = ?1 AND w.id = t.workflow_id`,
        triggerId,
        triggerConfig,
        deliveryId,
      ),
    ],
    'webhook_delivery.delivery_id',
    () => (isLost = true),
  );
  if (inserted[0]) return inserted[0];
  const stored = found[0];
  if (!stored?.is_current) return 'changed';
  if (stored.id === null) return 'no contact';
  // This request stored the delivery, and the first answer was lost.
  return isLost && stored.created_at === createdAt && stored.payload === payload ? { id: stored.id } : 'duplicate';
}

/** What is stored under a delivery's id, and whether its trigger is as it was read. */
interface StoredDelivery {
  is_current: number;
  id: number | null;
  payload: string | null;
  created_at: number | null;
}

/** The row of a delivery, or that its id is known. */
export type AcceptedRow = { id: number } | 'duplicate';

export interface NewElement {
  deliveryId: string;
  contactId: number | null;
  payload: string;
}

/** Characters of one parameter: D1 takes 2 MB. */
const maxParameterLength = 500_000;

/**
 * Stores the elements of a request, all in one call or none, each unless its id is stored already, and only while the trigger is as it was
 * read. Answers in their order: the row of each, or that its id is known; null: the trigger has changed, and nothing was stored.
 */
export async function insertElements(
  database: Database,
  {
    organizationId,
    triggerId,
    triggerConfig,
    createdAt,
  }: Pick<NewDelivery, 'organizationId' | 'triggerId' | 'triggerConfig' | 'createdAt'>,
  elements: NewElement[],
): Promise<AcceptedRow[] | null> {
  let isLost = false;
  const inserts = splitBySize(elements, ({ payload }) => payload.length + 300, maxParameterLength).map((group) =>
    database.prepare<{ id: number; delivery_id: string }>(
      `INSERT INTO webhook_delivery (organization_id, trigger_id, delivery_id, contact_id, payload, created_at)
       SELECT ?1, t.id, j.value ->> 'deliveryId', j.value ->> 'contactId', j.value ->> 'payload', ?4
       FROM json_each(?5) j CROSS JOIN automation_trigger t CROSS JOIN automation_workflow w
       WHERE t.id = ?2 AND t.state = 'active' AND t.config = ?3 AND w.id = t.workflow_id AND w.status = 'active'
       ON CONFLICT (trigger_id, delivery_id) WHERE delivery_id IS NOT NULL DO NOTHING RETURNING id, delivery_id`,
      organizationId,
      triggerId,
      triggerConfig,
      createdAt,
      JSON.stringify(group),
    ),
  );
  const current = database.prepare<{ is_current: number }>(
    `SELECT t.state = 'active' AND t.config = ?2 AND w.status = 'active' AS is_current
     FROM automation_trigger t CROSS JOIN automation_workflow w WHERE t.id = ?1 AND w.id = t.workflow_id`,
    triggerId,
    triggerConfig,
  );
  const [[state], ...inserted] = await database.batch([current, ...inserts], 'webhook_delivery.delivery_id', () => (isLost = true));
  if (!state?.is_current) return null;
  // This request stored them, and the first answer was lost.
  const rows = isLost ? await findDeliveriesAt(database, triggerId, createdAt, elements) : inserted.flat();
  const ids = new Map(rows.map((row) => [row.delivery_id, row.id]));
  return elements.map(({ deliveryId }) => {
    const id = ids.get(deliveryId);
    return id === undefined ? 'duplicate' : { id };
  });
}

/** The rows of elements that were stored at a moment, by which a request knows its own. */
async function findDeliveriesAt(
  database: Database,
  triggerId: number,
  createdAt: number,
  elements: NewElement[],
): Promise<{ id: number; delivery_id: string }[]> {
  return database.all(
    database.prepare<{ id: number; delivery_id: string }>(
      `SELECT d.id, d.delivery_id FROM json_each(?3) j CROSS JOIN webhook_delivery d
       WHERE d.trigger_id = ?1 AND d.delivery_id = j.value AND d.created_at = ?2`,
      triggerId,
      createdAt,
      JSON.stringify(elements.map(({ deliveryId }) => deliveryId)),
    ),
  );
}

/** Which of the ids are stored already. */
export async function findKnownDeliveryIds(database: Database, triggerId: number, deliveryIds: string[]): Promise<Set<string>> {
  const rows = await database.all(
    database.prepare<{ delivery_id: string }>(
      `SELECT d.delivery_id FROM json_each(?2) j CROSS JOIN webhook_delivery d WHERE d.trigger_id = ?1 AND d.delivery_id = j.value`,
      triggerId,
      JSON.stringify(deliveryIds),
    ),
  );
  return new Set(rows.map(({ delivery_id: id }) => id));
}

export type UnhandledDelivery = Pick<StoredRow<typeof webhookDelivery>, 'id' | 'trigger_id' | 'contact_id' | 'payload' | 'created_at'>;

export async function findUnhandledDeliveries(database: Database, organizationId: number, ids: number[]): Promise<UnhandledDelivery[]> {
  return database.all(
    database.prepare<UnhandledDelivery>(
      `SELECT d.id, d.trigger_id, d.contact_id, d.payload, d.created_at FROM json_each(?) j CROSS JOIN webhook_delivery d
       WHERE d.id = j.value AND d.organization_id = ? AND d.handled_at IS NULL ORDER BY d.id`,
      JSON.stringify(ids),
      organizationId,
    ),
  );
}

/** The id of a trigger's delivery by its `delivery_id`, or by its own id when the sender gave none. */
export async function findDeliveryByName(
  database: Database,
  organizationId: number,
  triggerId: number,
  name: string,
): Promise<number | null> {
  const row = await database.first(
    database.prepare<{ id: number }>(
      `SELECT id FROM webhook_delivery WHERE trigger_id = ?1 AND delivery_id = ?3 AND organization_id = ?2
       UNION ALL SELECT id FROM webhook_delivery WHERE id = ?4 AND trigger_id = ?1 AND organization_id = ?2 LIMIT 1`,
      triggerId,
      organizationId,
      name,
      /^[1-9]\d{0,14}$/.test(name) ? Number(name) : null,
    ),
  );
  return row?.id ?? null;
}

/** Opens a delivery that was given up. A handled or open delivery stays as it is. */
export const reopenDeliveryStatement = (database: Database, organizationId: number, id: number): Statement =>
  database.prepare(
    `UPDATE webhook_delivery SET handled_at = NULL, note = NULL
     WHERE id = ?1 AND organization_id = ?2 AND handled_at IS NOT NULL AND substr(note, 1, length(?3)) = ?3`,
    id,
    organizationId,
    givenUpPrefix,
  );

export const deliveryStateStatement = (database: Database, organizationId: number, id: number): Statement<HandlingState> =>
  database.from<HandlingState>(
    database.orm
      .select({ handledAt: webhookDelivery.handledAt, note: webhookDelivery.note })
      .from(webhookDelivery)
      .where(and(eq(webhookDelivery.id, id), eq(webhookDelivery.organizationId, organizationId))),
  );

export type LatestDelivery = Pick<
  StoredRow<typeof webhookDelivery>,
  'id' | 'trigger_id' | 'delivery_id' | 'payload' | 'note' | 'created_at' | 'handled_at'
>;

/** The newest delivery of a contact to each of the triggers. */
export async function findLatestDeliveries(
  database: Database,
  organizationId: number,
  contactId: number,
  triggerIds: number[],
): Promise<LatestDelivery[]> {
  if (!triggerIds.length) return [];
  const rows = await database.all(
    database.prepare<LatestDelivery>(
      `SELECT d.id, d.trigger_id, d.delivery_id, d.payload, d.note, d.created_at, d.handled_at FROM (
         SELECT max(id) AS id FROM webhook_delivery WHERE contact_id = ?2
           AND +trigger_id IN (SELECT value FROM json_each(?1)) AND +organization_id = ?3 GROUP BY trigger_id
       ) newest CROSS JOIN webhook_delivery d WHERE d.id = newest.id`,
      JSON.stringify(triggerIds),
      contactId,
      organizationId,
    ),
  );
  for (const row of rows) row.delivery_id = toSenderKey(row.delivery_id);
  return rows;
}

export interface HandledDelivery {
  id: number;
  /** Why the delivery started no run, or what of it could not be read; null: neither. */
  note: string | null;
}

/** Marks deliveries as handled. */
export async function markDeliveriesHandled(
  database: Database,
  organizationId: number,
  handled: HandledDelivery[],
  now: number,
): Promise<void> {
  if (!handled.length) return;
  await database.all(
    database.prepare(
      `UPDATE webhook_delivery SET handled_at = ?1, note = (SELECT j.value ->> 'note' FROM json_each(?2) j WHERE j.value ->> 'id' = webhook_delivery.id)
       WHERE id IN (SELECT value ->> 'id' FROM json_each(?2)) AND +organization_id = ?3 AND handled_at IS NULL`,
      now,
      JSON.stringify(handled),
      organizationId,
    ),
    'idempotent',
  );
}

export type ErasableDelivery = Pick<StoredRow<typeof webhookDelivery>, 'id' | 'payload'>;

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
    database.prepare<ErasableDelivery>(
      `SELECT id, payload FROM webhook_delivery INDEXED BY webhook_delivery_contact WHERE ${deletedContactFilter} LIMIT ?3`,
      contactId,
      organizationId,
      limit,
    ),
  );

const erasedPayload: DeliveryPayload = { body: null, raw: null, headers: {}, query: {}, variables: {} };

/** Erases the content of deliveries; their trigger and moment stay. A delivery that is not handled yet starts nothing any more. */
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
