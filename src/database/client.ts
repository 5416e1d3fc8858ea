import { DrizzleQueryError } from 'drizzle-orm';
import { drizzle, type DrizzleD1Database } from 'drizzle-orm/d1';
import { boundedBinding, guardStatement, guardBatch } from './d1-limits.ts';
import * as schema from './schema/index.ts';
import { isWriteSql } from './write-sql.ts';
import { newReceiptKey, selectReceiptSql, insertReceiptSql, type FirstAttempt } from './write-receipts.ts';
import { platformErrorKind } from '../library/platform/platform-errors.ts';

export type Row = Record<string, unknown>;

declare const rowType: unique symbol;
/** A prepared statement whose rows are `Shape`. */
export interface Statement<Shape extends object = Row> extends D1PreparedStatement {
  readonly [rowType]?: () => Shape;
}

/** The rows of each statement, in their order. */
type RowsOfEach<Statements extends readonly Statement<object>[]> = {
  -readonly [Index in keyof Statements]: Statements[Index] extends Statement<infer Shape> ? Shape[] : never;
};

export type Parameter = string | number | boolean | null;

/** A drizzle query that can become a prepared statement. */
interface Query {
  toSQL(): { sql: string; params: unknown[] };
}

/**
 * Why a write may be repeated when its answer was lost:
 * - a column of a unique index (`event.sender_id`): the second write finds the row of the first.
 * - `idempotent`: the second write sets or deletes the same values and returns the same rows.
 * - `read-back`: the second write changes nothing, and the caller reads the stored rows afterwards.
 */
export type RetrySafety = `${string}.${string}` | 'idempotent' | 'read-back';

const maxAttempts = 3;
const writeStatements = new WeakSet<D1PreparedStatement>();

/**
 * One shard. All calls to D1 go through this class. It repeats calls that the platform drops and, outside production, enforces production's
 * limits, which local D1 does not. Reads are always repeated. A write whose answer is lost is repeated when the caller says why a repeat is
 * harmless (`RetrySafety`); another write ends in an `OutcomeUnknownError`.
 */
export class Database {
  /** Query builder over the schema; build with it, run through `run` or, as a statement, `batch`. */
  readonly orm: DrizzleD1Database<typeof schema>;
  readonly #binding: D1Database;
  readonly #isGuarded: boolean;

  /** `isCatalog`: the database has the accounts, too, and what people change in them is recorded there. */
  constructor(binding: D1Database, isGuarded: boolean, isCatalog = true) {
    this.#binding = boundedBinding(binding, { isGuarded, isCatalog });
    this.#isGuarded = isGuarded;
    this.orm = drizzle(this.#binding, { schema });
  }

  /** A statement whose rows have the shape that the caller names. Outside production, a statement beyond D1's limits throws. */
  prepare<Shape extends object = Row>(sql: string, ...parameters: Parameter[]): Statement<NoInfer<Shape>> {
    if (this.#isGuarded) guardStatement(sql, parameters);
    const statement = this.#binding.prepare(sql).bind(...parameters);
    if (isWriteSql(sql)) writeStatements.add(statement);
    return statement;
  }

  /** A drizzle query as a statement for `batch`. `Shape` names the columns as D1 answers them, which are those of the table. */
  from<Shape extends object = Row>(query: Query): Statement<NoInfer<Shape>> {
    const { sql, params } = query.toSQL();
    return this.prepare<Shape>(sql, ...(params as Parameter[]));
  }

  /** Runs all statements in one transaction and one call. Returns the rows of each. Calls `onLoss` when an answer was lost. */
  async batch<const Statements extends readonly Statement<object>[]>(
    statements: Statements,
    repeatable?: RetrySafety,
    onLoss?: () => void,
  ): Promise<RowsOfEach<Statements>> {
    if (this.#isGuarded) guardBatch(statements.length);
    const mayRepeat = repeatable !== undefined || !statements.some((statement) => writeStatements.has(statement));
    const results = await withRetries(() => this.#binding.batch<Row>([...statements]), mayRepeat, onLoss);
    return results.map((result) => result.results) as RowsOfEach<Statements>;
  }

  async all<Shape extends object>(statement: Statement<Shape>, repeatable?: RetrySafety): Promise<Shape[]> {
    return (await withRetries(() => statement.all<Shape>(), repeatable !== undefined || !writeStatements.has(statement))).results;
  }

  async first<Shape extends object>(statement: Statement<Shape>, repeatable?: RetrySafety): Promise<Shape | null> {
    return (await this.all(statement, repeatable))[0] ?? null;
  }

  /** The size of the database in bytes, which D1 reports with every answer; null where it does not. */
  async readSizeBytes(): Promise<number | null> {
    const { meta } = await withRetries(() => this.#binding.prepare('SELECT 1').all(), true);
    return Number.isFinite(meta?.size_after) ? meta.size_after : null;
  }

  /** Runs a drizzle query, or batch of them, that reads. */
  async run<T>(query: () => PromiseLike<T>): Promise<T> {
    return withRetries(() => withoutQueryParameters(query), true);
  }

  /** Runs a drizzle query that writes. */
  async write<T>(query: () => PromiseLike<T>, repeatable: RetrySafety): Promise<T> {
    void repeatable;
    return withRetries(() => withoutQueryParameters(query), true);
  }

  /**
   * Runs all statements in one transaction, once: for writes that a repeat would do twice or refuse. A receipt is written with them, so
   * that a repeat fails as a whole; then `readBack` reads the answers of the first attempt. `readBack` gets the result of statement number
   * `receiptAfter`, else of the last one.
   */
  async batchOnce<const Statements extends readonly Statement<object>[]>(
    statements: Statements,
    readBack: (first: FirstAttempt) => Promise<RowsOfEach<Statements> | Row[][]>,
    receiptAfter: number = statements.length,
  ): Promise<RowsOfEach<Statements>> {
    if (this.#isGuarded) guardBatch(statements.length + 1);
    const key = newReceiptKey();
    let isLost = false;
    try {
      const results = await withRetries(
        () => this.#binding.batch<Row>([...statements].toSpliced(receiptAfter, 0, this.prepare(insertReceiptSql, key))),
        true,
        () => (isLost = true),
      );
      return results.toSpliced(receiptAfter, 1).map((result) => result.results) as RowsOfEach<Statements>;
    } catch (error) {
      // The repeat may have failed on the rows that the first attempt wrote.
      const first =
        isLost && platformErrorKind(error) === null ? await this.first(this.prepare<FirstAttempt>(selectReceiptSql, key)) : null;
      if (!first) throw error;
      return (await readBack(first)) as RowsOfEach<Statements>;
    }
  }
}

async function withRetries<T>(call: () => Promise<T>, mayRepeat: boolean, onLoss: () => void = () => {}): Promise<T> {
  let isUnknown = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const trouble = platformErrorKind(error);
      if (trouble === null) throw error;
      if (trouble === 'lost') {
        isUnknown = true;
        onLoss();
      }
      if (attempt >= maxAttempts || (trouble === 'lost' && !mayRepeat)) throw isUnknown ? new OutcomeUnknownError(error) : error;
      await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** attempt * (0.5 + Math.random())));
    }
  }
}

/** Drizzle's error quotes the parameters, which may be secrets or personal data. Its cause, D1's error, does not. */
async function withoutQueryParameters<T>(query: () => PromiseLike<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    throw error instanceof DrizzleQueryError && error.cause ? error.cause : error;
  }
}

/** The columns of the unique index that `error` violates (`contact.phone` ...); null for other errors. */
export function violatedUniqueColumns(error: unknown): string[] | null {
  const match = /UNIQUE constraint failed: ([^:]+)/.exec(String((error as Error).message));
  return match ? match[1]!.split(',').map((column) => column.trim()) : null;
}

/** A statement without rows, for the place of one that has nothing to read back. */
export const selectNothing = (database: Database): Statement<never> => database.prepare('SELECT 1 WHERE 0') as Statement<never>;

/** A write whose answer was lost and that cannot be repeated: its outcome is unknown. */
class OutcomeUnknownError extends Error {
  constructor(cause: unknown) {
    super(`It is unknown whether it was done: ${(cause as Error).message}`, { cause });
    this.name = 'OutcomeUnknownError';
  }
}
