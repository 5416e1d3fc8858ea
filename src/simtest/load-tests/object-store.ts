import type { Database } from '../../database/client.ts';
import type { SessionReport } from '../contract.ts';
import type { LoadTestStatistics, LoadTestStatus } from './statistics.ts';

/** What a load test's object is made of. */
export interface LoadTestFacts {
  id: number;
  organization_id: number;
  status: LoadTestStatus;
  concurrency: number;
  ramp_seconds: number;
  /** The longest that a session talks. */
  max_duration_seconds: number;
  /** In the order of their indexes. */
  sessions: { id: number; test_index: number }[];
}

/** At most a thousand sessions, so they are read at once. Null: there is no such load test. */
export async function readLoadTestFacts(database: Database, organizationId: number, id: number): Promise<LoadTestFacts | null> {
  const [rows, sessions] = await database.batch([
    database.prepare(
      `SELECT id, organization_id, status, concurrency, ramp_seconds, config ->> '$.max_duration_seconds' AS max_duration_seconds
       FROM load_test WHERE id = ? AND organization_id = ?`,
      id,
      organizationId,
    ),
    database.prepare(
      'SELECT id, test_index FROM test_session WHERE load_test_id = ? AND organization_id = ? ORDER BY test_index',
      id,
      organizationId,
    ),
  ]);
  const [row] = rows as unknown as Omit<LoadTestFacts, 'sessions'>[];
  return row ? { ...row, sessions: sessions as unknown as LoadTestFacts['sessions'] } : null;
}

/** What the object writes into its row. Moments in epoch ms. */
export interface LoadTestProjection {
  status: LoadTestStatus;
  /** Null while sessions are left. */
  statistics: LoadTestStatistics | null;
  completedAt: number | null;
  wakeAt: number | null;
  revision: number;
}

/** Brings the row up to date, unless it shows a later revision. */
export async function projectLoadTest(database: Database, organizationId: number, id: number, live: LoadTestProjection): Promise<void> {
  await database.batch(
    [
      database.prepare(
        `UPDATE load_test SET status = ?, statistics = ?, completed_at = ?, wake_at = ?, revision = ?
       WHERE id = ? AND organization_id = ? AND revision < ?`,
        live.status,
        live.statistics && JSON.stringify(live.statistics),
        live.completedAt,
        live.wakeAt,
        live.revision,
        id,
        organizationId,
        live.revision,
      ),
    ],
    'idempotent',
  );
}

/** Ends the sessions that have not started, and answers the indexes of all that ended so. */
export async function stopPendingSessions(database: Database, organizationId: number, loadTestId: number, now: number): Promise<number[]> {
  const [, stopped] = await database.batch(
    [
      database.prepare(
        `UPDATE test_session SET status = 'stopped', completed_at = ? WHERE load_test_id = ? AND organization_id = ? AND status = 'pending'`,
        now,
        loadTestId,
        organizationId,
      ),
      database.prepare(
        `SELECT test_index FROM test_session WHERE load_test_id = ? AND organization_id = ? AND status = 'stopped' AND started_at IS NULL`,
        loadTestId,
        organizationId,
      ),
    ],
    'idempotent',
  );
  return (stopped as { test_index: number }[]).map(({ test_index }) => test_index);
}

/**
 * What the rows of sessions tell of their ends; those that go on are left out. One that is pending although it was to begin long ago has failed
 * from now on. Latencies stay unknown.
 */
export async function endSilentSessions(
  database: Database,
  organizationId: number,
  loadTestId: number,
  testIndexes: number[],
  now: number,
): Promise<SessionReport[]> {
  const [, rows] = await database.batch(
    [
      database.prepare(
        `UPDATE test_session SET status = 'failed', error = 'The session could not be started', completed_at = ?
       WHERE load_test_id = ? AND organization_id = ? AND status = 'pending' AND test_index IN (SELECT value FROM json_each(?))`,
        now,
        loadTestId,
        organizationId,
        JSON.stringify(testIndexes),
      ),
      database.prepare(
        `SELECT s.id, s.test_index, s.status, s.results ->> '$.outcome' AS outcome, s.error, s.started_at, s.completed_at
       FROM json_each(?) n CROSS JOIN test_session s WHERE s.load_test_id = ? AND s.test_index = n.value AND s.organization_id = ?
         AND s.status IN ('completed', 'failed', 'stopped')`,
        JSON.stringify(testIndexes),
        loadTestId,
        organizationId,
      ),
    ],
    'idempotent',
  );
  return (rows as unknown as EndedRow[]).map((row) => ({
    sessionId: row.id,
    testIndex: row.test_index,
    status: row.status,
    outcome: row.outcome,
    error: row.error,
    durationMs: row.completed_at - (row.started_at ?? row.completed_at),
    latenciesMs: [],
  }));
}

interface EndedRow {
  id: number;
  test_index: number;
  status: SessionReport['status'];
  outcome: SessionReport['outcome'];
  error: string | null;
  started_at: number | null;
  completed_at: number;
}
