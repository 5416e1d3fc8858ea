import type { RecordedCall, Value } from '../recipe.ts';

type Record = (statements: RecordingStatement[], isBatch: boolean, results: D1Result[]) => void;

/** As much of a D1 binding as the service uses. Calls go through to `real`, and are written down with what they cost. */
export class RecordingDatabase {
  readonly #real: D1Database;
  readonly #record: Record;

  constructor(real: D1Database, by: RecordedCall['by'], calls: RecordedCall[]) {
    this.#real = real;
    this.#record = (statements, isBatch, results) =>
      calls.push({
        by,
        isBatch,
        statements: statements.map(({ sql, parameters }) => ({ sql, parameters })),
        rowsRead: results.reduce((sum, { meta }) => sum + meta.rows_read, 0),
        rowsWritten: results.reduce((sum, { meta }) => sum + meta.rows_written, 0),
      });
  }

  prepare(sql: string): RecordingStatement {
    return new RecordingStatement(this.#real.prepare(sql), sql, [], this.#record);
  }

  async batch(statements: RecordingStatement[]): Promise<D1Result[]> {
    const results = await this.#real.batch(statements.map(({ real }) => real));
    this.#record(statements, true, results);
    return results;
  }
}

class RecordingStatement {
  readonly real: D1PreparedStatement;
  readonly sql: string;
  readonly parameters: Value[];
  readonly #record: Record;

  constructor(real: D1PreparedStatement, sql: string, parameters: Value[], record: Record) {
    this.real = real;
    this.sql = sql;
    this.parameters = parameters;
    this.#record = record;
  }

  bind(...parameters: Value[]): RecordingStatement {
    return new RecordingStatement(this.real.bind(...parameters), this.sql, parameters, this.#record);
  }

  async all(): Promise<D1Result> {
    const result = await this.real.all();
    this.#record([this], false, [result]);
    return result;
  }

  /** The query builder calls this for statements without result rows. */
  async run(): Promise<D1Result> {
    const result = await this.real.run();
    this.#record([this], false, [result]);
    return result;
  }

  /** What the query builder calls. Such an answer does not tell its cost, and none of them writes. */
  async raw(): Promise<unknown[]> {
    this.#record([this], false, []);
    return this.real.raw();
  }
}
