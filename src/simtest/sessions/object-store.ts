import type { Database, Row } from '../../database/client.ts';
import type { LiveSession } from '../contract.ts';

/** A session's row with the configuration of its load test, in `config` where it has none of its own. Objects are JSON text. */
export interface SessionToStart {
  id: number;
  status: LiveSession['status'];
  actor_agent_id: number;
  adversary_agent_id: number;
  load_test_id: number | null;
  test_index: number | null;
  config: string;
  candidate: string | null;
  started_at: number | null;
}

/** An agent as it is now. Objects are JSON text. */
export interface AgentToPin {
  id: number;
  name: string;
  status: 'active' | 'archived';
  template_context_variables: string;
  call_disposition_codes: string;
  workflow_configurations: string;
  definition: string;
}

interface SessionWithAgents {
  session: SessionToStart | null;
  agents: AgentToPin[];
}

/** One D1 call. */
export async function findSessionWithAgents(database: Database, organizationId: number, id: number): Promise<SessionWithAgents> {
  return toSessionWithAgents(await database.batch(selectSessionAndAgents(database, organizationId, id)));
}

/** The same; a pending session whose agents take calls is running from then on, before its object is made. */
export async function claimPendingSession(database: Database, organizationId: number, id: number, now: number): Promise<SessionWithAgents> {
  const claim = database.prepare(
    `UPDATE test_session SET status = 'running', started_at = ?, wake_at = ?
     WHERE id = ? AND organization_id = ? AND status = 'pending'
       AND NOT EXISTS (SELECT 1 FROM voice_agent a WHERE a.id IN (actor_agent_id, adversary_agent_id) AND a.status <> 'active')`,
    now,
    now,
    id,
    organizationId,
  );
  const [, ...found] = await database.batch([claim, ...selectSessionAndAgents(database, organizationId, id)], 'idempotent');
  return toSessionWithAgents(found);
}

const selectSessionAndAgents = (database: Database, organizationId: number, id: number) => [
  database.prepare(
    `SELECT s.id, s.status, s.actor_agent_id, s.adversary_agent_id, s.load_test_id, s.test_index, s.candidate, s.started_at,
       coalesce(s.config, (SELECT l.config FROM load_test l WHERE l.id = s.load_test_id)) AS config
     FROM test_session s WHERE s.id = ? AND s.organization_id = ?`,
    id,
    organizationId,
  ),
  database.prepare(
    `SELECT a.id, a.name, a.status, a.template_context_variables, a.call_disposition_codes, a.workflow_configurations, d.definition
     FROM test_session s CROSS JOIN voice_agent a CROSS JOIN voice_agent_definition d
     WHERE s.id = ? AND s.organization_id = ? AND a.id IN (s.actor_agent_id, s.adversary_agent_id)
       AND a.organization_id = s.organization_id AND d.id = a.current_definition_id`,
    id,
    organizationId,
  ),
];

const toSessionWithAgents = ([sessions, agents]: Row[][]): SessionWithAgents => ({
  session: (sessions![0] as unknown as SessionToStart | undefined) ?? null,
  agents: agents as unknown as AgentToPin[],
});

/** Writes how a session ended, once: an ended row is never changed. */
export async function writeSessionEnd(database: Database, organizationId: number, id: number, live: LiveSession): Promise<void> {
  await database.batch(
    [
      database.prepare(
        `UPDATE test_session SET status = ?, results = ?, error = ?, started_at = ?, completed_at = ?, wake_at = NULL, candidate = NULL
       WHERE id = ? AND organization_id = ? AND status IN ('pending', 'running')`,
        live.status,
        JSON.stringify(live.results),
        live.error,
        live.startedAt,
        live.completedAt,
        id,
        organizationId,
      ),
    ],
    'idempotent',
  );
}
