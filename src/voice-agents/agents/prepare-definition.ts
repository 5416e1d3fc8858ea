import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../context.ts';
import { unresolvedMaskIssues, maskOriginIssues, openSecrets, restoreMasked, sealSecrets } from '../../expressions/secrets/secrets.ts';
import { requirePayloadSize } from '../../database/payload.ts';
import { invalid, type Issue } from '../../library/errors.ts';
import { isRecord } from '../../library/json/json.ts';
import { maxDefinitionBytes, validateAgentDefinition } from '../definition/definition.ts';
import { definitionPath } from '../definition/issues.ts';
import { findDocumentIssues } from './document-issues.ts';

type JsonObject = Record<string, unknown>;

/**
 * The JSON text of a definition with its secrets sealed. Any object is accepted; `findStoredIssues` finds its problems. A mask keeps the
 * secret that `before` (as stored, or null) has at that place. Null: the definition equals `before`. Throws 422 for a definition that is
 * too large, and for a mask whose request has moved to another address.
 */
export async function prepareDefinition(context: Context, definition: JsonObject, before: JsonObject | null): Promise<string | null> {
  const { ENCRYPTION_KEY } = context.settings;
  const { id } = context.organization;
  const moved = maskOriginIssues(definition, before && alignToolsByName(before, definition), definitionPath);
  if (moved.length) throw invalid(moved);
  const restored = await restoreMaskedSecrets(context, definition, before);
  // Sealing a secret twice gives different bytes, so the opened definitions are compared.
  if (before && isDeepStrictEqual(restored, await openSecrets(ENCRYPTION_KEY, id, before))) return null;
  requirePayloadSize(JSON.stringify(restored), maxDefinitionBytes, definitionPath);
  return JSON.stringify(await sealSecrets(ENCRYPTION_KEY, id, restored));
}

/** All problems of a definition that a caller proposes; masks stand for the secrets of `stored`. */
export const findProposedIssues = async (context: Context, proposed: unknown, stored: JsonObject): Promise<Issue[]> =>
  findOpenedIssues(context, await restoreMaskedSecrets(context, proposed, stored));

/** All problems of a stored definition. */
export const findStoredIssues = async (context: Context, stored: JsonObject): Promise<Issue[]> =>
  findOpenedIssues(context, await openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, stored));

async function findOpenedIssues(context: Context, definition: unknown): Promise<Issue[]> {
  const masks = unresolvedMaskIssues(definition, definitionPath);
  const places = new Set(masks.map(({ loc }) => loc.join('\n')));
  // A mask without a secret is reported once, as a mask, not also as an invalid value.
  const problems = validateAgentDefinition(definition).filter(({ loc }) => !places.has(loc.join('\n')));
  return [...problems, ...(await findDocumentIssues(context, definition)), ...masks];
}

const restoreMaskedSecrets = <T>(context: Context, definition: T, before: JsonObject | null): Promise<T> =>
  restoreMasked(context.settings.ENCRYPTION_KEY, context.organization.id, definition, before && alignToolsByName(before, definition));

/**
 * `before` with the tools of each node reordered by name to match `definition`. Tools have no ids, and a tool that has moved must not get
 * the secret of another one's endpoint.
 */
function alignToolsByName(before: JsonObject, definition: unknown): JsonObject {
  const later = listNodes(definition);
  const inLaterPlaces = (node: JsonObject): JsonObject => {
    const earlier = listTools(node);
    const tools = listTools(later.find(({ id }) => id === node['id'])).map(
      (tool) => earlier.find((one) => toolName(one) === toolName(tool)) ?? null,
    );
    return { ...node, data: { ...(node['data'] as JsonObject), tools } };
  };
  return { ...before, nodes: listNodes(before).map(inLaterPlaces) };
}

const toolName = (tool: unknown): unknown => (isRecord(tool) ? tool['name'] : undefined);

const listNodes = (definition: unknown): JsonObject[] =>
  isRecord(definition) && Array.isArray(definition['nodes']) ? definition['nodes'].filter(isRecord) : [];

const listTools = (node: JsonObject | undefined): unknown[] => {
  const data = node?.['data'];
  return isRecord(data) && Array.isArray(data['tools']) ? (data['tools'] as unknown[]) : [];
};
