import type { Context } from '../../context.ts';
import { invalid } from '../../library/errors.ts';
import { type AgentWithDefinition, existingAgentWithDefinition } from '../../voice-agents/agents/find-agents.ts';
import { parseAgentDefinition } from '../../voice-agents/definition/definition.ts';
import { requireSound } from '../../voice-agents/agents/soundness.ts';
import { findConfigIssues } from './config-issues.ts';
import type { TestConfig } from './config.ts';
import type { Speaker } from '../contract.ts';

export interface TestPair {
  actor_workflow_id: number;
  adversary_workflow_id: number;
  config: TestConfig;
}

/** Reads the two agents of a test and validates its config against them. Throws 404 for an unknown agent, 422 for an agent that is not sound and for a config with unknown names. */
export async function requireValidPairing(context: Context, input: TestPair): Promise<Record<Speaker, AgentWithDefinition>> {
  const [actor, adversary] = await Promise.all(
    [input.actor_workflow_id, input.adversary_workflow_id].map((id) => existingAgentWithDefinition(context, id)),
  );
  const agents = { actor: actor!, adversary: adversary! };
  await requireSound(context, agents.actor, ['body', 'actor_workflow_id']);
  await requireSound(context, agents.adversary, ['body', 'adversary_workflow_id']);
  const definitions = {
    actor: parseAgentDefinition(agents.actor.workflow_definition),
    adversary: parseAgentDefinition(agents.adversary.workflow_definition),
  };
  const issues = findConfigIssues(input.config, definitions, ['body', 'config']);
  if (issues.length > 0) throw invalid(issues);
  return agents;
}
