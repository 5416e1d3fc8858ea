import type { Context } from '../../context.ts';
import { parsePinnedModels } from '../../language-models/pinned-models.ts';
import { explainUnsound } from '../../voice-agents/agents/soundness.ts';
import { readDispositionCodes } from '../../voice-agents/conversation/conclude.ts';
import { TestConfig } from '../config/config.ts';
import type { Candidate, PinnedAgent, SessionFacts, SessionStatus } from '../contract.ts';
import { claimPendingSession, findSessionWithAgents, type AgentToPin, type SessionToStart } from './object-store.ts';

type JsonObject = Record<string, unknown>;

export interface LoadedSession {
  facts: SessionFacts;
  /** The status of the row. */
  status: SessionStatus;
  /** Epoch ms; null: pending. */
  startedAt: number | null;
  /** Why the session cannot start; null: it can. */
  blockedReason: string | null;
  /** Which agent is not sound, so that the session fails when it starts; null: both are sound. */
  unsoundReason: string | null;
}

/** Reads a session and its agents. Null: there is no such session. */
export const loadSession = async (context: Context, id: number): Promise<LoadedSession | null> =>
  toLoadedSession(context, await findSessionWithAgents(context.database, context.organization.id, id));

/** Reads a session and its agents. A pending session that can start is running from then on. */
export const claimSession = async (context: Context, id: number, now: number): Promise<LoadedSession | null> =>
  toLoadedSession(context, await claimPendingSession(context.database, context.organization.id, id, now));

async function toLoadedSession(
  context: Context,
  { session, agents }: Awaited<ReturnType<typeof findSessionWithAgents>>,
): Promise<LoadedSession | null> {
  if (!session) return null;
  const { organization } = context;
  const config = TestConfig.parse(JSON.parse(session.config));
  const facts: SessionFacts = {
    sessionId: session.id,
    organizationId: organization.id,
    organization: { timezone: organization.timezone, default_country: organization.defaultCountry },
    languageModels: parsePinnedModels(session.language_models),
    loadTestId: session.load_test_id,
    testIndex: session.test_index,
    config,
    actor: pinAgent(requireAgent(agents, session.actor_agent_id), parseCandidate(session), config.actor_context),
    adversary: pinAgent(requireAgent(agents, session.adversary_agent_id), null, config.adversary_context),
  };
  return {
    facts,
    status: session.status,
    startedAt: session.started_at,
    blockedReason: findBlockedReason(agents),
    unsoundReason: await findUnsoundReason(context, facts),
  };
}

function requireAgent(agents: AgentToPin[], id: number): AgentToPin {
  const agent = agents.find((one) => one.id === id);
  if (!agent) throw new Error(`voice agent ${id} of a test session is unknown`);
  return agent;
}

const parseCandidate = ({ candidate }: SessionToStart): Candidate | null =>
  candidate === null ? null : (JSON.parse(candidate) as Candidate);

function pinAgent(agent: AgentToPin, candidate: Candidate | null, testVariables: JsonObject): PinnedAgent {
  const { definition, workflow_configurations, template_context_variables, call_disposition_codes } = candidate ?? {
    definition: JSON.parse(agent.definition) as JsonObject,
    workflow_configurations: JSON.parse(agent.workflow_configurations) as unknown,
    template_context_variables: JSON.parse(agent.template_context_variables) as JsonObject,
    call_disposition_codes: JSON.parse(agent.call_disposition_codes) as JsonObject,
  };
  return {
    agentId: agent.id,
    name: agent.name,
    definition,
    configurations: workflow_configurations,
    dispositionCodes: readDispositionCodes(call_disposition_codes),
    initialContext: { ...template_context_variables, ...testVariables },
  };
}

function findBlockedReason(agents: AgentToPin[]): string | null {
  const archived = agents.find(({ status }) => status !== 'active');
  return archived ? agentArchivedMessage(archived) : null;
}

/** The reason becomes the session's error: a load test has started by then, so that no request can be refused. */
async function findUnsoundReason(context: Context, { actor, adversary }: SessionFacts): Promise<string | null> {
  for (const { definition, agentId } of [actor, adversary]) {
    const reason = await explainUnsound(context, definition, agentId);
    if (reason !== null) return `agent_unsound: ${reason}`;
  }
  return null;
}

export const agentArchivedMessage = ({ id, name }: Pick<AgentToPin, 'id' | 'name'>): string =>
  `agent_archived: Voice agent ${id} ("${name}") is archived and talks to nobody; PUT /workflow/${id}/status with "active" restores it`;
