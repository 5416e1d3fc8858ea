import type { Database } from '../../database/client.ts';
import { newestRowSql } from '../../database/shard-anchors.ts';
import { deleteStatements, type RowKey } from './copy-rows.ts';
import { writeHeld, type MoveEnds } from './ends.ts';
import { movedTables, type MovedTable } from './moved-tables.ts';

const pageRows = 500;

/** Deletes a page of the organization's rows in one of the two databases. Returns the number of the table to go on with; null: all are gone. */
export async function clearPage(ends: MoveEnds, database: Database, step: number): Promise<number | null> {
  const table = movedTables[step];
  if (!table) return null;
  const keys = await findKeys(database, table, ends.organizationId);
  if (!keys.length) return step + 1;
  await writeHeld(ends, database, [
    ...keepNewestId(ends, database, table),
    ...deleteStatements(database, table, keys, ends.organizationId),
  ]);
  return step;
}

async function findKeys(database: Database, table: MovedTable, organizationId: number): Promise<RowKey[]> {
  for (const condition of table.rows) {
    const rows = await database.all(
      database.prepare<{ key: string }>(
        `SELECT json_array(${table.key.join(', ')}) AS key FROM ${table.name} WHERE ${condition} LIMIT ${pageRows}`,
        organizationId,
      ),
    );
    if (rows.length) return rows.map(({ key }) => JSON.parse(key) as RowKey);
  }
  return [];
}

/** The source never gives an id again that an organization has taken with it: a row of nobody takes the place of the newest. */
function keepNewestId({ organizationId }: MoveEnds, database: Database, table: MovedTable) {
  const sql = newestRowSql(table.name, '?1');
  return sql === null ? [] : [database.prepare(sql, organizationId)];
}
