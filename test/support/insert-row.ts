import { ownRows } from './own-rows.ts';

type Value = string | number | null;

/** Inserts a row without the service. Required columns that are not given get meaningless values. */
export async function insertRow(table: string, values: Record<string, Value>, database: D1Database = ownRows): Promise<number> {
  const { results } = await database
    .prepare('SELECT name, type, "notnull" AS required, dflt_value AS standard, pk FROM pragma_table_info(?)')
    .bind(table)
    .all<{ name: string; type: string; required: number; standard: string | null; pk: number }>();
  const row: Record<string, Value> = { ...values };
  for (const { name, type, required, standard, pk } of results) {
    if (name in row || !required || standard !== null || (pk === 1 && type.toUpperCase() === 'INTEGER' && name === 'id')) continue;
    row[name] = type.toUpperCase() === 'INTEGER' ? 0 : crypto.randomUUID();
  }
  const names = Object.keys(row);
  const { meta } = await database
    .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
    .bind(...Object.values(row))
    .run();
  return meta.last_row_id;
}
