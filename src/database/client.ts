import { DrizzleQueryError } from 'drizzle-orm';
import { drizzle, type DrizzleD1Database } from 'drizzle-orm/d1';
import { boundedBinding, guardStatement, guardBatch } from './limits.ts';
import * as schema from './schema/index.ts';
import { troubleOf } from './trouble.ts';

export type Statement = D1PreparedStatement;
export type Row = Record<string, unknown>;
type Parameter = string | number | boolean | null;

/** A drizzle query that can become a prepared statement. */
interface Query {
  toSQL(): { sql: string; params: unknown[] };
}

const attempts = 3;

/**
 * One shard. All calls to D1 go through here: it retries what the platform drops now and then (every write of ours is
 * repeatable) and, outside production, holds statements to the production limits that local D1 does not enforce.
 */
export class Database {
  /** Query builder over the schema; build with it, run through `run`, `runOnce` or, as a statement, `batch`. */
  readonly orm: DrizzleD1Database<typeof schema>;
  readonly #binding: D1Database;
  readonly #isGuarded: boolean;

  constructor(binding: D1Database, isGuarded: boolean) {
    this.#binding = boundedBinding(binding, isGuarded);
    this.#isGuarded = isGuarded;
    this.orm = drizzle(this.#binding, { schema });
  }

  prepare(sql: string, ...parameters: Parameter[]): Statement {
    if (this.#isGuarded) guardStatement(sql, parameters);
    return this.#binding.prepare(sql).bind(...parameters);
  }

  /** A drizzle query as a statement for `batch`. */
  from(query: Query): Statement {
    const { sql, params } = query.toSQL();
    return this.prepare(sql, ...(params as Parameter[]));
  }

  /** Runs all statements in one transaction and one call; answers the rows of each. */
  async batch(statements: Statement[]): Promise<Row[][]> {
    if (this.#isGuarded) guardBatch(statements.length);
    const results = await retrying(() => this.#binding.batch<Row>(statements));
    return results.map((result) => result.results);
  }

  async all<T = Row>(statement: Statement): Promise<T[]> {
    return (await retrying(() => statement.all<T>())).results;
  }

  /** Runs a drizzle query or batch that may be repeated. */
  async run<T>(query: () => PromiseLike<T>): Promise<T> {
    return retrying(() => withoutParameters(query));
  }

  /** Runs a drizzle query or batch that would do twice what it does twice. */
  async runOnce<T>(query: () => PromiseLike<T>): Promise<T> {
    return withoutParameters(query);
  }

  async first<T = Row>(statement: Statement): Promise<T | null> {
    return (await this.all<T>(statement))[0] ?? null;
  }
}

async function retrying<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt >= attempts || troubleOf(error) === null) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** attempt * (0.5 + Math.random())));
    }
  }
}

/** Drizzle's error quotes the parameters, which may be secrets or personal; D1's, which caused it, does not. */
async function withoutParameters<T>(query: () => PromiseLike<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    throw error instanceof DrizzleQueryError && error.cause ? error.cause : error;
  }
}

/** Whether `error` is a broken unique index, and if so over which columns (`contact.phone` ...). */
export function brokenUnique(error: unknown): string[] | null {
  const match = /UNIQUE constraint failed: ([^:]+)/.exec(String((error as Error).message));
  return match ? match[1]!.split(',').map((column) => column.trim()) : null;
}
