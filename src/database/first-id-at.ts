/** How far the clocks of the machines that write rows may differ. */
export const maxClockSkewMs = 3_600_000;

/**
 * SQL of the first id of the shard's rows of `table` at a moment (`?`, epoch ms), by binary search: ids grow with `created_at`, so a range of
 * moments becomes a range of ids. Reads about forty rows.
 */
export const firstIdAtSql = (table: string): string => `(WITH RECURSIVE half (low, high, moment) AS (
  SELECT 0, coalesce((SELECT max(id) FROM ${table}), 0) + 1, ?
  UNION ALL
  SELECT iif(x.created_at < moment, x.id + 1, low), iif(x.created_at < moment, high, (low + high) / 2), moment
  FROM half CROSS JOIN ${table} x
  WHERE low < high AND x.id = (SELECT id FROM ${table} WHERE id >= (low + high) / 2 ORDER BY id LIMIT 1)
) SELECT max(low) FROM half)`;
