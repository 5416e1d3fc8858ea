type Cursor = SqlStorageCursor<Record<string, SqlStorageValue>>;

export interface WatchedStatements {
  /** Each statement that ran, with its cursor, which tells the written rows. */
  seen: { query: string; cursor: Cursor }[];
  /** What the real plans of the statements say, a line a step. */
  plans(): { query: string; step: string }[];
}

/** Notes every statement that an object's SQLite runs from now on. */
export function watchStatements({ sql }: DurableObjectStorage): WatchedStatements {
  const seen: WatchedStatements['seen'] = [];
  const real = sql.exec.bind(sql);
  Object.defineProperty(sql, 'exec', {
    configurable: true,
    value: (query: string, ...parameters: SqlStorageValue[]) => {
      const cursor = real(query, ...parameters);
      seen.push({ query, cursor });
      return cursor;
    },
  });
  const isPlanned = (query: string) => /^\s*(SELECT|INSERT|UPDATE|DELETE)/.test(query);
  const plans = () =>
    [...new Set(seen.map(({ query }) => query))].filter(isPlanned).flatMap((query) => {
      const parameters = Array.from({ length: query.split('?').length - 1 }, () => 1);
      const steps = real<{ detail: string }>(`EXPLAIN QUERY PLAN ${query}`, ...parameters).toArray();
      return steps.map(({ detail }) => ({ query: query.replaceAll(/\s+/g, ' ').trim(), step: detail }));
    });
  return { seen, plans };
}

/** The names of an object's own indexes. */
export const indexNames = ({ sql }: DurableObjectStorage): string[] =>
  sql
    .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'index' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
    .toArray()
    .map(({ name }) => name);
