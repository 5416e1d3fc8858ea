import type { Column, Table } from 'drizzle-orm';

/** `organization_id` of `organizationId`, as the columns of the schema are named. */
type ColumnName<Key extends string> = Key extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${ColumnName<Rest>}`
  : Key;

type StoredValue<C extends Column> =
  | (C['_']['dataType'] extends 'json' ? string : C['_']['dataType'] extends 'boolean' ? 0 | 1 : C['_']['data'])
  | (C['_']['notNull'] extends true ? never : null);

/**
 * A row of `Table` as a statement written in SQL answers it: columns by their names in the database, JSON as text, flags as 0 or 1,
 * moments in epoch ms.
 *
 * @example database.prepare<Pick<StoredRow<typeof contactList>, 'id' | 'name'>>('SELECT id, name FROM contact_list WHERE id = ?', id)
 */
export type StoredRow<T extends Table> = {
  [Key in keyof T['_']['columns'] & string as ColumnName<Key>]: StoredValue<T['_']['columns'][Key]>;
};
