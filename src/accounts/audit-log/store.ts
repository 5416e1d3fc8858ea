import type { Database, Statement } from '../../database/client.ts';
import type { auditEntry } from '../../database/schema/audit.ts';
import { countLimit, type CursorPosition } from '../../http/pagination.ts';

export type AuditTable = 'audit_entry' | 'account_audit_entry';
/** `id` is the id for callers: those of a shard's table are even, those of the catalog's odd. */
export type AuditRow = Omit<typeof auditEntry.$inferSelect, 'organizationId'> & { userEmail: string | null };

export interface AuditFilter {
  userId?: number | undefined;
  credential?: string | undefined;
  action?: string | undefined;
  recordType?: string | undefined;
  recordId?: string | undefined;
  /** Epoch ms, both included. */
  from?: number | undefined;
  to?: number | undefined;
}

export interface AuditQuery {
  filter: AuditFilter;
  limit: number;
  after?: CursorPosition | undefined;
  /** How many entries are looked at in each table. */
  maxExamined: number;
}

/** Entries of one table, newest first, and the last place that was looked at; null: there is nothing beyond. */
export interface AuditPart {
  rows: AuditRow[];
  lookedUntil: CursorPosition | null;
  /** How many match among those that count; `isCapped`: more were not looked at. */
  count: number;
  isCapped: boolean;
}

const idSql = (table: AuditTable): string => `id * 2${table === 'account_audit_entry' ? ' + 1' : ''}`;

interface Path {
  sql: string;
  parameters: (string | number)[];
}

/** The newest entries along one index: that of the record where both parts of its name are given, else that of the organization. */
function toPath(table: AuditTable, organizationId: number, { filter, after }: Pick<AuditQuery, 'filter' | 'after'>, most: number): Path {
  const conditions: [sql: string, ...values: (string | number)[]][] = [['organization_id = ?', organizationId]];
  if (filter.recordType !== undefined && filter.recordId !== undefined)
    conditions.push(['record_type = ? AND record_id = ?', filter.recordType, filter.recordId]);
  if (filter.from !== undefined) conditions.push(['created_at >= ?', filter.from]);
  if (filter.to !== undefined) conditions.push(['created_at <= ?', filter.to]);
  if (after) conditions.push([`created_at <= ? AND (created_at < ? OR ${idSql(table)} < ?)`, after.value!, after.value!, after.id]);
  return {
    sql: `SELECT * FROM ${table} WHERE ${conditions.map(([sql]) => sql).join(' AND ')} ORDER BY created_at DESC, id DESC LIMIT ?`,
    parameters: [...conditions.flatMap(([, ...values]) => values), most],
  };
}

function toRest({ userId, credential, action, recordType }: AuditFilter): Path {
  const conditions: [string, string | number | undefined][] = [
    ['user_id = ?', userId],
    ['credential = ?', credential],
    ['action = ?', action],
    ['record_type = ?', recordType],
  ];
  const given = conditions.filter((one): one is [string, string | number] => one[1] !== undefined);
  return { sql: ['1', ...given.map(([sql]) => sql)].join(' AND '), parameters: given.map(([, value]) => value) };
}

function toRowsSql(table: AuditTable, organizationId: number, query: AuditQuery): Path {
  const path = toPath(table, organizationId, query, query.maxExamined);
  const rest = toRest(query.filter);
  return {
    sql: `SELECT ${idSql(table)} AS id, request_id AS requestId, action, user_id AS userId, credential, address, record_type AS recordType,
       record_id AS recordId, change, created_at AS createdAt FROM (${path.sql}) WHERE ${rest.sql} LIMIT ?`,
    parameters: [...path.parameters, ...rest.parameters, query.limit],
  };
}

function selectLastExamined(database: Database, table: AuditTable, organizationId: number, query: AuditQuery): Statement {
  const path = toPath(table, organizationId, query, query.maxExamined);
  return database.prepare(
    `SELECT created_at AS value, ${idSql(table)} AS id FROM (${path.sql}) LIMIT 1 OFFSET ?`,
    ...path.parameters,
    query.maxExamined - 1,
  );
}

/**
 * Up to `limit` entries of one table, newest first, and the place behind which to go on; null: there is nothing beyond. The changes of all
 * but the last have fewer than `maxCharacters`.
 */
export async function readRows(
  database: Database,
  table: AuditTable,
  organizationId: number,
  query: AuditQuery & { maxCharacters: number },
): Promise<{ rows: AuditRow[]; next: CursorPosition | null }> {
  const found = toRowsSql(table, organizationId, query);
  const select = database.prepare<AuditRow & { found: number }>(
    `SELECT * FROM (SELECT *, count(*) OVER () AS found, sum(ifnull(length(change), 0)) OVER (ORDER BY createdAt DESC, id DESC) AS characters
       FROM (${found.sql})) WHERE characters - ifnull(length(change), 0) < ? ORDER BY createdAt DESC, id DESC`,
    ...found.parameters,
    query.maxCharacters,
  );
  const isFiltered = toRest(query.filter).parameters.length > 0;
  const [rows, examined = []] = isFiltered
    ? await database.batch([select, selectLastExamined(database, table, organizationId, query)])
    : [await database.all(select)];
  const last = rows.at(-1);
  const isCut = last !== undefined && (rows.length === query.limit || rows.length < last.found);
  return { rows, next: isCut ? { value: last.createdAt, id: last.id } : ((examined[0] as CursorPosition | undefined) ?? null) };
}

/** Statements of a page of one table, for a batch; `toPart` reads their answers. */
export function selectPart(database: Database, table: AuditTable, organizationId: number, query: AuditQuery): Statement[] {
  const rows = toRowsSql(table, organizationId, { ...query, limit: query.limit + 1 });
  const all = toPath(table, organizationId, { filter: query.filter }, countLimit + 1);
  const rest = toRest(query.filter);
  return [
    database.prepare(rows.sql, ...rows.parameters),
    selectLastExamined(database, table, organizationId, query),
    database.prepare(`SELECT count(*) AS examined, sum(${rest.sql}) AS count FROM (${all.sql})`, ...rest.parameters, ...all.parameters),
  ];
}

export function toPart([rows, last, counted]: [object[], object[], object[]]): AuditPart {
  const { examined, count } = counted[0] as { examined: number; count: number | null };
  return {
    rows: rows as AuditRow[],
    lookedUntil: (last[0] as CursorPosition | undefined) ?? null,
    count: count ?? 0,
    isCapped: examined > countLimit,
  };
}

/** The e-mail handles of users, by id. */
export async function findHandles(catalog: Database, ids: number[]): Promise<Map<number, string>> {
  const found = await catalog.all(
    catalog.prepare<{ id: number; email: string }>(
      'SELECT u.id, u.email FROM json_each(?) j CROSS JOIN user u WHERE u.id = j.value',
      JSON.stringify(ids),
    ),
  );
  return new Map(found.map(({ id, email }) => [id, email]));
}
