import { is, type SQL } from 'drizzle-orm';
import { getTableConfig, SQLiteColumn, SQLiteSyncDialect, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { catalogTables, organizationTables } from '../../database/organization-tables.ts';
import * as schema from '../../database/schema/index.ts';

/** A unique index besides the primary key. */
interface UniqueIndex {
  columns: string[];
  /** The condition on the rows that are in the index. */
  where: string | null;
}

/** A table whose rows move with their organization. */
export interface MovedTable {
  name: string;
  columns: string[];
  /** The columns of the primary key. */
  key: string[];
  uniqueIndexes: UniqueIndex[];
  /** Whether the rows name the organization. The others belong to that of their parent. */
  hasOrganization: boolean;
  /** SQL that holds when `row` (an alias, NEW or OLD) is of the organization. */
  isOwn: (row: string, organization: string) => string;
  /** Conditions of which each row of the organization, `?1`, meets exactly one. Each goes along an index. */
  rows: readonly string[];
}

/**
 * Tables that are copied as a whole when nothing is written any more. The topics: with them, contacts that are copied would count as changed.
 * `contact_change`: the target would note the copied changes a second time. `webhook_endpoint`: the target would note the copied ends a second
 * time for it. `cleanup`: its rows get new ids.
 */
const tablesCopiedLast = new Set(['trigger_topic', 'contact_change', 'webhook_endpoint', 'cleanup']);

const dialect = new SQLiteSyncDialect();
const toSql = (condition: SQL): string => dialect.sqlToQuery(condition).sql;

const configs = new Map(
  Object.values(schema)
    .filter((table) => is(table, SQLiteTable))
    .map((table) => [getTableConfig(table).name, getTableConfig(table)] as const),
);

/** `contact_list_member` and the like have no column for the organization: they belong to that of their parent. */
const parentPattern = /^(\w+) IN \(SELECT id FROM (\w+) /;

function toMovedTable(name: string, rows: readonly string[]): MovedTable {
  const { columns, primaryKeys, indexes } = configs.get(name)!;
  const names = columns.map((column) => column.name);
  const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
  const [, childColumn, parent] = parentPattern.exec(rows[0]!) ?? [];
  const hasOrganization = names.includes('organization_id');
  const isOwn = hasOrganization
    ? (row: string, organization: string) => `${row}.organization_id = ${organization}`
    : (row: string, organization: string) =>
        `EXISTS (SELECT 1 FROM ${parent} WHERE id = ${row}.${childColumn} AND organization_id = ${organization})`;
  const uniqueIndexes = indexes
    .filter(({ config }) => config.unique)
    .map(({ config }) => ({
      columns: config.columns.filter((column) => is(column, SQLiteColumn)).map((column) => column.name),
      where: config.where ? toSql(config.where) : null,
    }));
  return { name, columns: names, key: key.map((column) => column.name), uniqueIndexes, hasOrganization, isOwn, rows };
}

/** All tables of a shard with rows of organizations; children before their parents, as they are deleted. */
export const movedTables: readonly MovedTable[] = organizationTables
  .filter(({ table }) => !catalogTables.has(table))
  .map(({ table, rows }) => toMovedTable(table, rows));

/** The tables that are copied row by row while the organization works; parents before their children. */
export const copiedTables: readonly MovedTable[] = movedTables.filter(({ name }) => !tablesCopiedLast.has(name)).toReversed();

export const lastTables: readonly MovedTable[] = movedTables.filter(({ name }) => tablesCopiedLast.has(name));
