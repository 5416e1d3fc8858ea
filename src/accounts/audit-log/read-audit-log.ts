import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { catalog } from '../../database/shards.ts';
import { parseRangeEnd, parseRangeStart } from '../../http/date-range.ts';
import { countLimit, decodeCursor, type CursorPosition, type Page, type PageResult } from '../../http/pagination.ts';
import { sendTable } from '../../http/streams/send-table.ts';
import { invalidAt } from '../../library/errors.ts';
import { chooseColumns } from '../../library/table-export/choose-columns.ts';
import type { ExportColumn, ExportFormat } from '../../library/table-export/format-table.ts';
import { emailFromHandle } from '../members/email-handles.ts';
import { auditRecord } from './audit-record.ts';
import { mergeParts } from './merge-parts.ts';
import { AuditEntryRecord, type AuditFilters } from './schemas.ts';
import * as store from './store.ts';

type Entry = z.infer<typeof AuditEntryRecord>;

/** How many entries of each table a page looks at. */
const maxExamined = 5000;
const rowsPerExportPage = 1000;

/** A page of the audit log, newest first. Throws 422. */
export async function readAuditLog(context: Context, query: AuditFilters & Page): Promise<PageResult<Entry>> {
  const { limit, offset, cursor } = query;
  const found = await readPage(context, { filter: toFilter(query), limit: limit + offset, after: decodeCursor(cursor), maxExamined });
  return { ...found, rows: found.rows.slice(offset) };
}

/** All entries of a filter as a table, read a page at a time while it is sent. Throws 422. */
export async function exportAuditLog(
  context: Context,
  query: AuditFilters & { format: ExportFormat; columns?: string[] | undefined },
): Promise<Response> {
  const chosen = chooseColumns(columns, query.columns, () => null);
  const pageQuery = { filter: toFilter(query), limit: rowsPerExportPage, maxExamined };
  // Before the first byte, so that a failure is an error and no half file.
  const first = await readPage(context, pageQuery);
  return sendTable(context.log, {
    what: 'an export of the audit log',
    fileName: 'audit-log',
    format: query.format,
    table: { name: 'Audit log', columns: chosen, pages: readPages(context, pageQuery, first) },
  });
}

const columns: ExportColumn<Entry>[] = Object.keys(AuditEntryRecord.shape).map((name) => ({
  name,
  value: (entry) => entry[name as keyof Entry],
}));

async function* readPages(
  context: Context,
  query: store.AuditQuery,
  first: PageResult<Entry>,
): AsyncGenerator<Entry[], undefined, undefined> {
  for (let page = first; ; page = await readPage(context, { ...query, after: page.next ?? undefined })) {
    if (page.rows.length > 0) yield page.rows;
    if (page.next === null) return;
  }
}

function toFilter(query: AuditFilters): store.AuditFilter {
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
    rows: rows.map((row) => auditRecord(row, emailFromHandle(handles.get(row.userId) ?? '') || null)),
    total: Math.min(count, countLimit),
    totalCapped: parts.some(({ isCapped }) => isCapped) || count > countLimit,
    next: next satisfies CursorPosition | null,
  };
}
