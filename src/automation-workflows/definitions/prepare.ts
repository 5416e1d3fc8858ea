import type { Context } from '../../context.ts';
import { requirePayloadSize } from '../../database/payload.ts';
import { invalid } from '../../library/errors.ts';
import { isRecord } from '../../library/json/json.ts';
import { toIssues } from '../../library/json/zod-issues.ts';
import { checkSchema } from '../../expressions/schemas/context-schema.ts';
import { maskOriginIssues, openSecrets, restoreMasked, sealSecrets } from '../../expressions/secrets/secrets.ts';
import { WorkflowSettings } from './settings.ts';

const maxDefinitionBytes = 512 * 1024;
const maxSettingsBytes = 64 * 1024;

/** The JSON text of a definition as stored: its secrets are sealed, and each mask is replaced by the secret at the same place in `before`. Throws 422. */
export async function prepareDefinition(context: Context, definition: unknown, before: unknown): Promise<string> {
  const { ENCRYPTION_KEY } = context.settings;
  const issues = maskOriginIssues(definition, before, ['body', 'definition']);
  if (issues.length) throw invalid(issues);
  const restored = await restoreMasked(ENCRYPTION_KEY, context.organization.id, definition, before);
  if (JSON.stringify(restored) === (await toOpenedJson(context, before))) return JSON.stringify(before);
  const text = JSON.stringify(await sealSecrets(ENCRYPTION_KEY, context.organization.id, restored));
  if (text.length > maxDefinitionBytes)
    throw invalid([{ loc: ['body', 'definition'], msg: `Is ${text.length} bytes; at most ${maxDefinitionBytes}`, type: 'too_large' }]);
  return text;
}

/** For comparing definitions: sealing a secret twice gives different bytes, so the opened texts are compared. */
async function toOpenedJson(context: Context, before: unknown): Promise<string> {
  return JSON.stringify(await openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, before));
}

/**
 * The JSON text of settings as stored, with every default. Throws 422 with all issues.
 * - An absent key keeps its value in `before`, also when the key is unknown.
 * - null resets a setting to its default, or removes an unknown key.
 * - `retry` is changed key by key, every other setting as a whole.
 */
export function prepareSettings(settings: unknown, before: Record<string, unknown> = {}): string {
  const parsed = WorkflowSettings.safeParse(isRecord(settings) ? mergeSettings(before, settings) : settings);
  if (!parsed.success) throw invalid(toIssues(parsed.error, ['body', 'settings']));
  const text = JSON.stringify(parsed.data);
  requirePayloadSize(text, maxSettingsBytes, ['body', 'settings']);
  return text;
}

function mergeSettings(before: Record<string, unknown>, settings: Record<string, unknown>): Record<string, unknown> {
  const { retry } = settings;
  const merged = {
    ...before,
    ...settings,
    ...(isRecord(retry) && isRecord(before['retry']) ? { retry: mergeSettings(before['retry'], retry) } : {}),
  };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}

/** The JSON text of a context schema as stored; `{}` accepts every context. Throws 422 for what is no JSON Schema. */
export function prepareContextSchema(schema: unknown): string {
  const problems = isRecord(schema) && !Object.keys(schema).length ? [] : checkSchema(schema);
  if (problems.length)
    throw invalid(
      problems.map(({ path, message }) => ({ loc: ['body', 'context_schema', ...path], msg: message, type: 'invalid_schema' })),
    );
  return JSON.stringify(schema);
}
