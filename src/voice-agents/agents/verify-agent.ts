import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { conflict, invalidAt } from '../../library/errors.ts';
import type { Candidate } from '../../simtest/contract.ts';
import { describeFailures, type Verification } from '../../simtest/verification/verification.ts';
import { runVerification } from '../../simtest/verification/run-verification.ts';
import type { AgentVerification } from '../schemas.ts';
import { updateAgent, type AgentWithDefinition } from './store.ts';
import type { NewAgent } from './create-agent.ts';
import { definitionPath } from '../definition/issues.ts';
import { requireSound } from './soundness.ts';
import { existingAgentWithDefinition, requireActive } from './existing-agent.ts';
import { applyAgentChange, prepareChange } from './prepare-change.ts';
import { parseRequiredTests } from './prepare-required-tests.ts';

/** Runs the required tests of an agent. Throws 404, 422 for an agent that is not sound, and 409 for an archived one or one without such tests. */
export async function verifyAgent(context: Context, id: number): Promise<z.infer<typeof AgentVerification>> {
  const agent = await existingAgentWithDefinition(context, id);
  requireActive(agent);
  await requireSound(context, agent, ['path', 'workflow_id']);
  if (parseRequiredTests(agent).length === 0)
    throw conflict(
      `Voice agent ${id} has no required tests; PUT /workflow/${id} with workflow_configurations.required_tests [{ adversary_workflow_id, config }] adds some`,
    );
  const { passed, tests } = await runRequiredTests(context, agent);
  return { workflow_id: id, definition_id: agent.current_definition_id, passed, tests };
}

/**
 * Changes an agent, provided that it passes its required tests as it is then. Throws 404, 422, and 409 when it does not, is archived, or is
 * changed by somebody else meanwhile; nothing is written then.
 */
export async function changeVerifiedAgent(context: Context, id: number, input: Partial<NewAgent>): Promise<AgentWithDefinition> {
  const before = await existingAgentWithDefinition(context, id);
  const change = await prepareChange(context, before, input);
  const after = applyAgentChange(before, change);
  if (parseRequiredTests(after).length === 0)
    throw invalidAt(
      ['body', 'require_verified'],
      'There are no tests to verify it by; add workflow_configurations.required_tests, or leave this out',
    );
  requireActive(before);
  await requireSound(context, after, definitionPath);
  const verification = await runRequiredTests(context, after);
  if (verification.passed !== true) throw conflict(refusalMessage(verification, context.settings.VERIFY_WAIT_SECONDS));
  const written =
    Object.keys(change).length > 0
      ? await updateAgent(context.database, context.organization, before, change, context.clock())
      : await requireUnchanged(context, before);
  if (!written)
    throw conflict(
      'Nothing was changed: it passed its tests, but the voice agent was changed by another request meanwhile; send it again to verify it together with that',
    );
  return written;
}

const runRequiredTests = (context: Context, agent: AgentWithDefinition): Promise<Verification> =>
  runVerification(context, { agentId: agent.id, name: agent.name, candidate: toCandidate(agent), tests: parseRequiredTests(agent) });

function toCandidate(agent: AgentWithDefinition): Candidate {
  const { required_tests: _tests, ...configurations } = agent.workflow_configurations;
  return {
    definition: agent.workflow_definition,
    workflow_configurations: configurations,
    template_context_variables: agent.template_context_variables,
    call_disposition_codes: agent.call_disposition_codes,
  };
}

/** Null: it has been changed. */
async function requireUnchanged(context: Context, before: AgentWithDefinition): Promise<AgentWithDefinition | null> {
  const now = await existingAgentWithDefinition(context, before.id);
  return now.updated_at === before.updated_at ? now : null;
}

const refusalMessage = (verification: Verification, waitSeconds: number): string =>
  `Nothing was changed: ${describeFailures(verification, waitSeconds)} GET /simtest/test-sessions/{test_session_id}/conversation shows what was said`;
