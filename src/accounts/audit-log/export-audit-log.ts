import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/client.ts';
import { catalog } from '../../database/shards.ts';
import type { CursorPosition } from '../../http/pagination.ts';
import { sendTable } from '../../http/streams/send-table.ts';
import { chooseColumns } from '../../library/table-export/choose-columns.ts';
import type { ExportColumn, ExportFormat } from '../../library/table-export/format-table.ts';
import { auditRecord } from './audit-record.ts';
import { newestFirst } from './merge-parts.ts';
import { toFilter } from './read-audit-log.ts';
import { AuditEntryRecord, type AuditFilters } from './schemas.ts';
import * as store from './store.ts';

type Entry = z.infer<typeof AuditEntryRecord>;

/**
 * What one query answers and looks at. D1 takes 1,000 queries of an invocation, which is enough for two million entries, or for ten million
 * that a filter leaves out. The memory of an isolate bounds the characters.
 */
const bounds = { limit: 2000, maxExamined: 20_000, maxCharacters: 4_000_000 };

const columns: ExportColumn<Entry>[] = Object.keys(AuditEntryRecord.shape).map((name) => ({
  name,
  value: (entry) => entry[name as keyof Entry],
}));

/** All entries of a filter as a table, read while it is sent. Throws 422. */
export async function exportAuditLog(
  context: Context,
  query: AuditFilters & { format: ExportFormat; columns?: string[] | undefined },
): Promise<Response> {
  const chosen = chooseColumns(columns, query.columns, () => null);
  const pages = readPages(context, toFilter(query));
  // Before the first byte, so that a failure is an error and no half file.
  const first = await pages.next();
  return sendTable(context.log, {
    what: 'an export of the audit log',
    fileName: 'audit-log',
    format: query.format,
    table: { name: 'Audit log', columns: chosen, pages: startingWith(first, pages) },
  });
}

async function* startingWith<Page>(
  first: IteratorResult<Page, undefined>,
  rest: AsyncGenerator<Page, undefined>,
): AsyncGenerator<Page, undefined> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

/** The entries of the organization's shard and those of the accounts, which are in the catalog, newest first. */
async function* readPages({ bindings, database, organization }: Context, filter: store.AuditFilter): AsyncGenerator<Entry[], undefined> {
  const accounts = catalog(bindings);
  const handles = new Map<number, string>();
  const tables = [
    readTable(database, 'audit_entry', organization.id, filter),
    readTable(accounts, 'account_audit_entry', organization.id, filter),
  ];
  for await (const rows of newestFirst(tables)) {
    const unknown = [...new Set(rows.map(({ userId }) => userId))].filter((id) => !handles.has(id));
    if (unknown.length > 0) for (const [id, handle] of await store.findHandles(accounts, unknown)) handles.set(id, handle);
    for (const id of unknown) if (!handles.has(id)) handles.set(id, '');
    yield rows.map((row) => auditRecord(row, handles.get(row.userId)!));
  }
}

/** The entries of one table, as many at a time as one query answers. */
async function* readTable(
  database: Database,
  table: store.AuditTable,
  organizationId: number,
  filter: store.AuditFilter,
): AsyncGenerator<store.AuditRow[], undefined> {
  for (let after: CursorPosition | undefined; ;) {
    const { rows, next } = await store.readRows(database, table, organizationId, { ...bounds, filter, after });
    if (rows.length > 0) yield rows;
    if (next === null) return;
    after = next;
  }
}
