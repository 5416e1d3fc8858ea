import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { catalog } from '../../database/shards.ts';
import { parseRangeEnd, parseRangeStart } from '../../http/date-range.ts';
import { countLimit, decodeCursor, type CursorPosition, type Page, type PageResult } from '../../http/pagination.ts';
import { invalidAt } from '../../library/errors.ts';
import { auditRecord } from './audit-record.ts';
import { mergeParts } from './merge-parts.ts';
import type { AuditEntryRecord, AuditFilters } from './schemas.ts';
import * as store from './store.ts';

type Entry = z.infer<typeof AuditEntryRecord>;

/** How many entries of each table a page looks at. */
const maxExamined = 5000;

/** A page of the audit log, newest first. Throws 422. */
export async function readAuditLog(context: Context, query: AuditFilters & Page): Promise<PageResult<Entry>> {
  const { limit, offset, cursor } = query;
  const found = await readPage(context, { filter: toFilter(query), limit: limit + offset, after: decodeCursor(cursor), maxExamined });
  return { ...found, rows: found.rows.slice(offset) };
}

/** The filter of a query. Throws 422. */
export function toFilter(query: AuditFilters): store.AuditFilter {
  if (query.record_id !== undefined && query.record_type === undefined)
    throw invalidAt(['query', 'record_id'], 'Needs record_type, since records of several kinds may have this id', 'missing_record_type');
  return {
    userId: query.user_id,
    credential: query.credential,
    action: query.action,
    recordType: query.record_type,
    recordId: query.record_id,
    from: query.start_date === undefined ? undefined : parseRangeStart(query.start_date),
    to: query.end_date === undefined ? undefined : parseRangeEnd(query.end_date),
  };
}

/** The entries of the organization's shard and those of the accounts, which are in the catalog. */
async function readPage({ bindings, database, organization }: Context, query: store.AuditQuery): Promise<PageResult<Entry>> {
  const accounts = catalog(bindings);
  const selectOwn = store.selectPart(database, 'audit_entry', organization.id, query);
  const selectAccounts = store.selectPart(accounts, 'account_audit_entry', organization.id, query);
  const answers =
    database === accounts
      ? await accounts.batch([...selectOwn, ...selectAccounts])
      : (await Promise.all([database.batch(selectOwn), accounts.batch(selectAccounts)])).flat();
  const parts = [answers.slice(0, 3), answers.slice(3)].map((part) => store.toPart(part as [object[], object[], object[]]));
  const { rows, next } = mergeParts(parts, query.limit);
  const handles = await store.findHandles(accounts, [...new Set(rows.map(({ userId }) => userId))]);
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  return {
    rows: rows.map((row) => auditRecord(row, handles.get(row.userId) ?? '')),
    total: Math.min(count, countLimit),
    totalCapped: parts.some(({ isCapped }) => isCapped) || count > countLimit,
    next: next satisfies CursorPosition | null,
  };
}
