import { isNotInTransitSql } from '../../database/transit.ts';
import { and, eq, isNull } from 'drizzle-orm';
import { isNotFailedSql } from '../../outbox/failed-messages.ts';
import type { Database, Statement } from '../../database/client.ts';
import { countRows, laneOfEach, newestRows, type IndexedRows } from '../../database/newest-rows.ts';
import { testSession } from '../../database/schema/simtest.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { countLimit, cutPage, type PageResult, type CursorPosition } from '../../http/pagination.ts';
import type { TestConfig } from '../config/config.ts';
import { sessionStatuses, type Candidate, type SessionStatus, type TestResults } from '../contract.ts';
import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';

/** A session's row as SQL reads it. `config` is never null: a session of a load test has the load test's. */
type SelectedSession = Omit<StoredRow<typeof testSession>, 'config' | 'candidate' | 'wake_at'> & { config: string };

/** A session's row, with the config of its load test where it has one. Moments in epoch ms. */
export interface SessionRow extends Omit<SelectedSession, 'config' | 'results'> {
  config: TestConfig;
  results: TestResults | null;
}

const sessionColumns = `id, organization_id, name, status, actor_agent_id, adversary_agent_id, load_test_id, test_index,
  coalesce(config, (SELECT l.config FROM load_test l WHERE l.id = test_session.load_test_id)) AS config, results, error, created_at, started_at,
  completed_at`;

const toSessionRow = (row: SelectedSession): SessionRow => ({
  ...row,
  config: JSON.parse(row.config) as TestConfig,
  results: row.results === null ? null : (JSON.parse(row.results) as TestResults),
});

async function findSession(database: Database, organizationId: number, id: number): Promise<SessionRow | null> {
  const row = await database.first(selectSession(database, organizationId, id));
  return row && toSessionRow(row);
}

const selectSession = (database: Database, organizationId: number, id: number): Statement<SelectedSession> =>
  database.prepare<SelectedSession>(`SELECT ${sessionColumns} FROM test_session WHERE id = ? AND organization_id = ?`, id, organizationId);

export interface NewSession {
  name: string;
  actorAgentId: number;
  adversaryAgentId: number;
  config: TestConfig;
  /** An unsaved change of the actor that the session verifies; null: the saved actor. */
  candidate: Candidate | null;
}

export async function insertSession(database: Database, organizationId: number, session: NewSession, now: number): Promise<SessionRow> {
  const insert = database.prepare<SelectedSession>(
    `INSERT INTO test_session (organization_id, name, status, actor_agent_id, adversary_agent_id, config, candidate, created_at)
       VALUES (?, ?, 'pending', ?, ?, ?, ?, ?) RETURNING ${sessionColumns}`,
    organizationId,
    session.name,
    session.actorAgentId,
    session.adversaryAgentId,
    JSON.stringify(session.config),
    session.candidate && JSON.stringify(session.candidate),
    now,
  );
  const [rows] = await database.batchOnce([insert], ({ rowId }) => database.batch([selectSession(database, organizationId, rowId)]));
  return toSessionRow(rows[0]!);
}

export interface SessionFilter {
  status?: SessionStatus | undefined;
  loadTestId?: number | undefined;
  search?: string | undefined;
}

/** A page of sessions, newest first. */
export async function listSessions(
  database: Database,
  organizationId: number,
  filter: SessionFilter,
  page: { limit: number; offset: number; after?: CursorPosition | undefined },
): Promise<PageResult<SessionRow>> {
  const wanted = toIndexedRows(organizationId, filter);
  const ids = newestRows(wanted, { limit: page.limit + 1, offset: page.offset, after: page.after?.id });
  const count = countRows(wanted, countLimit + 1);
  const [rows, counted] = await database.batch([
    database.prepare<SelectedSession>(
      `SELECT ${sessionColumns} FROM (SELECT id AS place FROM (${ids.sql})) page CROSS JOIN test_session WHERE id = place ORDER BY place DESC`,
      ...ids.parameters,
    ),
    database.prepare<{ total: number }>(count.sql, ...count.parameters),
  ]);
  const { total } = counted[0]!;
  const found = cutPage(rows.map(toSessionRow), page.limit, ({ id }) => ({ value: null, id }));
  return { ...found, total: Math.min(total, countLimit), totalCapped: total > countLimit };
}

/** The sessions of a load test, which has few, or those of each status. */
function toIndexedRows(organizationId: number, { status, loadTestId, search }: SessionFilter): IndexedRows {
  const conditions: [string, string | number][] = [['r.organization_id = ?', organizationId]];
  if (loadTestId !== undefined) conditions.push(['r.load_test_id = ?', loadTestId]);
  if (status !== undefined) conditions.push(['r.status = ?', status]);
  if (search) conditions.push(['instr(lower(r.name), lower(?)) > 0', search]);
  const where = { sql: conditions.map(([sql]) => sql).join(' AND '), parameters: conditions.map(([, value]) => value) };
  if (loadTestId !== undefined) return { table: 'test_session', index: 'test_session_load_test', lanes: null, where };
  const sessions = { table: 'test_session', index: 'test_session_status' };
  if (status !== undefined) return { ...sessions, lanes: null, where };
  const { lanes, condition } = laneOfEach('status', sessionStatuses);
  return { ...sessions, lanes, where: { ...where, sql: `${condition} AND ${where.sql}` } };
}

/** The newest running sessions, and how many run in all. */
export async function listRunningSessions(
  database: Database,
  organizationId: number,
  limit: number,
): Promise<{ rows: SessionRow[]; count: number }> {
  const where = `organization_id = ? AND status = 'running'`;
  const [rows, counted] = await database.batch([
    database.prepare<SelectedSession>(
      `SELECT ${sessionColumns} FROM test_session WHERE ${where} ORDER BY id DESC LIMIT ?`,
      organizationId,
      limit,
    ),
    database.prepare<{ count: number }>(`SELECT count(*) AS count FROM test_session WHERE ${where}`, organizationId),
  ]);
  return { rows: rows.map(toSessionRow), count: counted[0]!.count };
}

/** Sessions whose object had work due before `before` (epoch ms), the most overdue first. */
export const findOverdueSessions = (
  database: Database,
  before: number,
  limit: number,
): Promise<{ id: number; organization_id: number }[]> =>
  database.all(
    database.prepare<{ id: number; organization_id: number }>(
      `SELECT id, organization_id FROM test_session WHERE wake_at IS NOT NULL AND wake_at < ? AND ${isNotFailedSql("'poke:test_session:' || test_session.id")}
        AND ${isNotInTransitSql('organization_id')}
       ORDER BY wake_at LIMIT ?`,
      before,
      limit,
    ),
  );

/** Fails a session whose object cannot be reached. */
export async function failSession(database: Database, organizationId: number, id: number, error: string, now: number): Promise<void> {
  const update = database.orm
    .update(testSession)
    .set({ status: 'failed', error, completedAt: now, wakeAt: null })
    .where(and(eq(testSession.id, id), eq(testSession.organizationId, organizationId), isNull(testSession.completedAt)));
  await database.all(database.from(update), 'idempotent');
}

/** A session's row. Throws 404. */
export async function existingSession({ database, organization }: Context, id: number): Promise<SessionRow> {
  const row = await findSession(database, organization.id, id);
  if (!row) throw notFound('Test session');
  return row;
}
