import { randomUUID } from 'node:crypto';
import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { requireValidPairing } from '../config/pairing.ts';
import type { NewSessionInput, TestSessionRecord } from '../schemas.ts';
import { conflict } from '../../library/errors.ts';
import { loadAgentsWithDefinition } from '../../voice-agents/agents/find-agents.ts';
import { requireSound } from '../../voice-agents/agents/soundness.ts';
import { existingSession, insertSession, type SessionRow } from './store.ts';
import { callTestSessionObject } from './rpc.ts';
import { sessionRecord } from './records.ts';

/** Creates a pending session. Throws 404 for an unknown agent, 422 for an agent that is not sound and for a config with unknown names. */
export async function createSession(context: Context, input: NewSessionInput): Promise<SessionRow> {
  const { actor, adversary } = await requireValidPairing(context, input);
  const session = { name: input.name, actorAgentId: actor.id, adversaryAgentId: adversary.id, config: input.config, candidate: null };
  return insertSession(context.database, context.organization.id, session, context.clock());
}

/** Starts a pending session. Throws 404; 422 for an agent that is not sound; 409 in any other state, for an archived agent, and for a session of a load test. */
export async function startSession(context: Context, id: number): Promise<void> {
  const { bindings, organization } = context;
  const { status, load_test_id: loadTestId, actor_agent_id, adversary_agent_id } = await existingSession(context, id);
  if (status !== 'pending') throw conflict(`The session is ${status}; only a pending one can be started. Create it again to repeat it`);
  if (loadTestId !== null) throw conflict(`The session is one of load test ${loadTestId}, which starts it when its turn comes`);
  const agents = await loadAgentsWithDefinition(context, [actor_agent_id, adversary_agent_id]);
  for (const agent of agents.values()) if (agent.status === 'active') await requireSound(context, agent, ['path', 'test_session_id']);
  const act = randomUUID();
  await callTestSessionObject(bindings, organization.id, id, (object) => object.start(organization.id, id, act));
}

/** Stops a running session, also while its checks are evaluated. Throws 404, and 409 in any other state. */
export async function stopSession(context: Context, id: number): Promise<z.infer<typeof TestSessionRecord>> {
  const { bindings, organization } = context;
  const row = await existingSession(context, id);
  if (row.status !== 'running') throw conflict(`The session is ${row.status}; only a running one can be stopped`);
  const act = randomUUID();
  const live = await callTestSessionObject(bindings, organization.id, id, async (object) => {
    // A start that broke off has left no object.
    if (!(await object.snapshot())) await object.wakeStalled(organization.id, id);
    return object.stop(act);
  });
  return sessionRecord(row, live);
}
