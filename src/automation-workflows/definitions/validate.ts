import type { Context } from '../../context.ts';
import { openSecrets, restoreMasked, unresolvedMaskIssues } from '../../expressions/secrets/secrets.ts';
import type { Issue } from '../../library/errors.ts';
import type { GraphNode, References } from '../nodes/contract.ts';
import { nodeTypes } from '../nodes/registry.ts';
import { parseDefinition, validateGraph } from './definition.ts';

/** Everything that keeps a stored graph from going active; empty: nothing does. */
export async function definitionIssues(context: Context, definition: unknown): Promise<Issue[]> {
  return openedDefinitionIssues(context, await openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, definition));
}

/** As `definitionIssues`, for a graph that a caller proposes. A mask in `proposed` stands for the secret at the same place in `stored`. */
export async function proposalIssues(context: Context, proposed: unknown, stored: unknown): Promise<Issue[]> {
  return openedDefinitionIssues(context, await restoreMasked(context.settings.ENCRYPTION_KEY, context.organization.id, proposed, stored));
}

/** The ids in a graph are looked up only when the graph has no other problem. */
async function openedDefinitionIssues(context: Context, definition: unknown): Promise<Issue[]> {
  const issues = [...validateGraph(definition, nodeTypes), ...unresolvedMaskIssues(definition, ['body', 'definition'])];
  return issues.length ? issues : referenceIssues(context, parseDefinition(definition).nodes);
}

/** Each id in the nodes' data that the organization does not have. At most one lookup a node type. */
async function referenceIssues(context: Context, nodes: GraphNode[]): Promise<Issue[]> {
  const issues: Issue[] = [];
  for (const { type, references } of nodeTypes.values())
    if (references) {
      const ofType = nodes.filter((node) => node.type === type);
      issues.push(...(await unknownReferenceIssues(context, ofType, references)));
    }
  return issues;
}

async function unknownReferenceIssues(context: Context, nodes: GraphNode[], references: References): Promise<Issue[]> {
  const named = nodes.flatMap((node) =>
    references
      .find(node.data)
      .map(({ path, id }) => ({ id: id as unknown, loc: ['body', 'definition', 'nodes', node.id, 'data', ...path] })),
  );
  if (!named.length) return [];
  const existing = await references.findExisting(
    context,
    named.map(({ id }) => id),
  );
  return named
    .filter(({ id }) => !existing.has(id))
    .map(({ id, loc }) => ({
      loc,
      msg: `There is no ${references.noun} ${String(id)} in this organization; name one of GET ${references.listPath}`,
      type: 'not_found',
    }));
}
