import type { Context } from '../../context.ts';
import type { AgentFields, AgentWithDefinition, NewAgent } from './store.ts';
import { prepareDefinition } from './prepare-definition.ts';
import { agentChangeGate } from './change-gate.ts';
import type { z } from 'zod';
import { requirePayloadSize } from '../../database/payload.ts';
import { invalid } from '../../library/errors.ts';
import { isRecord } from '../../library/json/json.ts';
import { toIssues } from '../../library/json/zod-issues.ts';
import { AgentConfigurations } from './configurations.ts';

/**
 * The columns that a request changes in `row`. Configurations are merged into those of `configured`. Throws 422.
 */
export async function prepareChange(
  context: Context,
  row: AgentWithDefinition,
  input: Partial<NewAgent>,
  configured: JsonObject = row.workflow_configurations,
): Promise<Partial<AgentFields>> {
  const change: Partial<AgentFields> = {};
  if (input.name !== undefined) change.name = input.name;
  if (input.template_context_variables !== undefined)
    change.template_context_variables = prepareVariables(input.template_context_variables);
  if (input.call_disposition_codes !== undefined) change.call_disposition_codes = JSON.stringify(input.call_disposition_codes ?? {});
  if (input.workflow_configurations !== undefined)
    change.workflow_configurations = prepareConfigurations(input.workflow_configurations, configured);
  if (input.workflow_definition !== undefined) {
    const definition = await prepareDefinition(context, input.workflow_definition, row.workflow_definition);
    if (definition !== null) change.definition = definition;
  }
  await agentChangeGate().requireRunnableTests(context, applyAgentChange(row, change), row);
  return change;
}

/** The agent with the change. */
export function applyAgentChange(row: AgentWithDefinition, change: Partial<AgentFields>): AgentWithDefinition {
  const { name = row.name, definition, ...texts } = change;
  const parsed = Object.fromEntries(Object.entries(texts).map(([field, text]) => [field, JSON.parse(text) as unknown]));
  const workflow_definition =
    definition === undefined ? row.workflow_definition : (JSON.parse(definition) as AgentWithDefinition['workflow_definition']);
  return { ...row, ...parsed, name, workflow_definition };
}

type JsonObject = Record<string, unknown>;

const maxVariablesBytes = 64 * 1024;
const maxConfigurationsBytes = 256 * 1024;

/**
 * Configurations with every default, as JSON text. An absent key keeps its value of `before`, also when it is unknown; null resets a key
 * to its default or removes an unknown one. `phrases` merge key by key, other values are replaced. Throws 422.
 */
export function prepareConfigurations(configurations: JsonObject | null, before: JsonObject = {}): string {
  const parsed = AgentConfigurations.safeParse(configurations === null ? {} : mergeConfigurations(before, configurations));
  if (!parsed.success) throw invalid(toIssues(parsed.error as z.ZodError, ['body', 'workflow_configurations']));
  const text = JSON.stringify(parsed.data);
  requirePayloadSize(text, maxConfigurationsBytes, ['body', 'workflow_configurations']);
  return text;
}

function mergeConfigurations(before: JsonObject, change: JsonObject): JsonObject {
  const { phrases } = change;
  const merged = {
    ...before,
    ...change,
    ...(isRecord(phrases) ? { phrases: mergeConfigurations(isRecord(before['phrases']) ? before['phrases'] : {}, phrases) } : {}),
  };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}

/** The default variables of prompts, as JSON text. Throws 422 when they are too large. */
export function prepareVariables(variables: JsonObject | null): string {
  const json = JSON.stringify(variables ?? {});
  requirePayloadSize(json, maxVariablesBytes, ['body', 'template_context_variables']);
  return json;
}
