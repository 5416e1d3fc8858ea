import type { z } from 'zod';
import { requirePayloadSize } from '../../database/payload.ts';
import { invalid } from '../../library/errors.ts';
import { isRecord } from '../../library/json/json.ts';
import { toIssues } from '../../library/json/zod-issues.ts';
import { AgentConfigurations } from './configurations.ts';

type JsonObject = Record<string, unknown>;

const maxVariablesBytes = 64 * 1024;
const maxConfigurationsBytes = 256 * 1024;

/**
 * Configurations with every default filled in, as JSON text; 422 naming what is wrong. What is absent stays as it was `before`,
 * unknown keys too; null is the default again, or removes an unknown key; `phrases` are changed one by one, everything else as a whole.
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

/** Variables that prompts may use where a call brings none of that name, as JSON text. */
export function prepareVariables(variables: JsonObject | null): string {
  const json = JSON.stringify(variables ?? {});
  requirePayloadSize(json, maxVariablesBytes, ['body', 'template_context_variables']);
  return json;
}
