import type { AnySQLiteTable } from 'drizzle-orm/sqlite-core';

type Columns<Table extends AnySQLiteTable> = Table['_']['columns'];

/** `organizationId` is `organization_id`: every column has the name of its property in snake case. */
type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

/** Drizzle maps JSON and flags; SQL answers JSON as text and a flag as 0 or 1. */
type SqlValue<Column extends { data: unknown; notNull: boolean; dataType: string }> =
  | (Column['dataType'] extends 'json' ? string : Column['dataType'] extends 'boolean' ? number : Column['data'])
  | (Column['notNull'] extends true ? never : null);

/**
 * A row of `Table` as a statement written in SQL answers it: columns by their names in the database, JSON as text, flags as 0 or 1,
 * moments in epoch ms.
 *
 * @example database.prepare<Pick<SqlRow<typeof contactList>, 'id' | 'name'>>('SELECT id, name FROM contact_list WHERE id = ?', id)
 */
export type SqlRow<Table extends AnySQLiteTable> = {
  [Key in keyof Columns<Table> & string as SnakeCase<Key>]: SqlValue<Columns<Table>[Key]['_']>;
};
