/** How many of the oldest rows are looked at to take turns among them. */
const windowRows = 20_000;

/**
 * A query for work of many organizations, `from` a table and its conditions: first the oldest row of each organization, then the second of
 * each, and so on, so that no organization waits for the many rows of another. The last parameter is that of LIMIT.
 */
export const roundRobinQuery = (columns: string, from: string, order: string): string =>
  `SELECT ${columns} FROM (
     SELECT *, row_number() OVER (PARTITION BY organization_id ORDER BY ${order}) AS turn FROM (
       SELECT ${columns}, ${order} FROM ${from} ORDER BY ${order} LIMIT ${windowRows}
     )
   ) ORDER BY turn, ${order} LIMIT ?`;
