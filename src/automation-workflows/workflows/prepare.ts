import type { Context } from '../../accounts/context.ts';
import { invalid, type Issue } from '../../library/errors.ts';
import { isRecord } from '../../library/json.ts';
import { issuesOf } from '../../library/schema-issues.ts';
import { activeAgentIds } from '../../voice-agents/agents/active-agents.ts';
import { checkSchema } from '../context-schema.ts';
import { parseDefinition, validateGraph } from '../definition.ts';
import type { GraphNode } from '../nodes/contract.ts';
import { nodeTypes } from '../nodes/registry.ts';
import { leftoverMasks, openSecrets, restoreMasked, sealSecrets } from '../secrets.ts';
import { WorkflowSettings } from '../settings.ts';
import { existingWorkflowIds } from './store.ts';

const definitionLimitBytes = 512 * 1024;

/** A definition as it is stored: JSON text with its secrets sealed, masks put back to what they stood for in `before`. */
export async function prepareDefinition(context: Context, definition: unknown, before: unknown): Promise<string> {
  const { ENCRYPTION_KEY } = context.settings;
  const restored = await restoreMasked(ENCRYPTION_KEY, context.organization.id, definition, before);
  if (JSON.stringify(restored) === (await openedText(context, before))) return JSON.stringify(before);
  const text = JSON.stringify(await sealSecrets(ENCRYPTION_KEY, context.organization.id, restored));
  if (text.length > definitionLimitBytes)
    throw invalid([{ loc: ['body', 'definition'], msg: `Is ${text.length} bytes; at most ${definitionLimitBytes}`, type: 'too_large' }]);
  return text;
}

/** Sealing the same secret twice gives other bytes; whether a definition changed is seen on the opened ones. */
async function openedText(context: Context, before: unknown): Promise<string> {
  return JSON.stringify(await openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, before));
}

/**
 * Settings with every default filled in; 422 naming what is wrong or unknown. What is absent stays as it was `before`, null is the
 * default again; `retry` is changed key by key, every other setting as a whole.
 */
export function prepareSettings(settings: unknown, before: Record<string, unknown> = {}): string {
  const parsed = WorkflowSettings.safeParse(isRecord(settings) ? changed(before, settings) : settings);
  if (!parsed.success) throw invalid(issuesOf(parsed.error, ['body', 'settings']));
  return JSON.stringify(parsed.data);
}

function changed(before: Record<string, unknown>, settings: Record<string, unknown>): Record<string, unknown> {
  const { retry } = settings;
  const merged = {
    ...before,
    ...settings,
    ...(isRecord(retry) && isRecord(before['retry']) ? { retry: changed(before['retry'], retry) } : {}),
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

/** What stops a stored graph from going active. */
export async function definitionIssues(context: Context, definition: unknown): Promise<Issue[]> {
  return issuesOfOpened(context, await openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, definition));
}

/** The same of a graph that a caller proposes; a mask in it stands for what `stored` has at that place. */
export async function proposalIssues(context: Context, proposed: unknown, stored: unknown): Promise<Issue[]> {
  return issuesOfOpened(context, await restoreMasked(context.settings.ENCRYPTION_KEY, context.organization.id, proposed, stored));
}

async function issuesOfOpened(context: Context, definition: unknown): Promise<Issue[]> {
  const issues = [...validateGraph(definition, nodeTypes), ...leftoverMasks(definition, ['body', 'definition'])];
  return issues.length ? issues : referenceIssues(context, definition);
}

/** Nodes that name another workflow or a voice agent must name one of this organization. Asked only of a graph that is sound in itself. */
async function referenceIssues(context: Context, definition: unknown): Promise<Issue[]> {
  const { database, organization } = context;
  const { nodes } = parseDefinition(definition);
  const workflows = {
    what: 'workflow',
    list: '/automation-workflows',
    existing: (ids: number[]) => existingWorkflowIds(database, organization.id, ids),
  };
  const agents = { what: 'active voice agent', list: '/workflow/', existing: (ids: number[]) => activeAgentIds(context, ids) };
  return [...(await unknownOf(nodes, 'run_workflow', workflows)), ...(await unknownOf(nodes, 'voice_call', agents))];
}

/** What nodes of a type may name, and which of it there is; `list` is the path that lists it. */
interface Named {
  what: string;
  list: string;
  existing(ids: number[]): Promise<Set<number>>;
}

async function unknownOf(nodes: GraphNode[], type: string, { what, list, existing }: Named): Promise<Issue[]> {
  const references = nodes
    .filter((node) => node.type === type)
    .map(({ id, data }) => ({ nodeId: id, named: data['workflow_id'] as number }));
  if (!references.length) return [];
  const known = await existing(references.map(({ named }) => named));
  return references
    .filter(({ named }) => !known.has(named))
    .map(({ nodeId, named }) => ({
      loc: ['body', 'definition', 'nodes', nodeId, 'data', 'workflow_id'],
      msg: `There is no ${what} ${named} in this organization; name one of GET ${list}`,
      type: 'not_found',
    }));
}
