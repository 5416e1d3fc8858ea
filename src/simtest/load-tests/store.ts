import { isNotFailedSql } from '../../outbox/failed-messages.ts';
import type { Database, Row } from '../../database/client.ts';
import { countLimit, cutPage, type PageResult, type CursorPosition } from '../../http/pagination.ts';
import type { TestConfig } from '../config/config.ts';
import type { Outcome, SessionStatus, StopReason } from '../contract.ts';
import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import type { LoadTestStatistics, LoadTestStatus } from './statistics.ts';

/** Moments in epoch ms. */
export interface LoadTestRow {
  id: number;
  organization_id: number;
  name: string;
  status: LoadTestStatus;
  actor_agent_id: number;
  adversary_agent_id: number;
  test_count: number;
  concurrency: number;
  ramp_seconds: number;
  config: TestConfig;
  /** Once its last session has ended. */
  statistics: LoadTestStatistics | null;
  created_at: number;
  completed_at: number | null;
}

const loadTestColumns = `id, organization_id, name, status, actor_agent_id, adversary_agent_id, test_count, concurrency, ramp_seconds, config, statistics,
  created_at, completed_at`;

const toLoadTestRow = (row: Row): LoadTestRow => ({
  ...(row as unknown as LoadTestRow),
  config: JSON.parse(row['config'] as string) as TestConfig,
  statistics: row['statistics'] === null ? null : (JSON.parse(row['statistics'] as string) as LoadTestStatistics),
});

export async function findLoadTest(database: Database, organizationId: number, id: number): Promise<LoadTestRow | null> {
  const row = await database.first(
    database.prepare(`SELECT ${loadTestColumns} FROM load_test WHERE id = ? AND organization_id = ?`, id, organizationId),
  );
  return row && toLoadTestRow(row);
}

export type NewLoadTest = Pick<
  LoadTestRow,
  'name' | 'actor_agent_id' | 'adversary_agent_id' | 'test_count' | 'concurrency' | 'ramp_seconds' | 'config'
>;

/** A load test that is running, with its pending sessions in the order of their indexes, all in one transaction. It is due at once. */
export async function insertLoadTest(
  database: Database,
  organizationId: number,
  load: NewLoadTest,
  now: number,
): Promise<{ id: number; sessionIds: number[] }> {
  const statements = [
    database.prepare(
      `INSERT INTO load_test (organization_id, name, status, actor_agent_id, adversary_agent_id, test_count, concurrency, ramp_seconds, config,
         wake_at, created_at)
       VALUES (?1, ?2, 'running', ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9) RETURNING id`,
      organizationId,
      load.name,
      load.actor_agent_id,
      load.adversary_agent_id,
      load.test_count,
      load.concurrency,
      load.ramp_seconds,
      JSON.stringify(load.config),
      now,
    ),
    database.prepare(
      `INSERT INTO test_session (organization_id, name, status, actor_agent_id, adversary_agent_id, load_test_id, test_index, created_at)
       SELECT l.organization_id, l.name || ' #' || (n.value + 1), 'pending', l.actor_agent_id, l.adversary_agent_id, l.id, n.value, l.created_at
       FROM load_test l CROSS JOIN json_each(?) n WHERE l.id = last_insert_rowid() AND l.organization_id = ? RETURNING id, test_index`,
      JSON.stringify(Array.from({ length: load.test_count }, (_, index) => index)),
      organizationId,
    ),
  ];
  const [inserted, sessions] = await database.batchOnce(
    statements,
    ({ rowId }) =>
      database.batch([
        database.prepare('SELECT id FROM load_test WHERE id = ? AND organization_id = ?', rowId, organizationId),
        database.prepare('SELECT id, test_index FROM test_session WHERE load_test_id = ? AND organization_id = ?', rowId, organizationId),
      ]),
    1,
  );
  const inOrder = (sessions as { id: number; test_index: number }[]).toSorted((one, other) => one.test_index - other.test_index);
  return { id: (inserted![0] as { id: number }).id, sessionIds: inOrder.map(({ id }) => id) };
}

/** Newest first. */
export async function listLoadTests(
  database: Database,
  organizationId: number,
  search: string | undefined,
  page: { limit: number; offset: number; after?: CursorPosition | undefined },
): Promise<PageResult<LoadTestRow>> {
  const where = `organization_id = ?${search ? ' AND instr(lower(name), lower(?)) > 0' : ''}`;
  const parameters = [organizationId, ...(search ? [search] : [])];
  const [rows, counted] = await database.batch([
    database.prepare(
      `SELECT ${loadTestColumns} FROM load_test WHERE ${where} AND id < ? ORDER BY id DESC LIMIT ? OFFSET ?`,
      ...parameters,
      page.after?.id ?? Number.MAX_SAFE_INTEGER,
      page.limit + 1,
      page.offset,
    ),
    database.prepare(`SELECT count(*) AS total FROM (SELECT 1 FROM load_test WHERE ${where} LIMIT ${countLimit + 1})`, ...parameters),
  ]);
  const { total } = counted![0] as { total: number };
  const found = cutPage(rows!.map(toLoadTestRow), page.limit, ({ id }) => ({ value: null, id }));
  return { ...found, total: Math.min(total, countLimit), totalCapped: total > countLimit };
}

/** A session among the others of its load test. */
export interface SessionLine {
  id: number;
  test_index: number;
  name: string;
  status: SessionStatus;
  error: string | null;
  outcome: Outcome | null;
  stop_reason: StopReason | null;
  turns: number | null;
  duration_seconds: number | null;
}

/** In the order of their indexes. */
export async function listSessionLines(database: Database, organizationId: number, loadTestId: number): Promise<SessionLine[]> {
  const rows = await database.all<Omit<SessionLine, 'outcome' | 'stop_reason' | 'turns' | 'duration_seconds'> & { told: string | null }>(
    database.prepare(
      // One extraction reads the results once.
      `SELECT id, test_index, name, status, error, json_extract(results, '$.outcome', '$.stop_reason', '$.turns', '$.duration_seconds') AS told
       FROM test_session WHERE load_test_id = ? AND organization_id = ? ORDER BY test_index`,
      loadTestId,
      organizationId,
    ),
  );
  return rows.map(({ id, test_index, name, status, error, told }) => {
    const [outcome = null, stop_reason = null, turns = null, duration_seconds = null] = JSON.parse(told ?? '[]') as never[];
    return { id, test_index, name, status, error, outcome, stop_reason, turns, duration_seconds };
  });
}

/** Load tests whose object should have done something before `before` (epoch ms), the most overdue first. */
export const findOverdueLoadTests = (
  database: Database,
  before: number,
  limit: number,
): Promise<{ id: number; organization_id: number }[]> =>
  database.all(
    database.prepare(
      `SELECT id, organization_id FROM load_test WHERE wake_at IS NOT NULL AND wake_at < ? AND ${isNotFailedSql("'poke:load_test:' || load_test.id")}
       ORDER BY wake_at LIMIT ?`,
      before,
      limit,
    ),
  );

/** Throws 404. */
export async function existingLoadTest({ database, organization }: Context, id: number): Promise<LoadTestRow> {
  const row = await findLoadTest(database, organization.id, id);
  if (!row) throw notFound('Load test');
  return row;
}
