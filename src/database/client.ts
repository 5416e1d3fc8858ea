import { DrizzleQueryError } from 'drizzle-orm';
import { drizzle, type DrizzleD1Database } from 'drizzle-orm/d1';
import { boundedBinding, guardStatement, guardBatch } from './limits.ts';
import * as schema from './schema/index.ts';
import { newReceipt, receiptOf, receiptStatement, type FirstTime } from './receipts.ts';
import { troubleOf } from '../library/platform-trouble.ts';
import { OutcomeUnknownError } from './trouble.ts';

export type Statement = D1PreparedStatement;
export type Row = Record<string, unknown>;
type Parameter = string | number | boolean | null;

/** A drizzle query that can become a prepared statement. */
interface Query {
  toSQL(): { sql: string; params: unknown[] };
}

/**
 * What lets a write be repeated when nobody knows whether it was done:
 * - a column of a unique index by which the repeat finds the first (`event.sender_id`).
 * - `same values`: the second time sets, or deletes, what the first has, and the answer is the same.
 * - `worked out anew`: the second time finds nothing to do, and whoever asked looks at what is there then.
 */
export type Repeatable = `${string}.${string}` | 'same values' | 'worked out anew';

const attempts = 3;
const writes = /^\s*(INSERT|UPDATE|DELETE|REPLACE|WITH\b[^;]*\)\s*(INSERT|UPDATE|DELETE))\b/i;
const writing = new WeakSet<Statement>();

/**
 * One shard. All calls to D1 go through here: it repeats what the platform drops now and then and, outside production, holds statements to
 * the production limits that local D1 does not enforce. Reads are repeated freely. A write whose answer is lost is repeated where
 * the caller names what makes that harmless; others end in an `OutcomeUnknownError`.
 */
export class Database {
  /** Query builder over the schema; build with it, run through `run` or, as a statement, `batch`. */
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
    const statement = this.#binding.prepare(sql).bind(...parameters);
    if (writes.test(sql)) writing.add(statement);
    return statement;
  }

  /** A drizzle query as a statement for `batch`. */
  from(query: Query): Statement {
    const { sql, params } = query.toSQL();
    return this.prepare(sql, ...(params as Parameter[]));
  }

  /** Runs all statements in one transaction and one call; answers the rows of each. `onLoss` hears that an answer was lost. */
  async batch(statements: Statement[], repeatable?: Repeatable, onLoss?: () => void): Promise<Row[][]> {
    if (this.#isGuarded) guardBatch(statements.length);
    const mayRepeat = repeatable !== undefined || !statements.some((statement) => writing.has(statement));
    const results = await retrying(() => this.#binding.batch<Row>(statements), mayRepeat, onLoss);
    return results.map((result) => result.results);
  }

  async all<T = Row>(statement: Statement, repeatable?: Repeatable): Promise<T[]> {
    return (await retrying(() => statement.all<T>(), repeatable !== undefined || !writing.has(statement))).results;
  }

  async first<T = Row>(statement: Statement, repeatable?: Repeatable): Promise<T | null> {
    return (await this.all<T>(statement, repeatable))[0] ?? null;
  }

  /** How large the database is, as D1 tells with every answer; null where it does not. */
  async bytes(): Promise<number | null> {
    const { meta } = await retrying(() => this.#binding.prepare('SELECT 1').all(), true);
    return Number.isFinite(meta?.size_after) ? meta.size_after : null;
  }

  /** Runs a drizzle query, or batch of them, that reads. */
  async run<T>(query: () => PromiseLike<T>): Promise<T> {
    return retrying(() => withoutParameters(query), true);
  }

  /** Runs a drizzle query that writes. */
  async write<T>(query: () => PromiseLike<T>, repeatable: Repeatable): Promise<T> {
    void repeatable;
    return retrying(() => withoutParameters(query), true);
  }

  /**
   * Runs all statements in one transaction, once, for writes that a repeat would do again or refuse: a receipt is written with them, under
   * which a repeat fails as a whole. Then `readBack` answers in their place what the first time answered. It is told what the statement
   * number `receiptAfter`, else the last one, did.
   */
  async once(
    statements: Statement[],
    readBack: (first: FirstTime) => Promise<Row[][]>,
    receiptAfter: number = statements.length,
  ): Promise<Row[][]> {
    if (this.#isGuarded) guardBatch(statements.length + 1);
    const key = newReceipt();
    let isLost = false;
    try {
      const results = await retrying(
        () => this.#binding.batch<Row>(statements.toSpliced(receiptAfter, 0, this.prepare(receiptStatement, key))),
        true,
        () => (isLost = true),
      );
      return results.toSpliced(receiptAfter, 1).map((result) => result.results);
    } catch (error) {
      // Whatever a repeat broke on, it may be what the first time wrote.
      const first = isLost && troubleOf(error) === null ? await this.first<FirstTime>(this.prepare(receiptOf, key)) : null;
      if (!first) throw error;
      return readBack(first);
    }
  }
}

async function retrying<T>(call: () => Promise<T>, mayRepeat: boolean, onLoss: () => void = () => {}): Promise<T> {
  let isUnknown = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble === null) throw error;
      if (trouble === 'lost') {
        isUnknown = true;
        onLoss();
      }
      if (attempt >= attempts || (trouble === 'lost' && !mayRepeat)) throw isUnknown ? new OutcomeUnknownError(error) : error;
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
