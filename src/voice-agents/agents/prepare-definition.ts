import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../accounts/context.ts';
import { leftoverMasks, movedMasks, openSecrets, restoreMasked, sealSecrets } from '../../automation-workflows/secrets.ts';
import { boundPayload } from '../../database/payload.ts';
import { invalid, type Issue } from '../../library/errors.ts';
import { isRecord } from '../../library/json.ts';
import { maximumBytes, validateAgentDefinition } from '../definition/definition.ts';
import { root } from '../definition/problems.ts';
import { documentIssues } from './prepare-documents.ts';

type JsonObject = Record<string, unknown>;

/**
 * A definition as it is stored: JSON text with its secrets sealed. Any object may be stored; `storedIssues` tells its problems. A mask stands for what `before` (as stored; null: there is none)
 * has at that place. Null: it is the same as before. Throws 422 for one that is too large, and for a mask of a secret that was given for another address.
 */
export async function prepareDefinition(context: Context, definition: JsonObject, before: JsonObject | null): Promise<string | null> {
  const { ENCRYPTION_KEY } = context.settings;
  const { id } = context.organization;
  const moved = movedMasks(definition, before && withToolsLike(before, definition), root);
  if (moved.length) throw invalid(moved);
  const restored = await withoutMasks(context, definition, before);
  // Sealing the same secret twice gives other bytes, so they are compared opened.
  if (before && isDeepStrictEqual(restored, await openSecrets(ENCRYPTION_KEY, id, before))) return null;
  boundPayload(JSON.stringify(restored), maximumBytes, root);
  return JSON.stringify(await sealSecrets(ENCRYPTION_KEY, id, restored));
}

/** Every problem of a definition that a caller proposes. */
export const proposalIssues = async (context: Context, proposed: unknown, stored: JsonObject): Promise<Issue[]> =>
  issuesOfOpened(context, await withoutMasks(context, proposed, stored));

/** Every problem of a stored definition. */
export const storedIssues = async (context: Context, stored: JsonObject): Promise<Issue[]> =>
  issuesOfOpened(context, await openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, stored));

async function issuesOfOpened(context: Context, definition: unknown): Promise<Issue[]> {
  const masks = leftoverMasks(definition, root);
  const places = new Set(masks.map(({ loc }) => loc.join('\n')));
  // That a mask is no good secret goes without saying.
  const problems = validateAgentDefinition(definition).filter(({ loc }) => !places.has(loc.join('\n')));
  return [...problems, ...(await documentIssues(context, definition)), ...masks];
}

const withoutMasks = <T>(context: Context, definition: T, before: JsonObject | null): Promise<T> =>
  restoreMasked(context.settings.ENCRYPTION_KEY, context.organization.id, definition, before && withToolsLike(before, definition));

/**
 * `before` with the tools of each node in the places that tools of the same name have in `definition`. Tools have no ids, and one that has
 * moved up must not get the secret of another one's endpoint.
 */
function withToolsLike(before: JsonObject, definition: unknown): JsonObject {
  const later = nodesOf(definition);
  const inLaterPlaces = (node: JsonObject): JsonObject => {
    const earlier = toolsOf(node);
    const tools = toolsOf(later.find(({ id }) => id === node['id'])).map(
      (tool) => earlier.find((one) => nameOf(one) === nameOf(tool)) ?? null,
    );
    return { ...node, data: { ...(node['data'] as JsonObject), tools } };
  };
  return { ...before, nodes: nodesOf(before).map(inLaterPlaces) };
}

const nameOf = (tool: unknown): unknown => (isRecord(tool) ? tool['name'] : undefined);

const nodesOf = (definition: unknown): JsonObject[] =>
  isRecord(definition) && Array.isArray(definition['nodes']) ? definition['nodes'].filter(isRecord) : [];

const toolsOf = (node: JsonObject | undefined): unknown[] => {
  const data = node?.['data'];
  return isRecord(data) && Array.isArray(data['tools']) ? (data['tools'] as unknown[]) : [];
};
