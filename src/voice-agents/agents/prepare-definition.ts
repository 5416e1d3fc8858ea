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
 * A definition as it is stored: JSON text with its secrets sealed. Any object may be stored; `findStoredIssues` tells its problems. A mask stands for what `before` (as stored; null: there is none)
 * has at that place. Null: it is the same as before. Throws 422 for one that is too large, and for a mask of a secret that was given for another address.
 */
export async function prepareDefinition(context: Context, definition: JsonObject, before: JsonObject | null): Promise<string | null> {
  const { ENCRYPTION_KEY } = context.settings;
  const { id } = context.organization;
  const moved = maskOriginIssues(definition, before && alignToolsByName(before, definition), definitionPath);
  if (moved.length) throw invalid(moved);
  const restored = await restoreMaskedSecrets(context, definition, before);
  // Sealing the same secret twice gives other bytes, so they are compared opened.
  if (before && isDeepStrictEqual(restored, await openSecrets(ENCRYPTION_KEY, id, before))) return null;
  requirePayloadSize(JSON.stringify(restored), maxDefinitionBytes, definitionPath);
  return JSON.stringify(await sealSecrets(ENCRYPTION_KEY, id, restored));
}

/** Every problem of a definition that a caller proposes. */
export const findProposedIssues = async (context: Context, proposed: unknown, stored: JsonObject): Promise<Issue[]> =>
  findOpenedIssues(context, await restoreMaskedSecrets(context, proposed, stored));

/** Every problem of a stored definition. */
export const findStoredIssues = async (context: Context, stored: JsonObject): Promise<Issue[]> =>
  findOpenedIssues(context, await openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, stored));

async function findOpenedIssues(context: Context, definition: unknown): Promise<Issue[]> {
  const masks = unresolvedMaskIssues(definition, definitionPath);
  const places = new Set(masks.map(({ loc }) => loc.join('\n')));
  // That a mask is no good secret goes without saying.
  const problems = validateAgentDefinition(definition).filter(({ loc }) => !places.has(loc.join('\n')));
  return [...problems, ...(await findDocumentIssues(context, definition)), ...masks];
}

const restoreMaskedSecrets = <T>(context: Context, definition: T, before: JsonObject | null): Promise<T> =>
  restoreMasked(context.settings.ENCRYPTION_KEY, context.organization.id, definition, before && alignToolsByName(before, definition));

/**
 * `before` with the tools of each node in the places that tools of the same name have in `definition`. Tools have no ids, and one that has
 * moved up must not get the secret of another one's endpoint.
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
