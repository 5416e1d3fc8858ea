import type { Database, Parameter } from '../../database/client.ts';
import { countRows, laneOfEach, newestRows, type IndexedRows } from '../../database/newest-rows.ts';
import { countLimit, cutPage, type PageResult, type CursorPosition } from '../../http/pagination.ts';
import { providerKeys } from '../config/credential-fields.ts';
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
  const wanted = toIndexedRows(organizationId, filter, sendingExpiredBefore);
  const ids = newestRows(wanted, { limit: page.limit + 1, offset: page.offset, after: page.after?.id });
  const count = countRows(wanted, countLimit + 1);
  const [rows, counted] = await database.batch([
    database.prepare<StoredMessage>(
      `SELECT ${messageColumns} FROM (SELECT id AS place FROM (${ids.sql})) page CROSS JOIN message WHERE id = place ORDER BY place DESC`,
      ...ids.parameters,
    ),
    database.prepare<{ total: number }>(count.sql, ...count.parameters),
  ]);
  const { total } = counted[0]!;
  const found = cutPage(rows.map(toMessageRow), page.limit, ({ id }) => ({ value: null, id }));
  return { ...found, total: Math.min(total, countLimit), totalCapped: total > countLimit };
}

function toIndexedRows(organizationId: number, filter: MessageFilter, sendingExpiredBefore: number): IndexedRows {
  const { index, lanes, condition } = chooseIndex(filter);
  const parts = ['r.organization_id = ?', ...(condition ? [condition] : [])];
  const parameters: Parameter[] = [organizationId];
  const add = (sql: string, ...values: (string | number | undefined)[]) => {
    if (values.includes(undefined)) return;
    parts.push(sql);
    parameters.push(...(values as (string | number)[]));
  };
  add('r.provider = ?', filter.provider);
  add('r.recipient = ?', filter.recipient);
  add('r.automation_run_id = ?', filter.automationRunId);
  add('r.contact_id = ?', filter.contactId);
  if (filter.status === 'unknown')
    add("r.status IN ('unknown', 'sending') AND (r.status = 'unknown' OR r.updated_at < ?)", sendingExpiredBefore);
  else add('r.status = ?', filter.status);
  if (filter.status === 'sending') add('r.updated_at >= ?', sendingExpiredBefore);
  // The messages of a run's steps have keys that begin with the run.
  if (filter.automationRunId !== undefined)
    add('r.send_key > ? AND r.send_key < ?', `step:${filter.automationRunId}:`, `step:${filter.automationRunId};`);
  return { table: 'message', index, lanes, where: { sql: parts.join(' AND '), parameters } };
}

/** The narrowest index of the filter. Its rows come in the order of ids, except those of a run, which are few. */
function chooseIndex(filter: MessageFilter): Pick<IndexedRows, 'index' | 'lanes'> & { condition?: string } {
  if (filter.automationRunId !== undefined) return { index: 'message_send_key', lanes: null };
  if (filter.contactId !== undefined) return { index: 'message_contact', lanes: null };
  if (filter.recipient !== undefined) return { index: 'message_recipient', lanes: null };
  if (filter.status === 'unknown') return { index: 'message_status', ...laneOfEach('status', ['unknown', 'sending']) };
  if (filter.status !== undefined) return { index: 'message_status', lanes: null };
  if (filter.provider !== undefined) return { index: 'message_provider', lanes: null };
  return { index: 'message_provider', ...laneOfEach('provider', ['', ...providerKeys]) };
}
