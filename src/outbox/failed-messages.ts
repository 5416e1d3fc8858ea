import { isNotInTransitSql } from '../database/transit.ts';
import { eq } from 'drizzle-orm';
import type { Database, Statement } from '../database/client.ts';
import { failedMessage } from '../database/schema/operations.ts';
import type { StoredRow } from '../database/stored-row.ts';
import type { DocumentsMessage, EventsMessage, FanoutMessage } from './messages.ts';

/** The beginning of the note of a record that was not handled and is not retried by itself. */
export const givenUpPrefix = 'given_up:';

/** Messages without a record that the tick would find unhandled later. */
export type RetriedMessage =
  | DocumentsMessage
  | EventsMessage
  | Exclude<FanoutMessage, { kind: 'admission' | 'deletion' | 'vector_move' | 'organization_move' | 'run_move' }>;

const partKinds = ['run_end', 'run_event', 'run_told', 'run_release', 'schedule', 'poke'] as const;
const recordKinds = ['document', 'event', 'delivery', 'schedule_fire', 'cleanup', 'contact_changes'] as const;

/** Whether a message is a failed part of a larger work. The record in `failed_message` is then the only trace of that part. */
export const isPartMessage = (message: { kind: string }): message is Extract<RetriedMessage, { kind: (typeof partKinds)[number] }> =>
  partKinds.some((kind) => kind === message.kind);

export const isRetriedMessage = (message: { kind: string }): message is RetriedMessage =>
  isPartMessage(message) || recordKinds.some((kind) => kind === message.kind);

const firstDelayMs = 60_000;
const maxDelayMs = 3_600_000;

/** How long a record rests after the queue gave up its message for the n-th time: a minute, doubling up to an hour. In ms. */
export const retryDelayMs = (tries: number): number => Math.min(maxDelayMs, firstDelayMs * 2 ** (tries - 1));

/** The key of a record in `failed_message`. The SQL of the sweeps builds the same one. */
export function failedMessageKey(message: RetriedMessage): string {
  switch (message.kind) {
    case 'event':
    case 'delivery':
    case 'cleanup':
      return `${message.kind}:${message.id}`;
    case 'document':
      return `document:${message.id}:${message.generation}`;
    case 'schedule_fire':
      return `schedule_fire:${message.trigger_id}:${message.scheduled_at}`;
    case 'run_end':
    case 'run_release':
    case 'schedule':
      return `${message.kind}:${message.id}`;
    case 'run_event':
      return `run_event:${message.id}:${message.run_id}`;
    case 'run_told':
      return `run_told:${message.of}:${message.ended_id}`;
    case 'poke':
      return `poke:${message.what}:${message.id}`;
    case 'contact_changes':
      return `contact_changes:${message.organization_id}`;
  }
}

/** A condition that holds unless the record named by the SQL expression `key` is in `failed_message`, whose records are retried on their own. */
export const isNotFailedSql = (key: string): string => `NOT EXISTS (SELECT 1 FROM failed_message WHERE key = ${key})`;

type FailureCount = Pick<StoredRow<typeof failedMessage>, 'tries' | 'first_failed_at' | 'reason'>;

/** Counts a failure. Returns the number of failures so far and the moment of the first (epoch ms). */
export async function countMessageFailure(
  database: Database,
  message: RetriedMessage,
  now: number,
): Promise<{ tries: number; firstFailedAt: number; reason: string | null }> {
  const key = failedMessageKey(message);
  const count = database.prepare<FailureCount>(
    `INSERT INTO failed_message (key, organization_id, message, tries, first_failed_at, next_try_at) VALUES (?1, ?2, ?3, 1, ?4, ?4 + ${firstDelayMs})
       ON CONFLICT (key) DO UPDATE SET tries = tries + 1, next_try_at = ?4 + min(${maxDelayMs}, ${firstDelayMs} << tries)
       RETURNING tries, first_failed_at, reason`,
    key,
    message.organization_id,
    JSON.stringify(message),
    now,
  );
  const { tries, firstFailedAt, reason } = failedMessage;
  const query = database.orm.select({ tries, firstFailedAt, reason }).from(failedMessage).where(eq(failedMessage.key, key));
  const [rows] = await database.batchOnce([count], () => database.batch([database.from<FailureCount>(query)]));
  const counted = rows[0]!;
  return { tries: counted.tries, firstFailedAt: counted.first_failed_at, reason: counted.reason };
}

/** A part of a larger work that failed. */
export interface FailedPart {
  message: RetriedMessage;
  error: unknown;
}

const maxReasonLength = 500;
const toReason = (error: unknown): string => String((error as Error | null)?.message ?? error).slice(0, maxReasonLength);

/** Records failed parts. Each is retried on its own, after a minute at the earliest. A part that is recorded already keeps its turn. */
export async function recordFailedParts(database: Database, parts: FailedPart[], now: number): Promise<void> {
  if (!parts.length) return;
  const rows = parts.map(({ message, error }) => ({
    key: failedMessageKey(message),
    organization_id: message.organization_id,
    message: JSON.stringify(message),
    reason: toReason(error),
  }));
  await database.all(
    database.prepare(
      `INSERT INTO failed_message (key, organization_id, message, tries, first_failed_at, next_try_at, reason)
       SELECT j.value ->> 'key', j.value ->> 'organization_id', j.value ->> 'message', 1, ?2, ?2 + ${firstDelayMs}, j.value ->> 'reason'
       FROM json_each(?1) j WHERE true ON CONFLICT (key) DO UPDATE SET reason = excluded.reason`,
      JSON.stringify(rows),
      now,
    ),
    'failed_message.key',
  );
}

/** Records why the last try of a queue failed. The dead letter of the message counts the failure. */
export async function recordFailureReason(database: Database, message: RetriedMessage, error: unknown, now: number): Promise<void> {
  await database.all(
    database.prepare(
      `INSERT INTO failed_message (key, organization_id, message, tries, first_failed_at, next_try_at, reason) VALUES (?1, ?2, ?3, 0, ?4, ?4 + ${maxDelayMs}, ?5)
       ON CONFLICT (key) DO UPDATE SET reason = excluded.reason`,
      failedMessageKey(message),
      message.organization_id,
      JSON.stringify(message),
      now,
      toReason(error),
    ),
    'failed_message.key',
  );
}

const tableByKind = { event: 'event', delivery: 'webhook_delivery' } satisfies Record<EventsMessage['kind'], string>;

/** Has the next tick at the latest handle an open record, with the retries of a new record. */
export const retryNowStatement = (database: Database, message: EventsMessage, now: number): Statement =>
  database.prepare(
    `INSERT INTO failed_message (key, organization_id, message, tries, first_failed_at, next_try_at) SELECT ?1, ?2, ?3, 0, ?4, ?4
     WHERE EXISTS (SELECT 1 FROM ${tableByKind[message.kind]} WHERE id = ?5 AND organization_id = ?2 AND handled_at IS NULL)
     ON CONFLICT (key) DO UPDATE SET tries = 0, first_failed_at = ?4, next_try_at = ?4`,
    failedMessageKey(message),
    message.organization_id,
    JSON.stringify(message),
    now,
    message.id,
  );

/** Claims the failed messages that are due, the longest due first. Each is due again after `restMs`. */
export async function claimDueMessages(database: Database, now: number, restMs: number, limit: number): Promise<RetriedMessage[]> {
  const rows = await database.all(
    database.prepare<{ message: string }>(
      `UPDATE failed_message SET next_try_at = ?1 + ?2
       WHERE key IN (SELECT key FROM failed_message WHERE next_try_at <= ?1 AND ${isNotInTransitSql('organization_id')} ORDER BY next_try_at LIMIT ?3) RETURNING message`,
      now,
      restMs,
      limit,
    ),
    'read-back',
  );
  return rows.map(({ message }) => JSON.parse(message) as RetriedMessage);
}

/** How often a record has failed so far. Moments in epoch ms. */
export type RecordedFailure = Pick<StoredRow<typeof failedMessage>, 'tries' | 'first_failed_at' | 'next_try_at' | 'reason'>;

export const failureStatement = (database: Database, organizationId: number, key: string): Statement<RecordedFailure> =>
  database.prepare<RecordedFailure>(
    'SELECT tries, first_failed_at, next_try_at, reason FROM failed_message WHERE key = ? AND organization_id = ?',
    key,
    organizationId,
  );

export async function deleteFailure(database: Database, key: string): Promise<void> {
  await database.write(() => database.orm.delete(failedMessage).where(eq(failedMessage.key, key)), 'idempotent');
}

/** Deletes due failures whose records have been handled meanwhile. */
export async function deleteHandledFailures(database: Database, now: number): Promise<void> {
  const open = {
    document: `SELECT 1 FROM knowledge_document WHERE id = f.message ->> 'id' AND next_generation = f.message ->> 'generation'
       AND is_active = 1 AND status IN ('pending', 'processing')`,
    event: "SELECT 1 FROM event WHERE id = f.message ->> 'id' AND handled_at IS NULL",
    delivery: "SELECT 1 FROM webhook_delivery WHERE id = f.message ->> 'id' AND handled_at IS NULL",
    cleanup: "SELECT 1 FROM cleanup WHERE id = f.message ->> 'id' AND note IS NULL",
    schedule_fire: `SELECT 1 FROM schedule_fire WHERE trigger_id = f.message ->> 'trigger_id'
       AND scheduled_at = f.message ->> 'scheduled_at' AND handled_at IS NULL`,
    run_end: "SELECT 1 FROM automation_run WHERE id = f.message ->> 'id' AND completed_at IS NULL",
    run_event: "SELECT 1 FROM automation_run WHERE id = f.message ->> 'run_id' AND completed_at IS NULL",
    run_told: "SELECT 1 FROM automation_run WHERE id = f.message ->> 'id' AND completed_at IS NULL",
    run_release: "SELECT 1 FROM automation_run WHERE id = f.message ->> 'id' AND completed_at IS NULL AND hold = 'paused'",
    schedule: "SELECT 1 FROM automation_trigger WHERE id = f.message ->> 'id' AND next_fire_at IS NOT NULL",
    poke: 'SELECT 1',
    contact_changes: 'SELECT 1 FROM contact_change WHERE organization_id = f.organization_id',
  } satisfies Record<RetriedMessage['kind'], string>;
  const stillOpen = Object.entries(open).map(([kind, query]) => `WHEN '${kind}' THEN EXISTS (${query})`);
  const handled = await database.all(
    database.prepare<{ key: string }>(
      `SELECT f.key FROM failed_message f WHERE f.next_try_at <= ? AND ${isNotInTransitSql('f.organization_id')} AND NOT CASE f.message ->> 'kind' ${stillOpen.join(' ')} END`,
      now,
    ),
  );
  if (!handled.length) return;
  const keys = JSON.stringify(handled.map(({ key }) => key));
  await database.all(database.prepare('DELETE FROM failed_message WHERE key IN (SELECT value FROM json_each(?))', keys), 'idempotent');
}
