import type { Database, Statement } from '../../database/client.ts';
import type { MessageRow } from '../deliveries/store.ts';
import type { EndpointRow } from '../endpoints/store.ts';
import type { EndpointHealth } from './endpoint-health.ts';

// All statements are of one endpoint: ?1 is the organization, ?2 the endpoint. Only the endpoint's object runs them.

const isOfEndpoint = (alias: string) => `${alias}.organization_id = ?1 AND ${alias}.endpoint_id = ?2`;

/** A message that is due. `previous` is the last pending message of its subject before it, which has to end first; null: there is none. */
export interface DueMessage extends MessageRow {
  previous: number | null;
}

/** The messages that are due at `now`, the longest due first. */
export const findDueMessages = (
  database: Database,
  organizationId: number,
  endpointId: number,
  { now, limit }: { now: number; limit: number },
): Promise<DueMessage[]> =>
  database.all(
    database.prepare<DueMessage>(
      `SELECT m.*, (SELECT max(o.sequence) FROM webhook_message o INDEXED BY webhook_message_pending
         WHERE ${isOfEndpoint('o')} AND o.subject = m.subject AND o.status = 'pending' AND o.sequence < m.sequence) AS previous
       FROM webhook_message m INDEXED BY webhook_message_due WHERE ${isOfEndpoint('m')} AND m.due_at IS NOT NULL AND m.due_at <= ?3 ORDER BY m.due_at, m.sequence LIMIT ?4`,
      organizationId,
      endpointId,
      now,
      limit,
    ),
  );

/** What an attempt changes in its message. Moments in epoch ms. */
export interface AttemptOutcome {
  sequence: number;
  subject: string;
  /** Attempts before this one: a repeated write changes nothing. */
  tries: number;
  status: MessageRow['status'];
  /** When the next attempt is due; null: there is none. */
  due_at: number | null;
  attempt: { at: number; status: number | null; error: string | null; body: string | null; latency_ms: number };
}

const maxAttemptsShown = 20;

/** Writes the outcomes of attempts, and lets the next messages of subjects go on whose first has ended. */
export function recordOutcomes(
  database: Database,
  organizationId: number,
  endpointId: number,
  outcomes: AttemptOutcome[],
  now: number,
): Statement[] {
  const subjects = [...new Set(outcomes.filter(({ status }) => status !== 'pending').map(({ subject }) => subject))];
  return [
    database.prepare(
      `UPDATE webhook_message AS m SET status = j.value ->> 'status', tries = m.tries + 1, due_at = j.value ->> 'due_at',
         ended_at = iif(j.value ->> 'status' = 'pending', NULL, ?4),
         attempts = json_insert(iif(json_array_length(m.attempts) >= ${maxAttemptsShown}, json_remove(m.attempts, '$[0]'), m.attempts),
           '$[#]', json(j.value -> 'attempt'))
       FROM json_each(?3) j
       WHERE ${isOfEndpoint('m')} AND m.sequence IN (SELECT value ->> 'sequence' FROM json_each(?3)) AND m.sequence = j.value ->> 'sequence' AND m.status = 'pending' AND m.tries = j.value ->> 'tries'`,
      organizationId,
      endpointId,
      JSON.stringify(outcomes),
      now,
    ),
    releaseNext(database, organizationId, endpointId, subjects, now),
  ];
}

/** Makes the first pending message of each subject due, unless it has a moment already. */
const releaseNext = (database: Database, organizationId: number, endpointId: number, subjects: string[], now: number): Statement =>
  database.prepare(
    `UPDATE webhook_message AS m SET due_at = ?4 WHERE ${isOfEndpoint('m')} AND m.status = 'pending' AND m.due_at IS NULL AND m.sequence IN (
       SELECT (SELECT min(o.sequence) FROM webhook_message o INDEXED BY webhook_message_pending WHERE ${isOfEndpoint('o')} AND o.subject = s.value AND o.status = 'pending')
       FROM json_each(?3) s)`,
    organizationId,
    endpointId,
    JSON.stringify(subjects),
    now,
  );

/** Has messages wait until an earlier one of their subject has ended. */
export const holdBehindEarlier = (database: Database, organizationId: number, endpointId: number, sequences: number[]): Statement =>
  database.prepare(
    `UPDATE webhook_message AS m SET due_at = NULL
     WHERE ${isOfEndpoint('m')} AND m.sequence IN (SELECT value FROM json_each(?3)) AND m.status = 'pending' AND EXISTS (
       SELECT 1 FROM webhook_message o INDEXED BY webhook_message_pending WHERE ${isOfEndpoint('o')} AND o.subject = m.subject AND o.status = 'pending' AND o.sequence < m.sequence)`,
    organizationId,
    endpointId,
    JSON.stringify(sequences),
  );

/** Writes what attempts have told of the receiver. An endpoint that a person has paused or resumed meanwhile stays as the person wants it. */
export const recordHealth = (database: Database, endpoint: EndpointRow, health: EndpointHealth, now: number): Statement =>
  database.prepare(
    `UPDATE webhook_endpoint SET failing_since = ?3, last_failure_at = ?4, hold_until = ?5,
       status = iif(?6 IS NULL, status, 'disabled'), disabled_reason = ?6, disabled_at = iif(?6 IS NULL, NULL, ?7)
     WHERE organization_id = ?1 AND id = ?2 AND status = 'active' AND updated_at = ?8`,
    endpoint.organization_id,
    endpoint.id,
    health.failing_since,
    health.last_failure_at,
    health.hold_until,
    health.disabled_reason,
    now,
    endpoint.updated_at,
  );

/**
 * Deletes a page of messages before `before` (epoch ms), and lets the next messages of their subjects go on. Answers whether there may be
 * more.
 */
export async function deleteMessages(
  database: Database,
  organizationId: number,
  endpointId: number,
  { before, limit, now }: { before: number; limit: number; now: number },
): Promise<boolean> {
  const page = `SELECT m.sequence, m.subject, m.status FROM webhook_message m WHERE ${isOfEndpoint('m')} AND m.sequence < ?3
    ORDER BY m.sequence LIMIT ?4`;
  const release = database.prepare(
    `UPDATE webhook_message AS m SET due_at = ?5 WHERE ${isOfEndpoint('m')} AND m.status = 'pending' AND m.due_at IS NULL AND m.sequence IN (
       SELECT (SELECT min(o.sequence) FROM webhook_message o INDEXED BY webhook_message_pending WHERE ${isOfEndpoint('o')} AND o.subject = p.subject AND o.status = 'pending'
         AND o.sequence > (SELECT max(sequence) FROM (${page})))
       FROM (${page}) p WHERE p.status = 'pending')`,
    organizationId,
    endpointId,
    before,
    limit,
    now,
  );
  const remove = database.prepare(
    `DELETE FROM webhook_message WHERE organization_id = ?1 AND endpoint_id = ?2 AND sequence IN (SELECT sequence FROM (${page})) RETURNING 1`,
    organizationId,
    endpointId,
    before,
    limit,
  );
  // A repeat deletes a page of its own.
  const [, removed] = await database.batch([release, remove], 'read-back');
  return removed.length === limit;
}

/** Deletes the row of an endpoint that is marked as deleted and has no messages any more. */
export const deleteEndpointRow = (database: Database, organizationId: number, endpointId: number): Promise<unknown> =>
  database.all(
    database.prepare(
      `DELETE FROM webhook_endpoint WHERE organization_id = ?1 AND id = ?2 AND status = 'deleted'
         AND NOT EXISTS (SELECT 1 FROM webhook_message m WHERE ${isOfEndpoint('m')})`,
      organizationId,
      endpointId,
    ),
    'idempotent',
  );

/**
 * Sets when the endpoint's object has work next, and answers it: when a message is due and may be sent, or when the oldest is to be deleted.
 * Null: there are no messages, or no endpoint. Moments in epoch ms, `retentionMs` in ms.
 */
export async function scheduleWake(
  database: Database,
  organizationId: number,
  endpointId: number,
  retentionMs: number,
): Promise<number | null> {
  const dueAt = `(SELECT min(m.due_at) FROM webhook_message m INDEXED BY webhook_message_due WHERE ${isOfEndpoint('m')} AND m.due_at IS NOT NULL)`;
  const expiresAt = `(SELECT min(m.sequence) FROM webhook_message m WHERE ${isOfEndpoint('m')}) + ?3`;
  const sendsAt = `iif(status = 'active', max(${dueAt}, coalesce(hold_until, 0)), NULL)`;
  const next = `iif(status = 'deleted', wake_at, min(coalesce(${sendsAt}, ${expiresAt}), coalesce(${expiresAt}, ${sendsAt})))`;
  const parameters = [organizationId, endpointId, retentionMs] as const;
  const [, rows] = await database.batch(
    [
      database.prepare(
        `UPDATE webhook_endpoint SET wake_at = ${next} WHERE organization_id = ?1 AND id = ?2 AND wake_at IS NOT ${next}`,
        ...parameters,
      ),
      database.prepare<{ wake_at: number | null }>(
        'SELECT wake_at FROM webhook_endpoint WHERE organization_id = ? AND id = ?',
        organizationId,
        endpointId,
      ),
    ],
    'idempotent',
  );
  return rows[0]?.wake_at ?? null;
}
