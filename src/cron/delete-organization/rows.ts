import { is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Context } from '../../context.ts';
import type { Database, Row, Statement } from '../../database/client.ts';
import type { OrganizationTable } from '../../database/organization-tables.ts';
import * as schema from '../../database/schema/index.ts';
import { catalog } from '../../database/shards.ts';
import { blankNewest, keepsNewestRow, isNotNewestSql } from './newest-row.ts';
import type { DeletionStep } from './step.ts';

/** Rows carry triggers that keep the search; this many are deleted in far less than a second. */
const pageRows = 500;

/** Columns by which a row of each table is named. */
const keyColumnsByTable = new Map(
  Object.values(schema)
    .filter((table) => is(table, SQLiteTable))
    .map((table) => {
      const { name, columns, primaryKeys } = getTableConfig(table);
      const composed = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
      return [name, composed.map((column) => column.name)] as const;
    }),
);

/** What else goes with a page of rows, before them: they are what it is found by. */
export interface RowDependents {
  /** What of a row `goes` is told. */
  columns: string;
  remove(context: Context, rows: Row[]): Promise<void>;
}

/** These are in the first database, whatever the organization's own is. */
const catalogTables = new Set(['api_key', 'password_reset', 'session', 'membership']);

export function removeRowsStep({ table, rows: conditions }: OrganizationTable, attached?: RowDependents): DeletionStep {
  return {
    name: table,
    async runPage(context) {
      const database = catalogTables.has(table) ? catalog(context.bindings) : context.database;
      for (const condition of conditions) {
        const removed = attached
          ? await removePageWithDependents(context, table, condition, attached)
          : (await database.all(deletePage(context, database, table, condition), 'idempotent')).length;
        if (removed > 0) return { next: 'more', removed };
        if (keepsNewestRow(table)) await database.all(blankNewest(context, table, condition), 'idempotent');
      }
      return { next: 'done', removed: 0 };
    },
  };
}

function deletePage({ organization }: Context, database: Database, table: string, condition: string): Statement {
  const key = keyColumnsByTable.get(table)!.join(', ');
  const which = keepsNewestRow(table) ? `${condition} AND ${isNotNewestSql(table)}` : condition;
  return database.prepare(
    `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${which} LIMIT ${pageRows}) RETURNING 1`,
    organization.id,
  );
}

/** Rows that come meanwhile have a page of their own: those that were told are deleted, and no others. */
async function removePageWithDependents(context: Context, table: string, condition: string, attached: RowDependents): Promise<number> {
  const { database, organization } = context;
  const rows = await database.all(
    database.prepare(`SELECT id, ${attached.columns} FROM ${table} WHERE ${condition} LIMIT ${pageRows}`, organization.id),
  );
  if (!rows.length) return 0;
  await attached.remove(context, rows);
  const ids = JSON.stringify(rows.map((row) => row['id']));
  await database.all(database.prepare(`DELETE FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`, ids), 'idempotent');
  return rows.length;
}
