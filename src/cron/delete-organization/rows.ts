import type { Statement, Database, Row } from '../../database/client.ts';
import { is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Context } from '../../context.ts';
import { catalogTables, type OrganizationTable } from '../../database/organization-tables.ts';
import * as schema from '../../database/schema/index.ts';
import { catalog } from '../../database/shards.ts';
import type { DeletionStep } from './step.ts';

/**
 * Tables along whose ids cursors move: a cursor would skip an id that is assigned twice. Their newest row therefore stays, blank, handled and
 * without an organization.
 */
const blankColumns: Readonly<Record<string, string>> = {
  event:
    "organization_id = 0, event_type = '', phone = NULL, contact_id = NULL, data = '{}', sender_id = NULL, occurred_at = NULL, note = NULL",
  webhook_delivery: "organization_id = 0, trigger_id = 0, delivery_id = 'blank:' || id, contact_id = NULL, payload = '{}', note = NULL",
};

const keepsNewestRow = (table: string): boolean => table in blankColumns;

/** A condition that holds for all rows of the table but the newest. */
const isNotNewestSql = (table: string): string => `id < (SELECT max(id) FROM ${table})`;

/** Blanks the newest row when it belongs to the organization by `condition`. */
const blankNewest = ({ database, organization, clock }: Context, table: string, condition: string): Statement =>
  database.prepare(
    `UPDATE ${table} SET ${blankColumns[table]}, handled_at = coalesce(handled_at, ?2)
     WHERE id = (SELECT max(id) FROM ${table}) AND ${condition} RETURNING 1`,
    organization.id,
    clock(),
  );

/** Deleting a row runs the triggers of the full-text search. This many take far less than a second. */
const pageRows = 500;

/** The primary key columns of each table. */
const keyColumnsByTable = new Map(
  Object.values(schema)
    .filter((table) => is(table, SQLiteTable))
    .map((table) => {
      const { name, columns, primaryKeys } = getTableConfig(table);
      const composed = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
      return [name, composed.map((column) => column.name)] as const;
    }),
);

/** What is deleted before a page of rows, because it is found by the rows. */
export interface RowDependents {
  /** The columns that `remove` reads. */
  columns: string;
  remove(context: Context, rows: Row[]): Promise<void>;
}

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

/** Deletes exactly the rows that `remove` was given. Rows that arrive meanwhile are in a later page. */
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
