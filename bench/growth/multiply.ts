import type { Bench } from '../bench.ts';

type Database = Bench['rig']['databases']['recording'];

const rowsPerStatement = 5000;

/**
 * Inserts copies of one row, which `where` finds. `replaced` has SQL for the columns that differ, in which `n.value` counts the copies on from
 * `from`; null leaves a column to its default.
 */
export async function multiply(
  database: Database,
  {
    table,
    where,
    from,
    count,
    replaced,
  }: { table: string; where: string; from: number; count: number; replaced: Record<string, string | null> },
): Promise<void> {
  const row = await database.prepare(`SELECT * FROM ${table} WHERE ${where} LIMIT 1`).first<Record<string, unknown>>();
  if (!row) throw new Error(`No row of ${table} to copy: ${where}`);
  const columns = Object.keys(row).filter((column) => replaced[column] !== null);
  const kept = columns.filter((column) => replaced[column] === undefined);
  const values = columns.map((column) => replaced[column] ?? `?${kept.indexOf(column) + 3}`);
  const insert = database.prepare(
    `INSERT INTO ${table} (${columns.join(', ')})
     WITH RECURSIVE n (value) AS (SELECT ?1 UNION ALL SELECT value + 1 FROM n WHERE value < ?2) SELECT ${values.join(', ')} FROM n`,
  );
  for (let first = from; first < from + count; first += rowsPerStatement) {
    const last = Math.min(first + rowsPerStatement, from + count) - 1;
    await insert.bind(first, last, ...kept.map((column) => row[column])).run();
  }
}
