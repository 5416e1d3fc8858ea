import { Buffer } from 'node:buffer';
import type { Database, Parameter, Row, Statement } from '../../database/client.ts';
import { jsonChunks } from '../../database/json-chunks.ts';
import { writeHeld, type MoveEnds } from './ends.ts';
import { copyCallWords } from './copy-call-words.ts';
import { noteDependents } from './dependents.ts';
import type { MovedTable } from './moved-tables.ts';

/** A primary key, its columns in the order of the table's. */
export type RowKey = (string | number)[];

/** A row with longer JSON is bound value by value: D1 takes 2 MB, and quotes make JSON longer than the row. */
const maxJsonBytes = 900_000;
/** The rows in memory together. */
const maxBytesTogether = 4_000_000;

const isKeyIn = (table: MovedTable, list: string) =>
  `(${table.key.join(', ')}) IN (SELECT ${table.key.map((_, place) => `value ->> ${place}`).join(', ')} FROM json_each(${list}))`;

const sizeSql = (table: MovedTable) => table.columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ');

/** Copies the rows with these keys as they are now, and deletes those from the target that the source no longer has. Returns their number. */
export async function copyRows(ends: MoveEnds, table: MovedTable, keys: RowKey[]): Promise<number> {
  if (!keys.length) return 0;
  const { source, organizationId } = ends;
  const sized = await source.all(
    source.prepare<{ key: string; bytes: number }>(
      `SELECT json_array(${table.key.join(', ')}) AS key, ${sizeSql(table)} AS bytes FROM ${table.name}
       WHERE ${isKeyIn(table, '?2')} AND ${table.isOwn(table.name, '?1')}`,
      organizationId,
      JSON.stringify(keys),
    ),
  );
  const present = sized.map(({ key, bytes }) => ({ key: JSON.parse(key) as RowKey, bytes }));
  for (const slice of slicesOf(present)) {
    const rows = await source.all(
      source.prepare<Row>(
        `SELECT ${table.columns.join(', ')} FROM ${table.name} WHERE ${isKeyIn(table, '?2')} AND ${table.isOwn(table.name, '?1')}`,
        organizationId,
        JSON.stringify(slice),
      ),
    );
    await noteDependents(ends, table, rows);
    if (rows.length) await writeHeld(ends, ends.target, upsertStatements(ends.target, table, rows, organizationId));
    if (table.name === 'voice_agent_run') await copyCallWords(ends, rows);
  }
  const known = new Set(present.map(({ key }) => JSON.stringify(key)));
  const gone = keys.filter((key) => !known.has(JSON.stringify(key)));
  if (gone.length) await writeHeld(ends, ends.target, deleteStatements(ends.target, table, gone, organizationId));
  return keys.length;
}

function slicesOf(rows: { key: RowKey; bytes: number }[]): RowKey[][] {
  const slices: RowKey[][] = [];
  let left = 0;
  for (const { key, bytes } of rows) {
    if (!slices.length || bytes > left) {
      slices.push([]);
      left = maxBytesTogether;
    }
    slices.at(-1)!.push(key);
    left -= bytes;
  }
  return slices;
}

/** Whether JSON can carry the values: SQLite's ends a text at a zero character. */
function isShort(values: Parameter[]): boolean {
  const text = JSON.stringify(values);
  return text.length < maxJsonBytes && Buffer.byteLength(text) < maxJsonBytes && !text.includes('\\u0000');
}

/** The statements that make the rows those of the target. */
export function upsertStatements(target: Database, table: MovedTable, rows: Row[], organizationId: number): Statement[] {
  const lists = rows.map((row) => table.columns.map((column) => row[column] as Parameter));
  const { true: short = [], false: long = [] } = Object.groupBy(lists, (values) => String(isShort(values)) as 'true' | 'false');
  const names = table.columns.join(', ');
  const onConflict = onConflictSql(table, organizationId);
  return [
    ...displaceStatements(target, table, rows, organizationId),
    ...jsonChunks(short).map((json) =>
      target.prepare(
        `INSERT INTO ${table.name} (${names}) SELECT ${table.columns.map((_, place) => `value ->> ${place}`).join(', ')}
         FROM json_each(?1) WHERE true ${onConflict}`,
        json,
      ),
    ),
    ...long.map((values) =>
      target.prepare(`INSERT INTO ${table.name} (${names}) VALUES (${values.map(() => '?').join(', ')}) ${onConflict}`, ...values),
    ),
  ];
}

/** A row of another organization with the same key is left alone. The comparison at the end finds it. */
function onConflictSql(table: MovedTable, organizationId: number): string {
  const others = table.columns.filter((column) => !table.key.includes(column));
  if (!others.length) return 'ON CONFLICT DO NOTHING';
  const isOwn = table.hasOrganization ? `WHERE ${table.name}.organization_id = ${organizationId}` : '';
  return `ON CONFLICT (${table.key.join(', ')}) DO UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(', ')} ${isOwn}`;
}

/**
 * Deletes the rows whose place in a unique index the new rows take. Such a row has changed in the source since it was copied, so that it is
 * noted, and copied again.
 */
function displaceStatements(target: Database, table: MovedTable, rows: Row[], organizationId: number): Statement[] {
  return table.uniqueIndexes.flatMap((index) => {
    const columns = [...new Set([...table.key, ...index.columns, ...columnsIn(index.where, table)])];
    const place = (column: string) => columns.indexOf(column);
    const incoming = `(SELECT ${columns.map((column) => `value ->> ${place(column)} AS ${column}`).join(', ')} FROM json_each(?1)) AS incoming`;
    const where = (alias: string) => (index.where === null ? '' : `AND ${qualify(index.where, alias, table)}`);
    const isSame = index.columns.map((column) => `held.${column} = incoming.${column}`).join(' AND ');
    const isOther = table.key.map((column) => `held.${column} <> incoming.${column}`).join(' OR ');
    return jsonChunks(rows.map((row) => columns.map((column) => row[column]))).map((json) =>
      target.prepare(
        `DELETE FROM ${table.name} WHERE (${table.key.join(', ')}) IN (
           SELECT ${table.key.map((column) => `held.${column}`).join(', ')} FROM ${incoming} CROSS JOIN ${table.name} AS held
           WHERE ${isSame} AND (${isOther}) AND held.organization_id = ${organizationId} ${where('held')} ${where('incoming')})`,
        json,
      ),
    );
  });
}

const wordPattern = /'[^']*'|[a-z_]+/g;

const columnsIn = (condition: string | null, { columns }: MovedTable): string[] =>
  (condition?.match(wordPattern) ?? []).filter((word) => columns.includes(word));

const qualify = (condition: string, alias: string, { columns }: MovedTable): string =>
  condition.replaceAll(wordPattern, (word) => (columns.includes(word) ? `${alias}.${word}` : word));

/** The statements that delete rows of the organization by their keys, with what full-text search has of them. */
export function deleteStatements(database: Database, table: MovedTable, keys: RowKey[], organizationId: number): Statement[] {
  const own = table.hasOrganization ? `AND organization_id = ${organizationId}` : '';
  const json = JSON.stringify(keys);
  const remove = database.prepare(`DELETE FROM ${table.name} WHERE ${isKeyIn(table, '?1')} ${own}`, json);
  if (table.name !== 'contact') return [remove];
  // The search forgets a contact when its row is marked.
  const mark = database.prepare(`UPDATE contact SET deleted_at = 0 WHERE ${isKeyIn(table, '?1')} ${own} AND deleted_at IS NULL`, json);
  return [mark, remove];
}
