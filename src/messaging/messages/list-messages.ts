import type { Context } from '../../context.ts';
import { decodeCursor, type PageResult } from '../../http/pagination.ts';
import { readQueryPhone } from '../../http/query-phone.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import * as store from './list-store.ts';
import type { MessageRow } from './store.ts';
import type { MessageQuery, MessageRecord } from '../schemas.ts';
import { sendingExpiredBefore, displayStatus } from './status.ts';

/** A page of the message log, newest first. Throws 422 for an invalid phone number. */
export async function listMessages(context: Context, query: MessageQuery): Promise<PageResult<MessageRecord>> {
  const { database, organization, clock } = context;
  const now = clock();
  const filter: store.MessageFilter = {
    status: query.status,
    provider: query.provider,
    recipient: query.to === undefined ? undefined : readQueryPhone(query.to, context.organization.defaultCountry, 'to'),
    automationRunId: query.automation_run_id,
    contactId: query.contact_id,
  };
  const page = { limit: query.limit, offset: query.offset, after: decodeCursor(query.cursor) };
  const found = await store.listMessages(database, organization.id, filter, sendingExpiredBefore(now), page);
  return { ...found, rows: found.rows.map((row) => toMessageRecord(row, now)) };
}

function toMessageRecord(row: MessageRow, now: number): MessageRecord {
  return {
    id: row.id,
    to: row.recipient,
    provider: row.provider,
    kind: row.kind,
    template_name: row.templateName,
    language: row.language,
    status: displayStatus(row, now),
    error: row.error,
    failure_class: row.failureClass,
    failure_code: row.failureCode,
    message_id: row.messageId,
    contact_id: row.contactId,
    automation_run_id: row.automationRunId,
    history: row.history.map(({ at, ...entry }) => ({ ...entry, at: toTimestamp(at) })),
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}
