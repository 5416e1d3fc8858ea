/** How many of the oldest rows are looked at to take turns among them. */
const windowRows = 20_000;

/**
 * A query whose rows are work of many organizations, `from` a table and its conditions: the oldest of each organization comes first,
 * then the second of each, and so on, so that none waits for all that another has piled up. It ends with the parameter of a LIMIT.
 */
export const roundRobinQuery = (columns: string, from: string, order: string): string =>
  `SELECT ${columns} FROM (
     SELECT *, row_number() OVER (PARTITION BY organization_id ORDER BY ${order}) AS turn FROM (
       SELECT ${columns}, ${order} FROM ${from} ORDER BY ${order} LIMIT ${windowRows}
     )
   ) ORDER BY turn, ${order} LIMIT ?`;
