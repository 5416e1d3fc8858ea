import { templateProblems } from '../../expressions/templates/render.ts';
import type { Issue } from '../../library/errors.ts';
import { parseIdentifiedItems, type IdentifiedItem } from '../../library/json/identified-items.ts';
import { isRecord } from '../../library/json/json.ts';
import { extractionIssues } from './extraction-rules.ts';
import { countIssues, edgeIssues, reachIssues, transferIssues, type ShapedNode } from './graph-rules.ts';
import { definitionIssue, definitionPath, toSchemaIssues } from './issues.ts';
import {
  EdgeSchema,
  isNodeType,
  nodeDataSchemas,
  NodeSchema,
  nodeTypeNames,
  type AgentEdge,
  type TalkData,
  type WebhookData,
} from './schemas.ts';
import { isIgnoredNodeType, startOnlyKeys } from './ignored-keys.ts';
import { toolIssues } from './tool-rules.ts';
import { normalizeWebhookFields } from './normalize-webhook-fields.ts';
import { transferSeconds, transferTemplates, type TransferSettings } from './transfer-settings.ts';

const maxNodes = 200;
const maxEdges = 2000;
export const maxDefinitionBytes = 512 * 1024;

export interface TalkNode {
  id: string;
  type: 'startCall' | 'agentNode' | 'endCall';
  data: TalkData;
}

/** A parsed definition, as conversations use it. */
export interface AgentDefinition {
  startNodeId: string;
  /** By id. */
  talkNodes: ReadonlyMap<string, TalkNode>;
  /** The `transfer` nodes, by id. */
  transfers: ReadonlyMap<string, TransferSettings>;
  /** Precedes the prompt of every node with `add_global_prompt`; null: there is no global node. */
  globalPrompt: string | null;
  /** Sent after the conversation. Their data may hold sealed secrets: open it, then parse it with `parseWebhookData`. */
  webhooks: { id: string; data: Record<string, unknown> }[];
  edges: AgentEdge[];
}

/** Parses a definition for which `validateAgentDefinition` finds nothing, and fills in defaults. Throws for any other. */
export function parseAgentDefinition(definition: unknown): AgentDefinition {
  const { nodes, edges } = definition as { nodes: unknown[]; edges: unknown[] };
  const talkNodes = new Map<string, TalkNode>();
  const transfers = new Map<string, TransferSettings>();
  const webhooks: AgentDefinition['webhooks'] = [];
  let globalPrompt: string | null = null;
  const walked = nodes.filter((node) => !isIgnoredNode(node));
  for (const { id, type, data } of walked.map((node) => NodeSchema.parse(node))) {
    if (type === 'webhook' && data['enabled'] !== false) webhooks.push({ id, data });
    else if (type === 'webhook') continue;
    else if (type === 'transfer') transfers.set(id, nodeDataSchemas.transfer.parse(data));
    else if (type === 'globalNode') globalPrompt = nodeDataSchemas.globalNode.parse(data).prompt;
    else if (type === 'startCall') talkNodes.set(id, { id, type, data: nodeDataSchemas.startCall.parse(data) });
    else if (type === 'agentNode') talkNodes.set(id, { id, type, data: omitStartOnlyKeys(nodeDataSchemas.agentNode.parse(data)) });
    else if (type === 'endCall')
      talkNodes.set(id, {
        id,
        type,
        data: { ...omitStartOnlyKeys(nodeDataSchemas.endCall.parse(data)), document_uuids: [], knowledge_base: false, tools: [] },
      });
  }
  const start = [...talkNodes.values()].find(({ type }) => type === 'startCall');
  if (!start) throw new TypeError('a definition without startCall was stored');
  return {
    startNodeId: start.id,
    talkNodes,
    transfers,
    globalPrompt,
    webhooks,
    edges: activeEdges(nodes, edges).map((edge) => EdgeSchema.parse(edge)),
  };
}

/** Whether `parseAgentDefinition` accepts the definition, which may still have problems. */
export function isReadable(definition: unknown): boolean {
  try {
    parseAgentDefinition(definition);
    return true;
  } catch {
    return false;
  }
}

/** The settings of a transfer: of a tool of a node, or of a `transfer` node, where `tool` is null. Undefined: there is none. */
export const findTransfer = (
  { talkNodes, transfers }: Pick<AgentDefinition, 'talkNodes' | 'transfers'>,
  nodeId: string,
  tool: string | null,
): TransferSettings | undefined =>
  tool === null ? transfers.get(nodeId) : talkNodes.get(nodeId)?.data.tools.find(({ name }) => name === tool)?.transfer;

/** The most seconds that a call lasts longer because it may be transferred; 0: it is not. */
export function maxTransferSeconds({ talkNodes, transfers }: Pick<AgentDefinition, 'talkNodes' | 'transfers'>): number {
  const ofTools = [...talkNodes.values()].flatMap(({ data }) => data.tools.flatMap(({ transfer }) => transfer ?? []));
  return Math.max(0, ...[...transfers.values(), ...ofTools].map(transferSeconds));
}

/** Removes the keys that mean something in a startCall node only. */
const omitStartOnlyKeys = <Data extends object>(data: Data): Omit<Data, keyof typeof startOnlyKeys> =>
  Object.fromEntries(Object.entries(data).filter(([key]) => !Object.hasOwn(startOnlyKeys, key))) as Omit<Data, keyof typeof startOnlyKeys>;

export const parseWebhookData = (data: Record<string, unknown>): WebhookData => nodeDataSchemas.webhook.parse(normalizeWebhookFields(data));

const isIgnoredNode = (node: unknown): boolean => isRecord(node) && isIgnoredNodeType(node['type']);

/** The edges between nodes that conversations visit. */
function activeEdges(nodes: unknown[], edges: unknown[]): unknown[] {
  const passive = new Set(nodes.flatMap((node) => (isRecord(node) && isIgnoredNodeType(node['type']) ? [node['id']] : [])));
  return edges.filter((edge) => !isRecord(edge) || !(passive.has(edge['source']) || passive.has(edge['target'])));
}

/** All problems of a definition; empty: it can be used. `loc` names the node or edge by its id, or by its position when it has no id. */
export function validateAgentDefinition(definition: unknown): Issue[] {
  if (!isRecord(definition)) return [definitionIssue([], 'A definition is an object { nodes, edges }')];
  const { nodes: rawNodes, edges: rawEdges } = definition;
  if (!Array.isArray(rawNodes) || !Array.isArray(rawEdges))
    return (['nodes', 'edges'] as const)
      .filter((key) => !Array.isArray(definition[key]))
      .map((key) => definitionIssue([key], `${key} must be an array`));
  const tooLarge = sizeIssues(definition, rawNodes.length, rawEdges.length);
  if (tooLarge.length > 0) return tooLarge;

  const nodes = parseIdentifiedItems(
    rawNodes.filter((node) => !isIgnoredNode(node)),
    NodeSchema,
    [...definitionPath, 'nodes'],
  );
  const edges = parseIdentifiedItems(activeEdges(rawNodes, rawEdges), EdgeSchema, [...definitionPath, 'edges']);
  // Nodes and edges with faults keep their place in the graph, so that one fault is not reported as several.
  const shapedNodes = nodes.items.map(toShapedNode);
  const shapedEdges = edges.items.filter(hasEnds);
  return [
    ...nodes.issues,
    ...edges.issues,
    ...nodes.items.flatMap(nodeIssues),
    ...shapedEdges.flatMap(({ id, data }) => templateIssues(data, ['condition', 'transition_speech'], ['edges', id, 'data'])),
    ...countIssues(shapedNodes),
    ...edgeIssues(shapedNodes, shapedEdges),
    ...reachIssues(shapedNodes, shapedEdges),
    ...transferIssues(shapedNodes, shapedEdges),
    ...toolIssues(shapedNodes, shapedEdges),
    ...extractionIssues(shapedNodes),
  ];
}

function sizeIssues(definition: object, nodes: number, edges: number): Issue[] {
  if (nodes > maxNodes)
    return [definitionIssue(['nodes'], `An agent has at most ${maxNodes} nodes, this one ${nodes}; make two agents of it`)];
  if (edges > maxEdges) return [definitionIssue(['edges'], `An agent has at most ${maxEdges} edges, this one ${edges}`)];
  const { length } = new TextEncoder().encode(JSON.stringify(definition));
  return length <= maxDefinitionBytes
    ? []
    : [definitionIssue([], `A definition has at most ${maxDefinitionBytes} bytes of JSON, this one ${length}; shorten its prompts`)];
}

const toShapedNode = ({ id, type, data }: IdentifiedItem): ShapedNode => ({
  id,
  type: typeof type === 'string' ? type : '',
  data: isRecord(data) ? data : {},
});

const hasEnds = (edge: IdentifiedItem): edge is IdentifiedItem & { source: string; target: string; data: unknown } =>
  typeof edge['source'] === 'string' && typeof edge['target'] === 'string';

/** Reports an unknown type, data that does not fit the type, and templates that do not parse. */
function nodeIssues({ id, type, data }: IdentifiedItem): Issue[] {
  if (typeof type !== 'string' || type === '') return [];
  if (!isNodeType(type)) return [definitionIssue(['nodes', id, 'type'], `Unknown node type "${type}"; known: ${nodeTypeNames.join(', ')}`)];
  if (!isRecord(data)) return [];
  const loc = ['nodes', id, 'data'];
  const fields = type === 'webhook' ? normalizeWebhookFields(data) : data;
  if (type === 'webhook' && fields['enabled'] === false) return [];
  const parsed = nodeDataSchemas[type].safeParse(fields);
  const tools = Array.isArray(data['tools']) ? (data['tools'] as unknown[]) : [];
  return [
    ...(parsed.success ? [] : toSchemaIssues(parsed.error, loc)),
    ...templateIssues(fields, ['prompt', 'greeting', 'extraction_prompt', 'url', 'headers', 'body', ...transferTemplates], loc),
    ...tools.flatMap((tool, index) => templateIssues(tool, ['http', 'transfer'], [...loc, 'tools', String(index)])),
  ];
}

/** Checks the rendered fields only; in other fields a brace is an ordinary character. */
const templateIssues = (data: unknown, fields: string[], loc: string[]): Issue[] =>
  isRecord(data)
    ? fields.flatMap((field) => templateProblems(data[field], [...loc, field])).map(({ path, message }) => definitionIssue(path, message))
    : [];
