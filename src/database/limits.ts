// D1 refuses these in production; local D1 takes them. Source: Cloudflare D1 limits.
const maximumParameters = 100;
const maximumSqlBytes = 100_000;
const maximumValueBytes = 2_000_000;
const maximumStatementsInBatch = 100;

/** Throws when production D1 would refuse the statement. */
export function guardStatement(sql: string, parameters: unknown[]): void {
  if (parameters.length > maximumParameters) throw new Error(`D1 limit: ${parameters.length} parameters, at most ${maximumParameters}`);
  if (sql.length > maximumSqlBytes) throw new Error(`D1 limit: a statement of ${sql.length} bytes, at most ${maximumSqlBytes}`);
  for (const value of parameters)
    if (typeof value === 'string' && value.length > maximumValueBytes / 4 && new TextEncoder().encode(value).byteLength > maximumValueBytes)
      throw new Error(`D1 limit: a value of ${value.length} characters is over ${maximumValueBytes} bytes`);
}

/** Our own bound: a request that needs more statements than this wants another design. */
export function guardBatch(statements: number): void {
  if (statements > maximumStatementsInBatch) throw new Error(`a batch of ${statements} statements, at most ${maximumStatementsInBatch}`);
}
