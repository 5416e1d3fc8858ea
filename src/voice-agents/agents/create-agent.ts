import type { Context } from '../../context.ts';
import { enforcePlanLimit } from '../../accounts/organizations/plan-limits.ts';
import { insertAgent, type AgentWithDefinition } from './store.ts';
import { prepareDefinition } from './prepare-definition.ts';
import { prepareConfigurations, prepareVariables } from './prepare-fields.ts';
import { requireRunnableTests } from './prepare-required-tests.ts';

type JsonObject = Record<string, unknown>;

export interface NewAgent {
  name: string;
  workflow_definition: JsonObject;
  template_context_variables?: JsonObject | null | undefined;
  workflow_configurations?: JsonObject | null | undefined;
  call_disposition_codes?: Record<string, string> | null | undefined;
}

/** A voice agent that may be called at once, provided that its definition is sound. */
export async function createAgent(context: Context, input: NewAgent): Promise<AgentWithDefinition> {
  const fields = {
    name: input.name,
    template_context_variables: prepareVariables(input.template_context_variables ?? null),
    call_disposition_codes: JSON.stringify(input.call_disposition_codes ?? {}),
    workflow_configurations: prepareConfigurations(input.workflow_configurations ?? null),
    definition: (await prepareDefinition(context, input.workflow_definition, null))!,
  };
  await requireRunnableTests(
    context,
    { workflow_definition: JSON.parse(fields.definition), workflow_configurations: JSON.parse(fields.workflow_configurations) },
    null,
  );
  return enforcePlanLimit(context.organization, () => insertAgent(context.database, context.organization, fields, context.clock()));
}
