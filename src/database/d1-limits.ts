import { currentActor } from './audit/actor.ts';
import { attributionOf, isAudited } from './audit/attribute-writes.ts';
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

interface BindingRules {
  isGuarded: boolean;
  isCatalog: boolean;
}

/** A statement on its way to D1, however it was made: by hand or by the query builder. */
class BoundedStatement {
  readonly inner: D1PreparedStatement;
  readonly sql: string;
  readonly #binding: D1Database;
  readonly #rules: BindingRules;

  constructor(inner: D1PreparedStatement, sql: string, binding: D1Database, rules: BindingRules) {
    this.inner = inner;
    this.sql = sql;
    this.#binding = binding;
    this.#rules = rules;
  }

  bind(...values: unknown[]): BoundedStatement {
    if (this.#rules.isGuarded) guardStatement(this.sql, values);
    else guardValues(values);
    return new BoundedStatement(this.inner.bind(...values), this.sql, this.#binding, this.#rules);
  }

  all = () => this.#send((statement) => statement.all());
  run = () => this.#send((statement) => statement.run());
  raw = (options?: { columnNames?: false }) =>
    this.#send<unknown>(
      (statement) => statement.raw(options),
      ({ results }) => results.map((row) => Object.values(row as object)),
    );
  first = (column?: string) =>
    this.#send<unknown>(
      (statement) => (column === undefined ? statement.first() : statement.first(column)),
      ({ results: [row] }) => (column === undefined ? (row ?? null) : ((row as Record<string, unknown> | undefined)?.[column] ?? null)),
    );

  /** Sends the statement alone, or in a transaction that records the change, of which `take` takes the answer. */
  async #send<Answer = D1Result>(
    alone: (statement: D1PreparedStatement) => Promise<Answer>,
    take: (result: D1Result) => Answer = (result) => result as Answer,
  ): Promise<Answer> {
    countAndGuard(1, this.#rules);
    const actor = currentActor();
    if (!actor || !isAudited([this.sql], actor)) return alone(this.inner);
    return take((await sendBatch(this.#binding, [this], this.#rules))[0]!);
  }
}

function countAndGuard(statements: number, { isGuarded }: BindingRules): void {
  const queries = countQueries(statements);
  if (isGuarded) guardInvocation(queries);
}

/** Runs the statements in one transaction, with those that record it where a person or key makes the change. */
async function sendBatch(binding: D1Database, statements: BoundedStatement[], rules: BindingRules): Promise<D1Result[]> {
  const inner = statements.map((statement) => statement.inner);
  const actor = currentActor();
  const sql = statements.map((statement) => statement.sql);
  if (!actor || !isAudited(sql, actor)) return binding.batch(inner);
  const { before, after } = attributionOf(binding, actor, { statements: sql, isCatalog: rules.isCatalog });
  countAndGuard(before.length + after.length, rules);
  const results = await binding.batch([...before, ...inner, ...after]);
  return results.slice(before.length, before.length + inner.length);
}

/**
 * A D1 binding whose queries are counted by invocation, and recorded in the audit log where a person or key makes a change: every write
 * passes here. A guarded binding enforces production's limits, so that tests and local runs fail where production would.
 */
export function boundedBinding(binding: D1Database, rules: BindingRules): D1Database {
  const bounded = {
    prepare: (sql: string) => new BoundedStatement(binding.prepare(sql), sql, binding, rules),
    async batch(statements: BoundedStatement[]) {
      if (rules.isGuarded) guardBatch(statements.length);
      countAndGuard(statements.length, rules);
      return sendBatch(binding, statements, rules);
    },
  };
  return bounded as unknown as D1Database;
}
