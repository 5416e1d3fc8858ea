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

/** A definition as it is stored: JSON text with its secrets sealed, masks put back to what they stood for in `before`. */
export async function prepareDefinition(context: Context, definition: unknown, before: unknown): Promise<string> {
  const { ENCRYPTION_KEY } = context.settings;
  const moved = maskOriginIssues(definition, before, ['body', 'definition']);
  if (moved.length) throw invalid(moved);
  const restored = await restoreMasked(ENCRYPTION_KEY, context.organization.id, definition, before);
  if (JSON.stringify(restored) === (await toOpenedJson(context, before))) return JSON.stringify(before);
  const text = JSON.stringify(await sealSecrets(ENCRYPTION_KEY, context.organization.id, restored));
  if (text.length > maxDefinitionBytes)
    throw invalid([{ loc: ['body', 'definition'], msg: `Is ${text.length} bytes; at most ${maxDefinitionBytes}`, type: 'too_large' }]);
  return text;
}

/** Sealing the same secret twice gives other bytes; whether a definition changed is seen on the opened ones. */
async function toOpenedJson(context: Context, before: unknown): Promise<string> {
  return JSON.stringify(await openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, before));
}

/**
 * Settings with every default filled in; 422 naming what is wrong. What is absent stays as it was `before`, unknown keys too; null is the
 * default again, or removes an unknown key; `retry` is changed key by key, every other setting as a whole.
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

export function prepareContextSchema(schema: unknown): string {
  const problems = isRecord(schema) && !Object.keys(schema).length ? [] : checkSchema(schema);
  if (problems.length)
    throw invalid(
      problems.map(({ path, message }) => ({ loc: ['body', 'context_schema', ...path], msg: message, type: 'invalid_schema' })),
    );
  return JSON.stringify(schema);
}
