import type { Database } from '../../database/client.ts';
import { countLimit, cutPage, type PageResult, type CursorPosition } from '../../http/pagination.ts';
import { messageColumns, toMessageRow, type MessageRow, type StoredMessage } from './store.ts';

export interface MessageFilter {
  status?: string | undefined;
  provider?: string | undefined;
  /** E.164. */
  recipient?: string | undefined;
  automationRunId?: number | undefined;
  contactId?: number | undefined;
}

/**
 * A page of messages, newest first. A message that has been `sending` since before `sendingExpiredBefore` (epoch ms) counts as `unknown`.
 */
export async function listMessages(
  database: Database,
  organizationId: number,
  filter: MessageFilter,
  sendingExpiredBefore: number,
  page: { limit: number; offset: number; after?: CursorPosition | undefined },
): Promise<PageResult<MessageRow>> {
  const { sql, parameters } = whereClause(organizationId, filter, sendingExpiredBefore);
  const from = `FROM message INDEXED BY ${chooseIndex(filter)} WHERE ${sql}`;
  const [rows, counted] = await database.batch([
    database.prepare<StoredMessage>(
      `SELECT ${messageColumns} ${from} AND id < ? ORDER BY id DESC LIMIT ? OFFSET ?`,
      ...parameters,
      page.after?.id ?? Number.MAX_SAFE_INTEGER,
      page.limit + 1,
      page.offset,
    ),
    database.prepare<{ total: number }>(`SELECT count(*) AS total FROM (SELECT 1 ${from} LIMIT ${countLimit + 1})`, ...parameters),
  ]);
  const { total } = counted[0]!;
  const found = cutPage(rows.map(toMessageRow), page.limit, ({ id }) => ({ value: null, id }));
  return { ...found, total: Math.min(total, countLimit), totalCapped: total > countLimit };
}

function whereClause(organizationId: number, filter: MessageFilter, sendingExpiredBefore: number) {
  const parts = ['organization_id = ?'];
  const parameters: (string | number)[] = [organizationId];
  const add = (sql: string, ...values: (string | number | undefined)[]) => {
    if (values.includes(undefined)) return;
    parts.push(sql);
    parameters.push(...(values as (string | number)[]));
  };
  add('provider = ?', filter.provider);
  add('recipient = ?', filter.recipient);
  add('automation_run_id = ?', filter.automationRunId);
  add('contact_id = ?', filter.contactId);
  if (filter.status === 'unknown') add("status IN ('unknown', 'sending') AND (status = 'unknown' OR updated_at < ?)", sendingExpiredBefore);
  else add('status = ?', filter.status);
  if (filter.status === 'sending') add('updated_at >= ?', sendingExpiredBefore);
  return { sql: parts.join(' AND '), parameters };
}

/** The narrowest index of the filter. All but `message_status` for several statuses return rows in the order of ids. */
function chooseIndex(filter: MessageFilter): string {
  if (filter.automationRunId !== undefined) return 'message_run';
  if (filter.contactId !== undefined) return 'message_contact';
  if (filter.recipient !== undefined) return 'message_recipient';
  if (filter.status !== undefined) return 'message_status';
  return filter.provider === undefined ? 'message_organization' : 'message_provider';
}
