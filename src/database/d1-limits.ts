import { countQueries, maxQueries } from './query-budget.ts';

// D1 refuses these in production; local D1 takes them. Source: Cloudflare D1 limits.
const maxParameters = 100;
const maxSqlBytes = 100_000;
const maxValueBytes = 2_000_000;
const maxStatementsPerBatch = 100;

/** A value that is larger than D1 accepts. Also thrown in production, before D1 refuses the value. */
class ValueTooLargeError extends Error {
  override readonly name = 'ValueTooLargeError';
}

/** Whether a value or a whole row was larger than the database accepts. Nothing was written then. */
export const isValueTooLarge = (error: unknown): boolean =>
  error instanceof ValueTooLargeError || /SQLITE_TOOBIG|string or blob too big/i.test(String((error as Error | null)?.message));

function guardValues(values: unknown[]): void {
  for (const value of values)
    if (typeof value === 'string' && exceeds(value, maxValueBytes))
      throw new ValueTooLargeError(`D1 limit: a value of ${value.length} characters is over ${maxValueBytes} bytes`);
}

/** Throws when production D1 would refuse the statement. */
export function guardStatement(sql: string, parameters: unknown[]): void {
  if (parameters.length > maxParameters) throw new Error(`D1 limit: ${parameters.length} parameters, at most ${maxParameters}`);
  if (exceeds(sql, maxSqlBytes)) throw new Error(`D1 limit: a statement of ${sql.length} characters, at most ${maxSqlBytes} bytes`);
  guardValues(parameters);
}

const exceeds = (text: string, bytes: number): boolean => text.length > bytes / 4 && new TextEncoder().encode(text).byteLength > bytes;

/** Our own bound: a request that needs more statements than this wants another design. */
export function guardBatch(statements: number): void {
  if (statements > maxStatementsPerBatch) throw new Error(`a batch of ${statements} statements, at most ${maxStatementsPerBatch}`);
}

function guardInvocation(queries: number): void {
  if (queries > maxQueries) throw new Error(`D1 limit: ${queries} queries in one invocation, at most ${maxQueries}`);
}

/** A statement on its way to D1, however it was made: by hand or by the query builder. */
class BoundedStatement {
  readonly inner: D1PreparedStatement;
  readonly #sql: string;
  readonly #isGuarded: boolean;

  constructor(inner: D1PreparedStatement, sql: string, isGuarded: boolean) {
    this.inner = inner;
    this.#sql = sql;
    this.#isGuarded = isGuarded;
  }

  bind(...values: unknown[]): BoundedStatement {
    if (this.#isGuarded) guardStatement(this.#sql, values);
    else guardValues(values);
    return new BoundedStatement(this.inner.bind(...values), this.#sql, this.#isGuarded);
  }

  all = () => this.#counted().all();
  run = () => this.#counted().run();
  raw = (options?: { columnNames?: false }) => this.#counted().raw(options);
  first = (column?: string) => (column === undefined ? this.#counted().first() : this.#counted().first(column));

  #counted(): D1PreparedStatement {
    const queries = countQueries(1);
    if (this.#isGuarded) guardInvocation(queries);
    return this.inner;
  }
}

/**
 * A D1 binding whose queries are counted by invocation. A guarded binding enforces production's limits, so that tests and local runs fail
 * where production would.
 */
export function boundedBinding(binding: D1Database, isGuarded: boolean): D1Database {
  const bounded = {
    prepare: (sql: string) => new BoundedStatement(binding.prepare(sql), sql, isGuarded),
    batch(statements: BoundedStatement[]) {
      const queries = countQueries(statements.length);
      if (isGuarded) {
        guardBatch(statements.length);
        guardInvocation(queries);
      }
      return binding.batch(statements.map(({ inner }) => inner));
    },
  };
  return bounded as unknown as D1Database;
}
