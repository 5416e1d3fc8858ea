import type { Database, Statement } from '../../database/client.ts';
import type { message } from '../../database/schema/index.ts';
import { jsonChunks } from '../../database/json-chunks.ts';
import type { ProviderKey } from '../../providers/messaging/messaging.ts';
import { rankOf } from './status.ts';

/** One status of a message; `at` in epoch ms. */
export interface HistoryEntry {
  status: string;
  at: number;
  error?: string;
}

export interface MessageRow extends Omit<typeof message.$inferSelect, 'organizationId' | 'statusRank' | 'history'> {
  history: HistoryEntry[];
}

export type NewMessage = Pick<
  MessageRow,
  'sendKey' | 'asking' | 'kind' | 'recipient' | 'contactId' | 'templateName' | 'language' | 'automationRunId'
> & { provider: ProviderKey | '' };

/** A new status of a message; `at` in epoch ms. */
export interface MessageOutcome {
  status: string;
  at: number;
  messageId?: string;
  failure?: { failure: string; message: string; code: string | null };
}

export const messageColumns = `id, send_key AS sendKey, provider, kind, recipient, contact_id AS contactId, template_name AS templateName, language, status,
  asking, error, failure_class AS failureClass, failure_code AS failureCode, message_id AS messageId, automation_run_id AS automationRunId, history,
  created_at AS createdAt, updated_at AS updatedAt`;

/** A row with the columns of `messageColumns`. */
export type StoredMessage = Omit<MessageRow, 'history'> & { history: string };

export const toMessageRow = (row: StoredMessage): MessageRow => ({ ...row, history: JSON.parse(row.history) as HistoryEntry[] });

const toHistoryEntry = ({ status, at, failure }: MessageOutcome): string =>
  JSON.stringify({ status, at, ...(failure && { error: failure.message }) } satisfies HistoryEntry);

/** Inserts a message and returns its id, unless its key exists or, with `unlessSuppressed`, its number is suppressed. */
export const insertStatement = (
  database: Database,
  organizationId: number,
  message: NewMessage,
  outcome: MessageOutcome,
  unlessSuppressed: boolean,
): Statement =>
  database.prepare(
    `INSERT INTO message (organization_id, send_key, provider, kind, recipient, contact_id, template_name, language, automation_run_id,
       status, status_rank, error, failure_class, failure_code, history, created_at, updated_at, asking)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, json_array(json(?15)), ?16, ?16, ?17
     WHERE ${unlessSuppressed ? `NOT EXISTS (${suppressionQuery})` : 'true'}
     ON CONFLICT (organization_id, send_key) DO NOTHING RETURNING id`,
    organizationId,
    message.sendKey,
    message.provider,
    message.kind,
    message.recipient,
    message.contactId,
    message.templateName,
    message.language,
    message.automationRunId,
    outcome.status,
    rankOf(outcome.status),
    outcome.failure?.message ?? null,
    outcome.failure?.failure ?? null,
    outcome.failure?.code ?? null,
    toHistoryEntry(outcome),
    outcome.at,
    message.asking,
  );

const suppressionQuery = 'SELECT 1 FROM suppression WHERE organization_id = ?1 AND phone = ?5 AND (until IS NULL OR until > ?16)';

export const findByKeyStatement = (database: Database, organizationId: number, sendKey: string): Statement<StoredMessage> =>
  database.prepare<StoredMessage>(
    `SELECT ${messageColumns} FROM message WHERE organization_id = ? AND send_key = ?`,
    organizationId,
    sendKey,
  );

/** Deletes a message whose try `asking` is known to have asked no provider. */
export const deleteUnsentStatement = (database: Database, organizationId: number, sendKey: string, asking: string): Statement =>
  database.prepare(
    `DELETE FROM message WHERE organization_id = ? AND send_key = ? AND asking = ? AND status = 'sending'`,
    organizationId,
    sendKey,
    asking,
  );

/** Moves a message to a status of a higher rank and returns its id; changes nothing otherwise. */
export const advanceStatement = (database: Database, organizationId: number, id: number, outcome: MessageOutcome, now: number): Statement =>
  database.prepare(
    `UPDATE message SET status = ?3, status_rank = ?4, error = ?5, failure_class = ?6, failure_code = ?7, message_id = coalesce(?8, message_id),
       history = json_insert(history, '$[#]', json(?9)), updated_at = ?10
     WHERE id = ?1 AND organization_id = ?2 AND status_rank < ?4 RETURNING id`,
    id,
    organizationId,
    outcome.status,
    rankOf(outcome.status),
    outcome.failure?.message ?? null,
    outcome.failure?.failure ?? null,
    outcome.failure?.code ?? null,
    outcome.messageId ?? null,
    toHistoryEntry(outcome),
    now,
  );

/** A status that a provider has reported. */
export interface StatusUpdate {
  id: number;
  outcome: MessageOutcome;
}

/** Moves messages to new statuses, in order, as `advanceStatement` does. One statement for each step of a message, for any number of messages. */
export function advanceAllStatements(database: Database, organizationId: number, steps: StatusUpdate[], now: number): Statement[] {
  const waves: Map<number, MessageOutcome>[] = [];
  for (const { id, outcome } of steps) {
    const ranks = waves.flatMap((wave) => (wave.has(id) ? [rankOf(wave.get(id)!.status)] : []));
    // A repeated status changes nothing.
    if (ranks.includes(rankOf(outcome.status))) continue;
    (waves[ranks.length] ??= new Map()).set(id, outcome);
  }
  return waves.flatMap((wave) =>
    jsonChunks([...wave].map(([id, outcome]) => toUpdateRow(id, outcome))).map((json) =>
      database.prepare(
        `UPDATE message AS m SET status = j.value ->> 'status', status_rank = j.value ->> 'rank', error = j.value ->> 'error',
           failure_class = j.value ->> 'failure', failure_code = j.value ->> 'code', history = json_insert(m.history, '$[#]', json(j.value ->> 'entry')),
           updated_at = ?3
         FROM json_each(?1) j WHERE m.id = j.value ->> 'id' AND +m.organization_id = ?2 AND m.status_rank < j.value ->> 'rank'`,
        json,
        organizationId,
        now,
      ),
    ),
  );
}

const toUpdateRow = (id: number, outcome: MessageOutcome) => ({
  id,
  status: outcome.status,
  rank: rankOf(outcome.status),
  error: outcome.failure?.message ?? null,
  failure: outcome.failure?.failure ?? null,
  code: outcome.failure?.code ?? null,
  entry: toHistoryEntry(outcome),
});

/** The stored messages among the provider's `messageIds`, each with the rank of its status. */
export async function findByMessageIds(
  database: Database,
  organizationId: number,
  provider: ProviderKey,
  messageIds: string[],
): Promise<{ id: number; messageId: string; rank: number }[]> {
  return database.all(
    database.prepare<{ id: number; messageId: string; rank: number }>(
      `SELECT m.id, m.message_id AS messageId, m.status_rank AS rank FROM json_each(?1) j CROSS JOIN message m
       WHERE m.organization_id = ?2 AND m.message_id = j.value AND m.provider = ?3`,
      JSON.stringify(messageIds),
      organizationId,
      provider,
    ),
  );
}

/** Whether a message of the provider has been `sending` since `after` (epoch ms). */
export async function isSending(database: Database, organizationId: number, provider: ProviderKey, after: number): Promise<boolean> {
  const found = await database.all(
    database.prepare(
      `SELECT 1 FROM message WHERE organization_id = ? AND status = 'sending' AND provider = ? AND updated_at > ? LIMIT 1`,
      organizationId,
      provider,
      after,
    ),
  );
  return found.length > 0;
}

/** The newest key that begins with `prefix` and a colon, of a message created at `since` (epoch ms) or later. */
export async function findNewestSendKey(database: Database, organizationId: number, prefix: string, since: number): Promise<string | null> {
  const row = await database.first(
    database.prepare<{ sendKey: string }>(
      `SELECT send_key AS sendKey FROM message WHERE organization_id = ? AND send_key > ? AND send_key < ? AND created_at >= ?
       ORDER BY send_key DESC LIMIT 1`,
      organizationId,
      `${prefix}:`,
      `${prefix};`,
      since,
    ),
  );
  return row?.sendKey ?? null;
}

/**
 * Erases the recipient from messages to a deleted contact; returns the number of messages. Errors may quote the phone number, and so may
 * the provider's message ids: WhatsApp's have it in Base64.
 */
export async function eraseMessagesTo(database: Database, organizationId: number, contactId: number, limit: number): Promise<number> {
  const rows = await database.all(
    database.prepare(
      `UPDATE message SET recipient = '', contact_id = NULL, error = NULL, message_id = NULL,
         history = (SELECT json_group_array(json_remove(value, '$.error')) FROM json_each(history))
       WHERE id IN (SELECT id FROM message WHERE contact_id = ?1 ORDER BY id LIMIT ?3)
         AND EXISTS (SELECT 1 FROM contact WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NOT NULL) RETURNING 1`,
      contactId,
      organizationId,
      limit,
    ),
    'idempotent',
  );
  return rows.length;
}
