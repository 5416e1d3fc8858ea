import type { Database, Statement } from '../../database/client.ts';
import type { webhookEndpoint } from '../../database/schema/webhook-endpoints.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { isNotFailedSql } from '../../outbox/failed-messages.ts';
import { isNotInTransitSql } from '../../database/transit.ts';

/** `events` is a JSON list, or null for all types. Moments in epoch ms. */
export type EndpointRow = StoredRow<typeof webhookEndpoint>;

const isShown = "organization_id = ?1 AND status <> 'deleted'";

/** An endpoint, also one that is being deleted; null: there is none. */
export const findAnyEndpoint = (database: Database, organizationId: number, id: number): Promise<EndpointRow | null> =>
  database.first(selectEndpoint(database, organizationId, id));

export const selectEndpoint = (database: Database, organizationId: number, id: number): Statement<EndpointRow> =>
  database.prepare<EndpointRow>('SELECT * FROM webhook_endpoint WHERE organization_id = ? AND id = ?', organizationId, id);

/** A page of the endpoints, newest first, with one row more than `limit` when another page follows. */
export async function listEndpoints(
  database: Database,
  organizationId: number,
  { before, limit, offset }: { before: number | undefined; limit: number; offset: number },
): Promise<{ rows: EndpointRow[]; total: number }> {
  const [rows, counted] = await database.batch([
    database.prepare<EndpointRow>(
      `SELECT * FROM webhook_endpoint WHERE ${isShown} AND id < ?2 ORDER BY id DESC LIMIT ?3 OFFSET ?4`,
      organizationId,
      before ?? Number.MAX_SAFE_INTEGER,
      limit + 1,
      offset,
    ),
    database.prepare<{ total: number }>(`SELECT count(*) AS total FROM webhook_endpoint WHERE ${isShown}`, organizationId),
  ]);
  return { rows, total: counted[0]!.total };
}

/** The endpoints that are sent to, with the types that they want. */
export const listActiveEndpoints = (database: Database, organizationId: number): Promise<Pick<EndpointRow, 'id' | 'events'>[]> =>
  database.all(
    database.prepare<Pick<EndpointRow, 'id' | 'events'>>(
      "SELECT id, events FROM webhook_endpoint WHERE organization_id = ? AND status = 'active'",
      organizationId,
    ),
  );

export interface NewEndpoint {
  url: string;
  description: string;
  events: string[] | null;
  /** Sealed. */
  secret: string;
}

export const insertEndpoint = (database: Database, organizationId: number, endpoint: NewEndpoint, now: number): Statement<EndpointRow> =>
  database.prepare<EndpointRow>(
    `INSERT INTO webhook_endpoint (organization_id, url, description, events, secret, status, created_at, updated_at)
     VALUES (?1, ?2, ?3, ?4, ?5, 'active', ?6, ?6) RETURNING *`,
    organizationId,
    endpoint.url,
    endpoint.description,
    endpoint.events && JSON.stringify(endpoint.events),
    endpoint.secret,
    now,
  );

/** Changes the settings of an endpoint: fields that are undefined stay. Answers its row; null: there is no such endpoint. */
export const updateEndpoint = (
  database: Database,
  organizationId: number,
  id: number,
  { url, description, events }: { url?: string | undefined; description?: string | undefined; events?: string[] | null | undefined },
  now: number,
): Promise<EndpointRow | null> =>
  database.first(
    database.prepare<EndpointRow>(
      `UPDATE webhook_endpoint SET url = coalesce(?3, url), description = coalesce(?4, description), events = iif(?5, ?6, events), updated_at = ?7
       WHERE ${isShown} AND id = ?2 RETURNING *`,
      organizationId,
      id,
      url ?? null,
      description ?? null,
      events !== undefined,
      events ? JSON.stringify(events) : null,
      now,
    ),
    'idempotent',
  );

/** The secret before becomes the previous one, which signs as well until `overlapUntil`. Not repeatable: the receipt of a repeat finds the row. */
export async function replaceSecret(
  database: Database,
  organizationId: number,
  id: number,
  { secret, overlapUntil, now }: { secret: string; overlapUntil: number; now: number },
): Promise<EndpointRow | null> {
  const update = database.prepare<EndpointRow>(
    `UPDATE webhook_endpoint SET previous_secret = iif(?4 > ?5, secret, NULL), previous_secret_until = iif(?4 > ?5, ?4, NULL), secret = ?3,
       updated_at = ?5
     WHERE ${isShown} AND id = ?2 RETURNING *`,
    organizationId,
    id,
    secret,
    overlapUntil,
    now,
  );
  const [rows] = await database.batchOnce([update], async () => [await database.all(selectEndpoint(database, organizationId, id))]);
  return rows[0] ?? null;
}

/** Sends nothing to an endpoint any more, and keeps its events for it. A disabled one stays disabled. */
export const pauseEndpoint = (database: Database, organizationId: number, id: number, now: number): Promise<EndpointRow | null> =>
  database.first(
    database.prepare<EndpointRow>(
      `UPDATE webhook_endpoint SET status = iif(status = 'active', 'paused', status), updated_at = iif(status = 'active', ?3, updated_at)
       WHERE ${isShown} AND id = ?2 RETURNING *`,
      organizationId,
      id,
      now,
    ),
    'idempotent',
  );

/** Makes a paused or disabled endpoint active, as if it had never failed. */
export const resumeEndpoint = (database: Database, organizationId: number, id: number, now: number): Promise<EndpointRow | null> =>
  database.first(
    database.prepare<EndpointRow>(
      `UPDATE webhook_endpoint SET status = 'active', disabled_reason = NULL, disabled_at = NULL, failing_since = NULL, last_failure_at = NULL,
         hold_until = NULL, wake_at = ?3, updated_at = iif(status = 'active', updated_at, ?3)
       WHERE ${isShown} AND id = ?2 RETURNING *`,
      organizationId,
      id,
      now,
    ),
    'idempotent',
  );

/** Hides an endpoint, whose object then deletes the messages and the row. Answers whether there was one. */
export async function markDeleted(database: Database, organizationId: number, id: number, now: number): Promise<boolean> {
  const mark = database.prepare(
    `UPDATE webhook_endpoint SET status = 'deleted', secret = '', previous_secret = NULL, wake_at = ?3, updated_at = ?3
     WHERE ${isShown} AND id = ?2 RETURNING id`,
    organizationId,
    id,
    now,
  );
  const [marked] = await database.batchOnce([mark], async ({ changes }) => [changes ? [{ id }] : []]);
  return marked.length > 0;
}

/** Has the object of an endpoint look for work at `now`, at the latest at the next tick. */
export const wakeStatement = (database: Database, organizationId: number, id: number, now: number): Statement =>
  database.prepare(
    "UPDATE webhook_endpoint SET wake_at = ?3 WHERE organization_id = ?1 AND id = ?2 AND status <> 'deleted' AND (wake_at IS NULL OR wake_at > ?3)",
    organizationId,
    id,
    now,
  );

/** Endpoints of a shard whose work was due at `now`. */
export const findDueEndpoints = (database: Database, now: number, limit: number): Promise<Pick<EndpointRow, 'id' | 'organization_id'>[]> =>
  database.all(
    database.prepare<Pick<EndpointRow, 'id' | 'organization_id'>>(
      `SELECT id, organization_id FROM webhook_endpoint WHERE wake_at IS NOT NULL AND wake_at <= ?
         AND ${isNotFailedSql("'poke:webhook_endpoint:' || webhook_endpoint.id")} AND ${isNotInTransitSql('organization_id')}
       ORDER BY wake_at LIMIT ?`,
      now,
      limit,
    ),
  );
