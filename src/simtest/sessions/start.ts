import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import { loadAgentsWithDefinition } from '../../voice-agents/agents/existing-agent.ts';
import { requireSound } from '../../voice-agents/agents/soundness.ts';
import { existingSession } from './existing-session.ts';
import { callTestSessionObject } from './test-session-stub.ts';

/** From pending to running. Throws 422 for an agent that is not sound, 409 in any other state, for an archived agent, and for a session that its load test starts. */
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
