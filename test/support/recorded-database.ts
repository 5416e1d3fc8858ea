import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { runInvocation } from '../../src/database/query-budget.ts';
import { createApp } from '../../src/app.ts';
import { Client } from './organization.ts';

interface RecordedStatement {
  sql: string;
  parameters: unknown[];
  rowsRead: number;
  rowsWritten: number;
}

/** Every statement that went to D1, in order, and how many calls they took. */
export interface Recording {
  statements: RecordedStatement[];
  calls: number;
}

export const rowsRead = (recording: Recording): number => recording.statements.reduce((sum, one) => sum + one.rowsRead, 0);
export const rowsWritten = (recording: Recording): number => recording.statements.reduce((sum, one) => sum + one.rowsWritten, 0);

/** Lets a test do something between two calls. */
type BeforeCall = (sql: string[]) => Promise<void>;

/** D1 as the service sees it, with a record of each statement. `beforeCall` runs before each call and receives its SQL. */
export function recordedDatabase(database: D1Database, recording: Recording, beforeCall: BeforeCall = async () => {}): D1Database {
  const originals = new WeakMap<object, { statement: D1PreparedStatement; sql: string; parameters: unknown[] }>();
  const note = (known: { sql: string; parameters: unknown[] }, { meta }: D1Result) =>
    recording.statements.push({ ...known, rowsRead: meta.rows_read, rowsWritten: meta.rows_written });
  const wrapped = (statement: D1PreparedStatement, sql: string, parameters: unknown[]): D1PreparedStatement => {
    const recorded = async (call: () => Promise<D1Result>) => {
      recording.calls++;
      await beforeCall([sql]);
      const result = await call();
      note({ sql, parameters }, result);
      return result;
    };
    const wrapper = {
      bind: (...values: unknown[]) => wrapped(statement.bind(...values), sql, values),
      all: () => recorded(() => statement.all()),
      run: () => recorded(() => statement.run()),
      async raw(options?: { columnNames?: false }) {
        recording.calls++;
        await beforeCall([sql]);
        const rows = await statement.raw(options);
        note({ sql, parameters }, { meta: { rows_read: rows.length, rows_written: 0 } } as unknown as D1Result);
        return rows;
      },
    } as unknown as D1PreparedStatement;
    originals.set(wrapper, { statement, sql, parameters });
    return wrapper;
  };
  return {
    prepare: (sql: string) => wrapped(database.prepare(sql), sql, []),
    async batch(statements: D1PreparedStatement[]) {
      const known = statements.map((statement) => originals.get(statement)!);
      recording.calls++;
      await beforeCall(known.map(({ sql }) => sql));
      const results = await database.batch(known.map(({ statement }) => statement));
      for (const [index, result] of results.entries()) note({ sql: known[index]!.sql, parameters: known[index]!.parameters }, result);
      return results;
    },
  } as unknown as D1Database;
}

const app = createApp();

/** A client whose requests run here, with what they ask of D1 recorded. `bindings` replace those of the environment. */
export function recordedClient(
  key: string,
  options: { beforeCall?: BeforeCall; bindings?: Partial<Env>; recording?: Recording } = {},
): { client: Client; recording: Recording } {
  const { recording = { statements: [], calls: 0 } } = options;
  const bindings = { ...env, ...options.bindings, DB: recordedDatabase(env.DB, recording, options.beforeCall) };
  const client = new Client(key, async (request) => runInvocation(() => app.fetch(request, bindings, createExecutionContext())));
  return { client, recording };
}

/** Notes every statement that anything in this isolate prepares, until mocks are restored: requests, consumers, the tick and objects. */
export function recordEverything(): Recording {
  const recording: Recording = { statements: [], calls: 0 };
  const prepare = env.DB.prepare.bind(env.DB);
  vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
    const statement = prepare(sql);
    const bind = statement.bind.bind(statement);
    statement.bind = (...parameters) => {
      recording.statements.push({ sql, parameters, rowsRead: 0, rowsWritten: 0 });
      return bind(...parameters);
    };
    return statement;
  });
  return recording;
}

/** What SQLite would do for each distinct statement of a recording. */
export async function explainQueryPlans(recording: Recording): Promise<{ sql: string; plan: string[] }[]> {
  const distinct = new Map(recording.statements.map((statement) => [statement.sql, statement.parameters]));
  const plans = [];
  for (const [sql, parameters] of distinct) {
    const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .bind(...parameters)
      .all<{ detail: string }>();
    plans.push({ sql, plan: results.map(({ detail }) => detail) });
  }
  return plans;
}
