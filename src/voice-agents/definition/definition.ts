import { templateProblems } from '../../automation-workflows/templates.ts';
import type { Issue } from '../../library/errors.ts';
import { readIdentified, type Identified } from '../../library/identified-items.ts';
import { isRecord } from '../../library/json.ts';
import { extractionIssues } from './extraction-rules.ts';
import { countIssues, edgeIssues, reachIssues, type ShapedNode } from './graph-rules.ts';
import { problem, root, schemaProblems } from './problems.ts';
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
import { isPassive, startAlone } from './other-keys.ts';
import { toolIssues } from './tool-rules.ts';
import { webhookFields } from './webhook-fields.ts';

const maximumNodes = 200;
const maximumEdges = 2000;
export const maximumBytes = 512 * 1024;

export interface TalkNode {
  id: string;
  type: 'startCall' | 'agentNode' | 'endCall';
  data: TalkData;
}

/** What is left of a definition for those who run it. */
export interface AgentDefinition {
  startNodeId: string;
  /** By id. */
  talkNodes: ReadonlyMap<string, TalkNode>;
  /** Before the prompt of every node that asks for it; null: there is none. */
  globalPrompt: string | null;
  /** Sent when the talk is over. Their secrets may be sealed, so their data is read by `parseWebhookData` when it is opened. */
  webhooks: { id: string; data: Record<string, unknown> }[];
  edges: AgentEdge[];
}

/** A definition that `validateAgentDefinition` found nothing wrong with, defaults filled in; throws for any other. */
export function parseAgentDefinition(definition: unknown): AgentDefinition {
  const { nodes, edges } = definition as { nodes: unknown[]; edges: unknown[] };
  const talkNodes = new Map<string, TalkNode>();
  const webhooks: AgentDefinition['webhooks'] = [];
  let globalPrompt: string | null = null;
  const walked = nodes.filter((node) => !isPassiveNode(node));
  for (const { id, type, data } of walked.map((node) => NodeSchema.parse(node))) {
    if (type === 'webhook' && data['enabled'] !== false) webhooks.push({ id, data });
    else if (type === 'webhook') continue;
    else if (type === 'globalNode') globalPrompt = nodeDataSchemas.globalNode.parse(data).prompt;
    else if (type === 'startCall') talkNodes.set(id, { id, type, data: nodeDataSchemas.startCall.parse(data) });
    else if (type === 'agentNode') talkNodes.set(id, { id, type, data: withoutStart(nodeDataSchemas.agentNode.parse(data)) });
    else if (type === 'endCall')
      talkNodes.set(id, {
        id,
        type,
        data: { ...withoutStart(nodeDataSchemas.endCall.parse(data)), document_uuids: [], knowledge_base: false, tools: [] },
      });
  }
  const start = [...talkNodes.values()].find(({ type }) => type === 'startCall');
  if (!start) throw new TypeError('a definition without startCall was stored');
  return {
    startNodeId: start.id,
    talkNodes,
    globalPrompt,
    webhooks,
    edges: walkedEdges(nodes, edges).map((edge) => EdgeSchema.parse(edge)),
  };
}

/** Whether `parseAgentDefinition` takes it, which says less than that it has no problems. */
export function isReadable(definition: unknown): boolean {
  try {
    parseAgentDefinition(definition);
    return true;
  } catch {
    return false;
  }
}

/** What only a start has means nothing elsewhere. */
const withoutStart = <Data extends object>(data: Data): Omit<Data, keyof typeof startAlone> =>
  Object.fromEntries(Object.entries(data).filter(([key]) => !Object.hasOwn(startAlone, key))) as Omit<Data, keyof typeof startAlone>;

export const parseWebhookData = (data: Record<string, unknown>): WebhookData => nodeDataSchemas.webhook.parse(webhookFields(data));

const isPassiveNode = (node: unknown): boolean => isRecord(node) && isPassive(node['type']);

/** Edges from or to a node that is not walked are not walked, either. */
function walkedEdges(nodes: unknown[], edges: unknown[]): unknown[] {
  const passive = new Set(nodes.flatMap((node) => (isRecord(node) && isPassive(node['type']) ? [node['id']] : [])));
  return edges.filter((edge) => !isRecord(edge) || !(passive.has(edge['source']) || passive.has(edge['target'])));
}

/** Every problem of a definition, `loc` naming the node or edge by its id (by its position when it has none). Empty: it can be run. */
export function validateAgentDefinition(definition: unknown): Issue[] {
  if (!isRecord(definition)) return [problem([], 'A definition is an object { nodes, edges }')];
  const { nodes: rawNodes, edges: rawEdges } = definition;
  if (!Array.isArray(rawNodes) || !Array.isArray(rawEdges))
    return (['nodes', 'edges'] as const)
      .filter((key) => !Array.isArray(definition[key]))
      .map((key) => problem([key], `${key} must be an array`));
  const tooLarge = sizeIssues(definition, rawNodes.length, rawEdges.length);
  if (tooLarge.length > 0) return tooLarge;

  const nodes = readIdentified(
    rawNodes.filter((node) => !isPassiveNode(node)),
    NodeSchema,
    [...root, 'nodes'],
  );
  const edges = readIdentified(walkedEdges(rawNodes, rawEdges), EdgeSchema, [...root, 'edges']);
  // A node or an edge with a fault of its own still takes its place in the graph, so that one fault is not reported as several.
  const shapedNodes = nodes.items.map(shapeOf);
  const shapedEdges = edges.items.filter(hasEnds);
  return [
    ...nodes.issues,
    ...edges.issues,
    ...nodes.items.flatMap(nodeIssues),
    ...shapedEdges.flatMap(({ id, data }) => templateIssues(data, ['condition', 'transition_speech'], ['edges', id, 'data'])),
    ...countIssues(shapedNodes),
    ...edgeIssues(shapedNodes, shapedEdges),
    ...reachIssues(shapedNodes, shapedEdges),
    ...toolIssues(shapedNodes, shapedEdges),
    ...extractionIssues(shapedNodes),
  ];
}

function sizeIssues(definition: object, nodes: number, edges: number): Issue[] {
  if (nodes > maximumNodes)
    return [problem(['nodes'], `An agent has at most ${maximumNodes} nodes, this one ${nodes}; make two agents of it`)];
  if (edges > maximumEdges) return [problem(['edges'], `An agent has at most ${maximumEdges} edges, this one ${edges}`)];
  const { length } = new TextEncoder().encode(JSON.stringify(definition));
  return length <= maximumBytes
    ? []
    : [problem([], `A definition has at most ${maximumBytes} bytes of JSON, this one ${length}; shorten its prompts`)];
}

const shapeOf = ({ id, type, data }: Identified): ShapedNode => ({
  id,
  type: typeof type === 'string' ? type : '',
  data: isRecord(data) ? data : {},
});

const hasEnds = (edge: Identified): edge is Identified & { source: string; target: string; data: unknown } =>
  typeof edge['source'] === 'string' && typeof edge['target'] === 'string';

/** Unknown type, data that does not fit it, templates that do not parse. */
function nodeIssues({ id, type, data }: Identified): Issue[] {
  if (typeof type !== 'string' || type === '') return [];
  if (!isNodeType(type)) return [problem(['nodes', id, 'type'], `Unknown node type "${type}"; known: ${nodeTypeNames.join(', ')}`)];
  if (!isRecord(data)) return [];
  const loc = ['nodes', id, 'data'];
  const fields = type === 'webhook' ? webhookFields(data) : data;
  if (type === 'webhook' && fields['enabled'] === false) return [];
  const parsed = nodeDataSchemas[type].safeParse(fields);
  const tools = Array.isArray(data['tools']) ? (data['tools'] as unknown[]) : [];
  return [
    ...(parsed.success ? [] : schemaProblems(parsed.error, loc)),
    ...templateIssues(fields, ['prompt', 'greeting', 'extraction_prompt', 'url', 'headers', 'body'], loc),
    ...tools.flatMap((tool, index) => templateIssues(tool, ['http'], [...loc, 'tools', String(index)])),
  ];
}

/** Of the fields that are rendered; a brace in another one is only a brace. */
const templateIssues = (data: unknown, fields: string[], loc: string[]): Issue[] =>
  isRecord(data)
    ? fields.flatMap((field) => templateProblems(data[field], [...loc, field])).map(({ path, message }) => problem(path, message))
    : [];
