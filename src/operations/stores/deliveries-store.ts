import type { Database, Statement } from '../../database/client.ts';
import { maxScannedRows, type Backlog } from './backlog.ts';
import { isGivenUpSql, type Source } from './source.ts';

export const givenUpDeliveries: Source = {
  columns: {
    at: 'r.handled_at',
    state: "'given_up'",
    name: '(SELECT t.name FROM automation_trigger t WHERE t.id = r.trigger_id)',
    why: 'r.note',
    workflow_id: '(SELECT t.workflow_id FROM automation_trigger t WHERE t.id = r.trigger_id)',
  },
  from: `webhook_delivery r INDEXED BY webhook_delivery_given_up WHERE r.organization_id = ?1 AND ${isGivenUpSql}`,
  order: 'id',
};

/**
 * The organization's open deliveries behind the cursor of the minute tick, up to which all are handled. At most 10,000 deliveries are looked at,
 * trigger by trigger.
 */
const openDeliveriesSql = `WITH looked_at AS MATERIALIZED (SELECT d.id, d.created_at, d.handled_at
    FROM automation_workflow w CROSS JOIN automation_trigger t CROSS JOIN webhook_delivery d INDEXED BY webhook_delivery_trigger
    WHERE w.organization_id = ?1 AND t.workflow_id = w.id AND t.type = 'webhook' AND d.trigger_id = t.id AND d.organization_id = ?1
      AND d.id > coalesce((SELECT value FROM progress WHERE name = 'deliveries_handled'), 0) LIMIT ${2 * maxScannedRows}),
  open AS (SELECT id, created_at FROM looked_at WHERE handled_at IS NULL)`;

export const deliveryBacklog = (database: Database, organizationId: number): Statement<Backlog> =>
  database.prepare<Backlog>(
    `${openDeliveriesSql} SELECT (SELECT count(*) FROM open) AS waiting, (SELECT min(created_at) FROM open) AS oldest_at,
       (SELECT count(*) FROM looked_at) = ${2 * maxScannedRows} AS is_partial`,
    organizationId,
  );

/** The oldest open deliveries, among those that the backlog counts. */
export const waitingDeliveries = (database: Database, organizationId: number, limit: number): Statement<{ id: number }> =>
  database.prepare<{ id: number }>(`${openDeliveriesSql} SELECT id FROM open ORDER BY id LIMIT ?2`, organizationId, limit);

/** The trigger and journey of a delivery. */
export const deliveryOwnerStatement = (
  database: Database,
  organizationId: number,
  id: number,
): Statement<{ trigger_id: number; workflow_id: number }> =>
  database.prepare<{ trigger_id: number; workflow_id: number }>(
    `SELECT d.trigger_id, t.workflow_id FROM webhook_delivery d CROSS JOIN automation_trigger t
     WHERE d.id = ? AND d.organization_id = ? AND t.id = d.trigger_id`,
    id,
    organizationId,
  );
