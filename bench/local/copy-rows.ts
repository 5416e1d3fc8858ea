import type { Database } from './start.ts';

type Row = Record<string, unknown>;

const tables = [
  'organization',
  'user',
  'membership',
  'api_key',
  'automation_workflow',
  'automation_version',
  'automation_trigger',
  'trigger_topic',
];

const rowsPerCall = 100;

/** Copies accounts and journeys, so that both databases hold the same under the same ids. */
export async function copyRows(from: Database, to: Database): Promise<void> {
  for (const table of tables) await insertRows(to, table, (await from.prepare(`SELECT * FROM ${table}`).all<Row>()).results);
}

/** Inserts rows that have the table's columns. */
export async function insertRows(database: Database, table: string, rows: Row[]): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsPerCall)
    await database.batch(
      rows.slice(at, at + rowsPerCall).map((row) => {
        const names = Object.keys(row);
        return database
          .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
          .bind(...Object.values(row));
      }),
    );
}
