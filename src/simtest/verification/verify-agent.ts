import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import type { AgentChangeGate } from '../../voice-agents/agents/change-gate.ts';
import { parseRequiredTests } from '../../voice-agents/agents/configurations.ts';
import { existingAgentWithDefinition, requireActive, type AgentWithDefinition } from '../../voice-agents/agents/find-agents.ts';
import { requireSound } from '../../voice-agents/agents/soundness.ts';
import { configWarnings } from '../config/config.ts';
import type { Candidate } from '../contract.ts';
import { requireRunnableTests } from './require-runnable-tests.ts';
import { runVerification } from './run-verification.ts';
import type { AgentVerification } from './schemas.ts';
import { describeFailures, type Verification } from './verification.ts';

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

/** Null: the agent passes its required tests. */
async function explainFailedTests(context: Context, agent: AgentWithDefinition): Promise<string | null> {
  const verification = await runRequiredTests(context, agent);
  return verification.passed === true ? null : describeFailures(verification, context.settings.VERIFY_WAIT_SECONDS);
}

/** Judges changes of agents by their required tests. */
export const requiredTestsGate: AgentChangeGate = { findTestConfigWarnings: configWarnings, requireRunnableTests, explainFailedTests };
