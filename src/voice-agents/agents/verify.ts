import type { z } from '@hono/zod-openapi';
import type { Context } from '../../accounts/context.ts';
import { conflict, invalidAt } from '../../library/errors.ts';
import type { Candidate } from '../../simtest/contract.ts';
import { tellFailures, type Verification } from '../../simtest/verification.ts';
import { verify } from '../../simtest/verify.ts';
import type { AgentVerification } from '../schemas.ts';
import { updateAgent, type AgentWithDefinition } from './agent-store.ts';
import type { NewAgent } from './create.ts';
import { root } from '../definition/problems.ts';
import { requireSound } from './soundness.ts';
import { existingAgentWithDefinition, requireActive } from './existing-agent.ts';
import { changedAgent, prepareChange } from './prepare-change.ts';
import { requiredTestsOf } from './prepare-required-tests.ts';

/** Runs the required tests of an agent. Throws 404, 422 for an agent that is not sound, and 409 for an archived one or one without such tests. */
export async function verifyAgent(context: Context, id: number): Promise<z.infer<typeof AgentVerification>> {
  const agent = await existingAgentWithDefinition(context, id);
  requireActive(agent);
  await requireSound(context, agent, ['path', 'workflow_id']);
  if (requiredTestsOf(agent).length === 0)
    throw conflict(
      `Voice agent ${id} has no required tests; PUT /workflow/${id} with workflow_configurations.required_tests [{ adversary_workflow_id, config }] adds some`,
    );
  const { passed, tests } = await verified(context, agent);
  return { workflow_id: id, definition_id: agent.current_definition_id, passed, tests };
}

/**
 * Changes an agent, provided that it passes its required tests as it is then. Throws 404, 422, and 409 when it does not, is archived, or is
 * changed by somebody else meanwhile; nothing is written then.
 */
export async function changeVerifiedAgent(context: Context, id: number, input: Partial<NewAgent>): Promise<AgentWithDefinition> {
  const before = await existingAgentWithDefinition(context, id);
  const change = await prepareChange(context, before, input);
  const after = changedAgent(before, change);
  if (requiredTestsOf(after).length === 0)
    throw invalidAt(
      ['body', 'require_verified'],
      'There are no tests to verify it by; add workflow_configurations.required_tests, or leave this out',
    );
  requireActive(before);
  await requireSound(context, after, root);
  const verification = await verified(context, after);
  if (verification.passed !== true) throw conflict(refusal(verification, context.settings.VERIFY_WAIT_SECONDS));
  const written =
    Object.keys(change).length > 0
      ? await updateAgent(context.database, context.organization, before, change, context.clock())
      : await same(context, before);
  if (!written)
    throw conflict(
      'Nothing was changed: it passed its tests, but the voice agent was changed by another request meanwhile; send it again to verify it together with that',
    );
  return written;
}

const verified = (context: Context, agent: AgentWithDefinition): Promise<Verification> =>
  verify(context, { agentId: agent.id, name: agent.name, candidate: candidateOf(agent), tests: requiredTestsOf(agent) });

function candidateOf(agent: AgentWithDefinition): Candidate {
  const { required_tests: _tests, ...configurations } = agent.workflow_configurations;
  return {
    definition: agent.workflow_definition,
    workflow_configurations: configurations,
    template_context_variables: agent.template_context_variables,
    call_disposition_codes: agent.call_disposition_codes,
  };
}

/** Null: it has been changed. */
async function same(context: Context, before: AgentWithDefinition): Promise<AgentWithDefinition | null> {
  const now = await existingAgentWithDefinition(context, before.id);
  return now.updated_at === before.updated_at ? now : null;
}

const refusal = (verification: Verification, waitSeconds: number): string =>
  `Nothing was changed: ${tellFailures(verification, waitSeconds)} GET /simtest/test-sessions/{test_session_id}/conversation shows what was said`;
