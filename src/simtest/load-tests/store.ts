import { isNotInTransitSql } from '../../database/transit.ts';
import { and, eq } from 'drizzle-orm';
import { isNotFailedSql } from '../../outbox/failed-messages.ts';
import type { Database } from '../../database/client.ts';
import { loadTest, testSession } from '../../database/schema/simtest.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { countLimit, cutPage, type PageResult, type CursorPosition } from '../../http/pagination.ts';
import type { TestConfig } from '../config/config.ts';
import type { Outcome, SessionStatus, StopReason } from '../contract.ts';
import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import type { LoadTestStatistics } from './statistics.ts';

/** A load test's row as SQL reads it. */
type SelectedLoadTest = Omit<StoredRow<typeof loadTest>, 'revision' | 'wake_at'>;

/** A load test's row. Moments in epoch ms. */
export interface LoadTestRow extends Omit<SelectedLoadTest, 'config' | 'statistics'> {
  config: TestConfig;
  /** Null until the last session has ended. */
  statistics: LoadTestStatistics | null;
}

const loadTestColumns = `id, organization_id, name, status, actor_agent_id, adversary_agent_id, test_count, concurrency, ramp_seconds, config, statistics,
  created_at, completed_at`;

const toLoadTestRow = (row: SelectedLoadTest): LoadTestRow => ({
  ...row,
  config: JSON.parse(row.config) as TestConfig,
  statistics: row.statistics === null ? null : (JSON.parse(row.statistics) as LoadTestStatistics),
});

async function findLoadTest(database: Database, organizationId: number, id: number): Promise<LoadTestRow | null> {
  const row = await database.first(
    database.prepare<SelectedLoadTest>(`SELECT ${loadTestColumns} FROM load_test WHERE id = ? AND organization_id = ?`, id, organizationId),
  );
  return row && toLoadTestRow(row);
}

export type NewLoadTest = Pick<
  LoadTestRow,
  'name' | 'actor_agent_id' | 'adversary_agent_id' | 'test_count' | 'concurrency' | 'ramp_seconds' | 'config'
>;

/** Inserts a running load test and its pending sessions in one transaction. Its object is due at once. Session ids come in the order of their indexes. */
export async function insertLoadTest(
  database: Database,
  organizationId: number,
  load: NewLoadTest,
  now: number,
): Promise<{ id: number; sessionIds: number[] }> {
  const statements = [
    database.prepare<{ id: number }>(
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
    database.prepare<{ id: number; test_index: number }>(
      `INSERT INTO test_session (organization_id, name, status, actor_agent_id, adversary_agent_id, load_test_id, test_index, created_at)
       SELECT l.organization_id, l.name || ' #' || (n.value + 1), 'pending', l.actor_agent_id, l.adversary_agent_id, l.id, n.value, l.created_at
       FROM load_test l CROSS JOIN json_each(?) n WHERE l.id = last_insert_rowid() AND l.organization_id = ? RETURNING id, test_index`,
      JSON.stringify(Array.from({ length: load.test_count }, (_, index) => index)),
      organizationId,
    ),
  ] as const;
  const [inserted, sessions] = await database.batchOnce(
    statements,
    ({ rowId }) =>
      database.batch([
        database.from<{ id: number }>(
          database.orm
            .select({ id: loadTest.id })
            .from(loadTest)
            .where(and(eq(loadTest.id, rowId), eq(loadTest.organizationId, organizationId))),
        ),
        database.from<{ id: number; test_index: number }>(
          database.orm
            .select({ id: testSession.id, testIndex: testSession.testIndex })
            .from(testSession)
            .where(and(eq(testSession.loadTestId, rowId), eq(testSession.organizationId, organizationId))),
        ),
      ]),
    1,
  );
  const inOrder = sessions.toSorted((one, other) => one.test_index - other.test_index);
  return { id: inserted[0]!.id, sessionIds: inOrder.map(({ id }) => id) };
}

/** A page of load tests, newest first. */
export async function listLoadTests(
  database: Database,
  organizationId: number,
  search: string | undefined,
  page: { limit: number; offset: number; after?: CursorPosition | undefined },
): Promise<PageResult<LoadTestRow>> {
  const where = `organization_id = ?${search ? ' AND instr(lower(name), lower(?)) > 0' : ''}`;
  const parameters = [organizationId, ...(search ? [search] : [])];
  const [rows, counted] = await database.batch([
    database.prepare<SelectedLoadTest>(
      `SELECT ${loadTestColumns} FROM load_test WHERE ${where} AND id < ? ORDER BY id DESC LIMIT ? OFFSET ?`,
      ...parameters,
      page.after?.id ?? Number.MAX_SAFE_INTEGER,
      page.limit + 1,
      page.offset,
    ),
    database.prepare<{ total: number }>(
      `SELECT count(*) AS total FROM (SELECT 1 FROM load_test WHERE ${where} LIMIT ${countLimit + 1})`,
      ...parameters,
    ),
  ]);
  const { total } = counted[0]!;
  const found = cutPage(rows.map(toLoadTestRow), page.limit, ({ id }) => ({ value: null, id }));
  return { ...found, total: Math.min(total, countLimit), totalCapped: total > countLimit };
}

/** A session in the list of its load test. */
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

/** All sessions of a load test, in the order of their indexes. */
export async function listSessionLines(database: Database, organizationId: number, loadTestId: number): Promise<SessionLine[]> {
  const rows = await database.all(
    database.prepare<Omit<SessionLine, 'outcome' | 'stop_reason' | 'turns' | 'duration_seconds'> & { summary: string | null }>(
      // One `json_extract` parses the results once.
      `SELECT id, test_index, name, status, error, json_extract(results, '$.outcome', '$.stop_reason', '$.turns', '$.duration_seconds') AS summary
       FROM test_session WHERE load_test_id = ? AND organization_id = ? ORDER BY test_index`,
      loadTestId,
      organizationId,
    ),
  );
  return rows.map(({ id, test_index, name, status, error, summary }) => {
    const [outcome = null, stop_reason = null, turns = null, duration_seconds = null] = JSON.parse(summary ?? '[]') as never[];
    return { id, test_index, name, status, error, outcome, stop_reason, turns, duration_seconds };
  });
}

/** Load tests whose object had work due before `before` (epoch ms), the most overdue first. */
export const findOverdueLoadTests = (
  database: Database,
  before: number,
  limit: number,
): Promise<{ id: number; organization_id: number }[]> =>
  database.all(
    database.prepare<{ id: number; organization_id: number }>(
      `SELECT id, organization_id FROM load_test WHERE wake_at IS NOT NULL AND wake_at < ? AND ${isNotFailedSql("'poke:load_test:' || load_test.id")}
        AND ${isNotInTransitSql('organization_id')}
       ORDER BY wake_at LIMIT ?`,
      before,
      limit,
    ),
  );

/** A load test's row. Throws 404. */
export async function existingLoadTest({ database, organization }: Context, id: number): Promise<LoadTestRow> {
  const row = await findLoadTest(database, organization.id, id);
  if (!row) throw notFound('Load test');
  return row;
}
