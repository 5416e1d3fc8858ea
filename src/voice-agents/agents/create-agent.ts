import type { Context } from '../../context.ts';
import { enforcePlanLimit } from '../../accounts/organizations/plan-limits.ts';
import { type AgentWithDefinition, insertAgent, type NewAgent } from './store.ts';
import { prepareDefinition } from './prepare-definition.ts';
import { prepareConfigurations, prepareVariables } from './prepare-change.ts';
import { agentChangeGate } from './change-gate.ts';

/** Creates an active voice agent. Throws 422 for fields or required tests that do not hold, and 409 where the plan has no room. */
export async function createAgent(context: Context, input: NewAgent): Promise<AgentWithDefinition> {
  const fields = {
    name: input.name,
    template_context_variables: prepareVariables(input.template_context_variables ?? null),
    call_disposition_codes: JSON.stringify(input.call_disposition_codes ?? {}),
    workflow_configurations: prepareConfigurations(input.workflow_configurations ?? null),
    definition: (await prepareDefinition(context, input.workflow_definition, null))!,
  };
  await agentChangeGate().requireRunnableTests(
    context,
    { workflow_definition: JSON.parse(fields.definition), workflow_configurations: JSON.parse(fields.workflow_configurations) },
    null,
  );
  return enforcePlanLimit(context.organization, () => insertAgent(context.database, context.organization, fields, context.clock()));
}
