import type { RowKey } from './copy-rows.ts';
import type { MoveEnds } from './ends.ts';
import type { MovedTable } from './moved-tables.ts';

/** How many rows of a table, whoever's, are looked at for a page, and how many of them a page can have. */
const windowRows = 4000;
const pageRows = 500;

interface KeyPage {
  keys: RowKey[];
  /** From where the next page goes on; null: there is none. */
  next: RowKey | null;
}

/** A page of the organization's rows after the cursor, along the primary key: no other order of the rows lasts while they change. */
export async function findKeysAfter({ source, organizationId }: MoveEnds, table: MovedTable, cursor: RowKey | null): Promise<KeyPage> {
  const list = table.key.join(', ');
  const isAfter = cursor ? `WHERE (${list}) > (${cursor.map((_, place) => `?${place + 2}`).join(', ')})` : '';
  const window = `SELECT ${list}, ${table.isOwn(table.name, '?1')} AS is_own FROM ${table.name} ${isAfter} ORDER BY ${list} LIMIT ${windowRows}`;
  const seen = `SELECT json_array(${list}) AS key, is_own, row_number() OVER (ORDER BY ${list}) AS place FROM (${window})`;
  const parameters = [organizationId, ...(cursor ?? [])];
  const [own, last] = await source.batch([
    source.prepare<{ key: string }>(`SELECT key FROM (${seen}) WHERE is_own ORDER BY place LIMIT ${pageRows}`, ...parameters),
    source.prepare<{ key: string; place: number }>(`SELECT key, place FROM (${seen}) ORDER BY place DESC LIMIT 1`, ...parameters),
  ]);
  const keys = own.map(({ key }) => JSON.parse(key) as RowKey);
  if (keys.length === pageRows) return { keys, next: keys.at(-1)! };
  const isEnd = (last[0]?.place ?? 0) < windowRows;
  return { keys, next: isEnd ? null : (JSON.parse(last[0]!.key) as RowKey) };
}
