import type { Column, Table } from 'drizzle-orm';

/** `organization_id` of `organizationId`, as the columns of the schema are named. */
type ColumnName<Key extends string> = Key extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${ColumnName<Rest>}`
  : Key;

type StoredValue<C extends Column> =
  | (C['_']['dataType'] extends 'json' ? string : C['_']['dataType'] extends 'boolean' ? 0 | 1 : C['_']['data'])
  | (C['_']['notNull'] extends true ? never : null);

/** A row of `table` as hand-written SQL reads it: names of the columns, JSON as text, booleans as 0 or 1. */
export type StoredRow<T extends Table> = {
  [Key in keyof T['_']['columns'] & string as ColumnName<Key>]: StoredValue<T['_']['columns'][Key]>;
};
