import type { Database } from '../../database/client.ts';
import type { testSession } from '../../database/schema/simtest.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import type { TestConfig } from '../config/config.ts';
import type { Candidate, SessionStatus, TestResults } from '../contract.ts';

export interface NewVerification {
  actorAgentId: number;
  /** The change of the agent that every session verifies. */
  candidate: Candidate;
  tests: { index: number; name: string; adversaryAgentId: number; config: TestConfig }[];
}

/**
 * Inserts running sessions that are due at once, so that the minute tick starts those that the request does not start. A test whose adversary is
 * archived gets none.
 */
export async function insertVerification(
  database: Database,
  organizationId: number,
  { actorAgentId, candidate, tests }: NewVerification,
  now: number,
): Promise<{ id: number; index: number }[]> {
  const insert = database.prepare<{ id: number; index: number }>(
    `INSERT INTO test_session (organization_id, name, status, actor_agent_id, adversary_agent_id, test_index, config, candidate, wake_at,
         created_at, started_at)
       SELECT a.organization_id, t.value ->> 'name', 'running', ?1, a.id, t.value ->> 'index', t.value -> 'config', ?2, ?3, ?3, ?3
       FROM json_each(?4) t CROSS JOIN voice_agent a
       WHERE a.id = t.value ->> 'adversaryAgentId' AND a.organization_id = ?5 AND a.status = 'active' RETURNING id, test_index AS "index"`,
    actorAgentId,
    JSON.stringify(candidate),
    now,
    JSON.stringify(tests),
    organizationId,
  );
  const [rows] = await database.batchOnce([insert], ({ changes, rowId }) =>
    database.batch([
      database.prepare<{ id: number; index: number }>(
        // The rows of one statement have consecutive ids.
        'SELECT id, test_index AS "index" FROM test_session WHERE id > ?1 - ?2 AND id <= ?1 AND organization_id = ?3 ORDER BY id',
        rowId,
        changes,
        organizationId,
      ),
    ]),
  );
  return rows;
}

export interface VerifiedRow {
  id: number;
  status: SessionStatus;
  results: TestResults | null;
  error: string | null;
}

/** The rows of sessions, by id. */
export async function findVerifiedRows(database: Database, organizationId: number, ids: number[]): Promise<VerifiedRow[]> {
  const rows = await database.all(
    database.prepare<Pick<StoredRow<typeof testSession>, 'id' | 'status' | 'results' | 'error'>>(
      `SELECT s.id, s.status, s.results, s.error FROM json_each(?) j CROSS JOIN test_session s
       WHERE s.id = j.value AND s.organization_id = ?`,
      JSON.stringify(ids),
      organizationId,
    ),
  );
  return rows.map(({ id, status, results, error }) => ({
    id,
    status,
    results: results === null ? null : (JSON.parse(results) as TestResults),
    error,
  }));
}
