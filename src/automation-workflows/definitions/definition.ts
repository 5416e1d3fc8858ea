import { z } from 'zod';
import { collectWarnings } from '../../library/json/config-object.ts';
import type { Issue } from '../../library/errors.ts';
import { parseIdentifiedItems, type IdentifiedItem } from '../../library/json/identified-items.ts';
import { isRecord } from '../../library/json/json.ts';
import { toIssues } from '../../library/json/zod-issues.ts';
import { edgeIssues, handleIssues, loopIssues, reachabilityIssues, triggerIssues, type GraphEdge, type TypedNode } from './graph-rules.ts';
import { type GraphNode, defaultHandle, type NodeType } from '../nodes/contract.ts';
import { type NodeRegistry, findNodeType } from '../nodes/registry.ts';
import { templateProblems } from '../../expressions/templates/render.ts';

export const maxNodes = 200;
const maxEdges = 4000;

const id = z.string().min(1).max(100);

/** Other keys of nodes and edges, such as the sizes and colours of a graph editor, are kept and ignored. */
const Node = z.object({
  id,
  type: z.string().min(1),
  name: z.string().max(200).nullish(),
  data: z.record(z.string(), z.unknown()).nullish(),
});
const Edge = z.object({ id, source: z.string(), target: z.string(), source_handle: z.string().nullish() });

export interface Definition {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

const definitionLoc = ['body', 'definition'];

/** The graph of a definition without issues. Throws ZodError when `validateGraph` would report issues of its form. */
export function parseDefinition(definition: unknown): Definition {
  const { nodes, edges } = z.object({ nodes: z.array(Node), edges: z.array(Edge) }).parse(definition);
  return {
    nodes: nodes.map(({ id: nodeId, type, name, data }) => ({ id: nodeId, type, name: name ?? undefined, data: data ?? {} })),
    edges,
  };
}

/** All issues of a graph; empty: the graph may go active. `loc` names nodes and edges by id, or by position when the id is missing. */
export function validateGraph(definition: unknown, registry: NodeRegistry): Issue[] {
  if (!isRecord(definition)) return [toIssue([], 'A definition is an object { nodes, edges }')];
  const { nodes: rawNodes, edges: rawEdges } = definition;
  const shape = [
    ...(Array.isArray(rawNodes) ? [] : [toIssue(['nodes'], 'nodes must be an array')]),
    ...(Array.isArray(rawEdges) ? [] : [toIssue(['edges'], 'edges must be an array')]),
  ];
  if (!Array.isArray(rawNodes) || !Array.isArray(rawEdges)) return shape;
  if (rawNodes.length > maxNodes)
    return [toIssue(['nodes'], `A workflow has at most ${maxNodes} nodes, this one ${rawNodes.length}; split it with emit_event`)];
  if (rawEdges.length > maxEdges) return [toIssue(['edges'], `A workflow has at most ${maxEdges} edges, this one ${rawEdges.length}`)];

  const nodes = parseIdentifiedItems(rawNodes, Node, [...definitionLoc, 'nodes']);
  const edges = parseIdentifiedItems(rawEdges, Edge, [...definitionLoc, 'edges']);
  const shaped = nodes.items.map((node) => toTypedNode(node, registry));
  const graphEdges = edges.items.map((edge) => Edge.safeParse(edge).data).filter((edge) => edge !== undefined);
  return [
    ...nodes.issues,
    ...edges.issues,
    ...shaped.flatMap((node) => nodeIssues(node, registry)),
    ...triggerIssues(shaped, graphEdges),
    ...edgeIssues(shaped, graphEdges),
    ...handleIssues(shaped, graphEdges),
    ...reachabilityIssues(shaped, graphEdges),
    ...loopIssues(shaped, graphEdges),
  ];
}

/** An invalid node still counts as a node of the graph, so that one fault is not reported several times. */
function toTypedNode(node: IdentifiedItem, registry: NodeRegistry): TypedNode {
  const type = typeof node['type'] === 'string' ? node['type'] : '';
  return { id: node.id, type, data: isRecord(node['data']) ? node['data'] : {}, nodeType: registry.get(type) };
}

const toIssue = (loc: string[], msg: string): Issue => ({ loc: [...definitionLoc, ...loc], msg, type: 'value_error' });

/** Issues of one node: an unknown type, data that does not fit the type, templates that do not parse. */
function nodeIssues({ id: nodeId, type, data, nodeType }: TypedNode, registry: NodeRegistry): Issue[] {
  if (type === '') return [];
  if (!nodeType) return [toIssue(['nodes', nodeId, 'type'], `Unknown node type "${type}"; known: ${[...registry.keys()].join(', ')}`)];
  const parsed = nodeType.dataSchema.safeParse(data);
  const issues = parsed.success ? [] : toIssues(parsed.error, [...definitionLoc, 'nodes', nodeId, 'data']);
  const isKnown = (one: Issue): boolean => issues.some((other) => other.msg === one.msg && other.loc.join('\n') === one.loc.join('\n'));
  const templates = templateProblems(data).map(({ path, message }) => toIssue(['nodes', nodeId, 'data', ...path], message));
  const withoutEffect = collectWarnings(nodeType.dataSchema, data, [...definitionLoc, 'nodes', nodeId, 'data']);
  const isRendered = ({ loc }: Issue): boolean => !withoutEffect.some((one) => one.loc.every((part, index) => part === loc[index]));
  return [...issues, ...templates.filter((one) => !isKnown(one) && isRendered(one))];
}

/** The nodes and edges of a validated definition, indexed for the interpreter. */
export class Graph {
  readonly startId: string;
  readonly #nodes: Map<string, GraphNode>;
  readonly #edges: Map<string, string>;

  constructor(definition: { nodes: GraphNode[]; edges: Omit<GraphEdge, 'id'>[] }) {
    this.#nodes = new Map(definition.nodes.map((node) => [node.id, node]));
    this.#edges = new Map(definition.edges.map((edge) => [edgeKey(edge.source, edge.source_handle ?? defaultHandle), edge.target]));
    const start = definition.nodes.find((node) => node.type === 'trigger');
    if (!start) throw new Error('a definition without trigger node cannot run');
    this.startId = start.id;
  }

  /** A node with its type. Throws when the graph has no such node. */
  node(nodeId: string): { node: GraphNode; type: NodeType } {
    const node = this.#nodes.get(nodeId);
    const type = node && findNodeType(node.type);
    if (!node || !type) throw new Error(`node "${nodeId}" is not in this version of the journey`);
    return { node, type };
  }

  /** The node at the end of the edge at `handle`; null when there is no edge and the path ends. */
  target(nodeId: string, handle: string): string | null {
    return this.#edges.get(edgeKey(nodeId, handle)) ?? null;
  }
}

const edgeKey = (nodeId: string, handle: string) => `${nodeId}\u0000${handle}`;
