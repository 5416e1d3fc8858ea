import { selectHasWebhookEndpoint } from '../../webhook-endpoints/has-endpoint.ts';
import { and, eq, inArray } from 'drizzle-orm';
import type { Database, Statement } from '../../database/client.ts';
import { testSession } from '../../database/schema/simtest.ts';
import type { voiceAgent, voiceAgentDefinition } from '../../database/schema/voice-agents.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { pinnedModelsSql } from '../../language-models/pinned-models.ts';
import type { LiveSession } from '../contract.ts';

/** A session's row, with the config of its load test where it has one. Objects are JSON text. */
export type SessionToStart = Pick<
  StoredRow<typeof testSession>,
  'id' | 'status' | 'actor_agent_id' | 'adversary_agent_id' | 'load_test_id' | 'test_index' | 'candidate' | 'started_at'
> & { config: string; language_models: string };

/** An agent as it is now. Objects are JSON text. */
export type AgentToPin = Pick<
  StoredRow<typeof voiceAgent>,
  'id' | 'name' | 'status' | 'template_context_variables' | 'call_disposition_codes' | 'workflow_configurations'
> &
  Pick<StoredRow<typeof voiceAgentDefinition>, 'definition'>;

interface SessionWithAgents {
  session: SessionToStart | null;
  agents: AgentToPin[];
}

/** Reads a session and its agents, in one D1 call. */
export async function findSessionWithAgents(database: Database, organizationId: number, id: number): Promise<SessionWithAgents> {
  return toSessionWithAgents(await database.batch(selectSessionAndAgents(database, organizationId, id)));
}

/** Reads a session and its agents. A pending session whose agents are active is running from then on, before its object is made. */
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
  const [, ...selected] = await database.batch([claim, ...selectSessionAndAgents(database, organizationId, id)] as const, 'idempotent');
  return toSessionWithAgents(selected);
}

const selectSessionAndAgents = (
  database: Database,
  organizationId: number,
  id: number,
): [Statement<SessionToStart>, Statement<AgentToPin>] => [
  database.prepare<SessionToStart>(
    `SELECT s.id, s.status, s.actor_agent_id, s.adversary_agent_id, s.load_test_id, s.test_index, s.candidate, s.started_at,
       coalesce(s.config, (SELECT l.config FROM load_test l WHERE l.id = s.load_test_id)) AS config,
       ${pinnedModelsSql('s.organization_id')} AS language_models
     FROM test_session s WHERE s.id = ? AND s.organization_id = ?`,
    id,
    organizationId,
  ),
  database.prepare<AgentToPin>(
    `SELECT a.id, a.name, a.status, a.template_context_variables, a.call_disposition_codes, a.workflow_configurations, d.definition
     FROM test_session s CROSS JOIN voice_agent a CROSS JOIN voice_agent_definition d
     WHERE s.id = ? AND s.organization_id = ? AND a.id IN (s.actor_agent_id, s.adversary_agent_id)
       AND a.organization_id = s.organization_id AND d.id = a.current_definition_id`,
    id,
    organizationId,
  ),
];

const toSessionWithAgents = ([[session], agents]: [SessionToStart[], AgentToPin[]]): SessionWithAgents => ({
  session: session ?? null,
  agents,
});

/** Writes the end of a session. A row that has ended is never changed. Answers whether the organization has webhook endpoints. */
export async function writeSessionEnd(database: Database, organizationId: number, id: number, live: LiveSession): Promise<boolean> {
  const { status, results, error, startedAt, completedAt } = live;
  const update = database.orm
    .update(testSession)
    .set({ status, results: results && { ...results }, error, startedAt, completedAt, wakeAt: null, candidate: null })
    .where(
      and(eq(testSession.id, id), eq(testSession.organizationId, organizationId), inArray(testSession.status, ['pending', 'running'])),
    );
  const [, listening] = await database.batch([database.from(update), selectHasWebhookEndpoint(database, organizationId)], 'idempotent');
  return listening.length > 0;
}
