import { and, eq, lt } from 'drizzle-orm';
import type { Database } from '../../database/client.ts';
import { loadTest, testSession } from '../../database/schema/simtest.ts';
import type { SessionReport } from '../contract.ts';
import type { LoadTestStatistics, LoadTestStatus } from './statistics.ts';

/** The facts from which a load test's object is made. */
export interface LoadTestFacts {
  id: number;
  organization_id: number;
  status: LoadTestStatus;
  concurrency: number;
  ramp_seconds: number;
  /** The maximum length of a session's conversation. */
  max_duration_seconds: number;
  /** In the order of their indexes. */
  sessions: { id: number; test_index: number }[];
}

/** Reads a load test with its sessions, at most a thousand. Null: there is no such load test. */
export async function readLoadTestFacts(database: Database, organizationId: number, id: number): Promise<LoadTestFacts | null> {
  const [[row], sessions] = await database.batch([
    database.prepare<Omit<LoadTestFacts, 'sessions'>>(
      `SELECT id, organization_id, status, concurrency, ramp_seconds, config ->> '$.max_duration_seconds' AS max_duration_seconds
       FROM load_test WHERE id = ? AND organization_id = ?`,
      id,
      organizationId,
    ),
    database.from<LoadTestFacts['sessions'][number]>(
      database.orm
        .select({ id: testSession.id, testIndex: testSession.testIndex })
        .from(testSession)
        .where(and(eq(testSession.loadTestId, id), eq(testSession.organizationId, organizationId)))
        .orderBy(testSession.testIndex),
    ),
  ]);
  return row ? { ...row, sessions } : null;
}

/** The values that an object writes into its load test's row. Moments in epoch ms. */
export interface LoadTestProjection {
  status: LoadTestStatus;
  /** Null while sessions are left. */
  statistics: LoadTestStatistics | null;
  completedAt: number | null;
  wakeAt: number | null;
  revision: number;
}

/** Projects a load test's state into its row, unless the row has a later revision. */
export async function projectLoadTest(database: Database, organizationId: number, id: number, live: LoadTestProjection): Promise<void> {
  const { status, statistics, completedAt, wakeAt, revision } = live;
  const update = database.orm
    .update(loadTest)
    .set({ status, statistics: statistics && { ...statistics }, completedAt, wakeAt, revision })
    .where(and(eq(loadTest.id, id), eq(loadTest.organizationId, organizationId), lt(loadTest.revision, revision)));
  await database.batch([database.from(update)], 'idempotent');
}

/** Stops the pending sessions. Returns the indexes of all sessions that were stopped before they started. */
export async function stopPendingSessions(database: Database, organizationId: number, loadTestId: number, now: number): Promise<number[]> {
  const [, stopped] = await database.batch(
    [
      database.prepare(
        `UPDATE test_session SET status = 'stopped', completed_at = ? WHERE load_test_id = ? AND organization_id = ? AND status = 'pending'`,
        now,
        loadTestId,
        organizationId,
      ),
      database.prepare<{ test_index: number }>(
        `SELECT test_index FROM test_session WHERE load_test_id = ? AND organization_id = ? AND status = 'stopped' AND started_at IS NULL`,
        loadTestId,
        organizationId,
      ),
    ],
    'idempotent',
  );
  return stopped.map(({ test_index }) => test_index);
}

/**
 * Reads the reports of ended sessions from their rows; running sessions are left out. A session that is still pending fails. Latencies stay
 * unknown.
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
      database.prepare<EndedRow>(
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
  return rows.map((row) => ({
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
