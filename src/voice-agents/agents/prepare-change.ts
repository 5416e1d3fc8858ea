import type { Context } from '../../context.ts';
import type { AgentFields, AgentWithDefinition } from './store.ts';
import type { NewAgent } from './create-agent.ts';
import { prepareDefinition } from './prepare-definition.ts';
import { prepareConfigurations, prepareVariables } from './prepare-fields.ts';
import { requireRunnableTests } from './prepare-required-tests.ts';

/** What of `row` a request changes. Throws 422. */
export async function prepareChange(context: Context, row: AgentWithDefinition, input: Partial<NewAgent>): Promise<Partial<AgentFields>> {
  const change: Partial<AgentFields> = {};
  if (input.name !== undefined) change.name = input.name;
  if (input.template_context_variables !== undefined)
    change.template_context_variables = prepareVariables(input.template_context_variables);
  if (input.call_disposition_codes !== undefined) change.call_disposition_codes = JSON.stringify(input.call_disposition_codes ?? {});
  if (input.workflow_configurations !== undefined)
    change.workflow_configurations = prepareConfigurations(input.workflow_configurations, row.workflow_configurations);
  if (input.workflow_definition !== undefined) {
    const definition = await prepareDefinition(context, input.workflow_definition, row.workflow_definition);
    if (definition !== null) change.definition = definition;
  }
  await requireRunnableTests(context, applyAgentChange(row, change), row);
  return change;
}

/** The agent as it would be. */
export function applyAgentChange(row: AgentWithDefinition, change: Partial<AgentFields>): AgentWithDefinition {
  const { name = row.name, definition, ...texts } = change;
  const parsed = Object.fromEntries(Object.entries(texts).map(([field, text]) => [field, JSON.parse(text) as unknown]));
  const workflow_definition =
    definition === undefined ? row.workflow_definition : (JSON.parse(definition) as AgentWithDefinition['workflow_definition']);
  return { ...row, ...parsed, name, workflow_definition };
}
