import type { Database, Statement } from '../../../../database/client.ts';
import { firstIdAtSql, maxClockSkewMs } from '../../../../database/first-id-at.ts';
import type { webhookDelivery } from '../../../../database/schema/automation-workflows.ts';
import type { StoredRow } from '../../../../database/stored-row.ts';
import { givenUpPrefix, type RecordedFailure } from '../../../../outbox/failed-messages.ts';
import type { OutcomeRun } from '../../events/event-outcome-store.ts';

export const deliveryStates = ['open', 'started', 'not_started', 'given_up'] as const;
type DeliveryState = (typeof deliveryStates)[number];

const stateSql = `CASE WHEN substr(d.note, 1, ${givenUpPrefix.length}) = '${givenUpPrefix}' THEN 'given_up' WHEN d.handled_at IS NULL THEN 'open'
  WHEN d.note IS NULL THEN 'started' ELSE 'not_started' END`;

/** `payload`: JSON text, or a pointer into R2. Moments in epoch ms. */
export type DeliveryRow = Pick<
  StoredRow<typeof webhookDelivery>,
  'id' | 'trigger_id' | 'delivery_id' | 'contact_id' | 'payload' | 'note' | 'created_at' | 'handled_at'
> & { state: DeliveryState };

const deliveryColumns = `d.id, d.trigger_id, d.delivery_id, d.contact_id, d.payload, d.note, d.created_at, d.handled_at, ${stateSql} AS state`;

export interface DeliveryFilter {
  state?: DeliveryState | undefined;
  /** Epoch ms, both ends inclusive. */
  from?: number | undefined;
  to?: number | undefined;
}

/** How many deliveries one request looks at: with a filter, a page may have fewer than asked for, and be followed by another. */
export const maxScannedDeliveries = 2000;

/**
 * Deliveries of a trigger, newest first, after the id `before`: at most `limit` that match the filter among the next 2,000. `scannedTo`: the id of the
 * last one that was looked at, when more follow it; null: these were all.
 */
export async function findDeliveries(
  database: Database,
  organizationId: number,
  triggerId: number,
  filter: DeliveryFilter,
  { limit, before }: { limit: number; before: number | undefined },
): Promise<{ rows: DeliveryRow[]; scannedTo: number | null }> {
  const { from, to, state } = filter;
  const range = [
    ...(from === undefined
      ? []
      : [{ sql: ` AND s.id >= ${firstIdAtSql('webhook_delivery')} AND s.created_at >= ?`, values: [from - maxClockSkewMs, from] }]),
    ...(to === undefined
      ? []
      : [{ sql: ` AND s.id < ${firstIdAtSql('webhook_delivery')} AND s.created_at <= ?`, values: [to + maxClockSkewMs, to] }]),
  ];
  const scanned = `SELECT s.id FROM webhook_delivery s INDEXED BY webhook_delivery_trigger
    WHERE s.trigger_id = ? AND s.organization_id = ? AND s.id < ?${range.map(({ sql }) => sql).join('')} ORDER BY s.id DESC LIMIT ?`;
  const values = [triggerId, organizationId, before ?? Number.MAX_SAFE_INTEGER, ...range.flatMap((part) => part.values)];
  const most = state === undefined ? limit : maxScannedDeliveries;
  const [rows, ends] = await database.batch([
    database.prepare<DeliveryRow>(
      `SELECT ${deliveryColumns} FROM (${scanned}) page CROSS JOIN webhook_delivery d WHERE d.id = page.id${state === undefined ? '' : ` AND ${stateSql} = ?`}
       ORDER BY d.id DESC LIMIT ?`,
      ...values,
      most,
      ...(state === undefined ? [] : [state]),
      limit,
    ),
    database.prepare<{ scanned: number; last: number | null }>(
      `SELECT (SELECT count(*) FROM (${scanned})) AS scanned, (SELECT min(id) FROM (${scanned})) AS last`,
      ...values,
      most + 1,
      ...values,
      most,
    ),
  ]);
  const { scanned: count, last } = ends[0]!;
  const lastShown = rows.at(-1)?.id ?? null;
  const hasMore = count > most;
  if (rows.length === limit && lastShown !== last) return { rows, scannedTo: lastShown };
  return { rows, scannedTo: hasMore ? last : null };
}

export const deliveryStatement = (database: Database, organizationId: number, id: number): Statement<DeliveryRow> =>
  database.prepare<DeliveryRow>(
    `SELECT ${deliveryColumns} FROM webhook_delivery d WHERE d.id = ? AND d.organization_id = ?`,
    id,
    organizationId,
  );

/** The runs that deliveries of a trigger have started, each with its delivery. */
export const runsOfDeliveriesStatement = (
  database: Database,
  organizationId: number,
  triggerId: number,
  ids: number[],
): Statement<OutcomeRun & { delivery: number }> =>
  database.prepare<OutcomeRun & { delivery: number }>(
    `SELECT j.value AS delivery, r.id, r.workflow_id, r.trigger_id, r.state, r.outcome, r.hold
     FROM json_each(?1) j CROSS JOIN automation_run r INDEXED BY automation_run_dedup
     WHERE r.organization_id = ?2 AND r.dedup_key = 'delivery:' || j.value || ':trigger:' || ?3`,
    JSON.stringify(ids),
    organizationId,
    // D1 takes a number as a real one, whose text has a decimal point.
    String(triggerId),
  );

/** The tries of deliveries that could not be handled so far. */
export const failuresOfDeliveriesStatement = (
  database: Database,
  organizationId: number,
  ids: number[],
): Statement<RecordedFailure & { delivery: number }> =>
  database.prepare<RecordedFailure & { delivery: number }>(
    `SELECT j.value AS delivery, f.tries, f.first_failed_at, f.next_try_at, f.reason
     FROM json_each(?1) j CROSS JOIN failed_message f WHERE f.key = 'delivery:' || j.value AND f.organization_id = ?2`,
    JSON.stringify(ids),
    organizationId,
  );
