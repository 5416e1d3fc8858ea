import { z } from 'zod';
import { warningsOf } from '../library/config-object.ts';
import type { Issue } from '../library/errors.ts';
import { readIdentified, type Identified } from '../library/identified-items.ts';
import { isRecord } from '../library/json.ts';
import { issuesOf } from '../library/schema-issues.ts';
import { edgeIssues, handleIssues, loopIssues, reachIssues, triggerIssues, type ShapedNode } from './graph-rules.ts';
import type { GraphNode } from './nodes/contract.ts';
import type { NodeRegistry } from './nodes/registry.ts';
import { templateProblems } from './templates.ts';

export const maximumNodes = 200;
const maximumEdges = 4000;

const id = z.string().min(1).max(100);

/** Graph editors keep more on nodes and edges (sizes, colours); that is theirs and ignored. */
const Node = z.object({
  id,
  type: z.string().min(1),
  name: z.string().max(200).nullish(),
  data: z.record(z.string(), z.unknown()).nullish(),
});
const Edge = z.object({ id, source: z.string(), target: z.string(), source_handle: z.string().nullish() });

export type GraphEdge = z.infer<typeof Edge>;
export interface Definition {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

const root = ['body', 'definition'];

/** The graph of a definition that `validateGraph` found nothing wrong with; throws ZodError for any other. */
export function parseDefinition(definition: unknown): Definition {
  const { nodes, edges } = z.object({ nodes: z.array(Node), edges: z.array(Edge) }).parse(definition);
  return {
    nodes: nodes.map(({ id: nodeId, type, name, data }) => ({ id: nodeId, type, name: name ?? undefined, data: data ?? {} })),
    edges,
  };
}

/** Every problem of a graph, `loc` naming the node or edge by its id (by its position when it has none). Empty: it may go active. */
export function validateGraph(definition: unknown, registry: NodeRegistry): Issue[] {
  if (!isRecord(definition)) return [problem([], 'A definition is an object { nodes, edges }')];
  const { nodes: rawNodes, edges: rawEdges } = definition;
  const shape = [
    ...(Array.isArray(rawNodes) ? [] : [problem(['nodes'], 'nodes must be an array')]),
    ...(Array.isArray(rawEdges) ? [] : [problem(['edges'], 'edges must be an array')]),
  ];
  if (!Array.isArray(rawNodes) || !Array.isArray(rawEdges)) return shape;
  if (rawNodes.length > maximumNodes)
    return [problem(['nodes'], `A workflow has at most ${maximumNodes} nodes, this one ${rawNodes.length}; split it with emit_event`)];
  if (rawEdges.length > maximumEdges)
    return [problem(['edges'], `A workflow has at most ${maximumEdges} edges, this one ${rawEdges.length}`)];

  const nodes = readIdentified(rawNodes, Node, [...root, 'nodes']);
  const edges = readIdentified(rawEdges, Edge, [...root, 'edges']);
  const shaped = nodes.items.map((node) => shapeOf(node, registry));
  const graphEdges = edges.items.map((edge) => Edge.safeParse(edge).data).filter((edge) => edge !== undefined);
  return [
    ...nodes.issues,
    ...edges.issues,
    ...shaped.flatMap((node) => nodeIssues(node, registry)),
    ...triggerIssues(shaped, graphEdges),
    ...edgeIssues(shaped, graphEdges),
    ...handleIssues(shaped, graphEdges),
    ...reachIssues(shaped, graphEdges),
    ...loopIssues(shaped, graphEdges),
  ];
}

/** A node with a fault of its own still takes its place in the graph, so that one fault is not reported as several. */
function shapeOf(node: Identified, registry: NodeRegistry): ShapedNode {
  const type = typeof node['type'] === 'string' ? node['type'] : '';
  return { id: node.id, type, data: isRecord(node['data']) ? node['data'] : {}, nodeType: registry.get(type) };
}

const problem = (loc: string[], msg: string): Issue => ({ loc: [...root, ...loc], msg, type: 'value_error' });

/** Unknown type, data that does not fit it, templates that do not parse. */
function nodeIssues({ id: nodeId, type, data, nodeType }: ShapedNode, registry: NodeRegistry): Issue[] {
  if (type === '') return [];
  if (!nodeType) return [problem(['nodes', nodeId, 'type'], `Unknown node type "${type}"; known: ${[...registry.keys()].join(', ')}`)];
  const parsed = nodeType.dataSchema.safeParse(data);
  const issues = parsed.success ? [] : issuesOf(parsed.error, [...root, 'nodes', nodeId, 'data']);
  const isKnown = (one: Issue): boolean => issues.some((other) => other.msg === one.msg && other.loc.join('\n') === one.loc.join('\n'));
  const templates = templateProblems(data).map(({ path, message }) => problem(['nodes', nodeId, 'data', ...path], message));
  const withoutEffect = warningsOf(nodeType.dataSchema, data, [...root, 'nodes', nodeId, 'data']);
  const isRendered = ({ loc }: Issue): boolean => !withoutEffect.some((one) => one.loc.every((part, index) => part === loc[index]));
  return [...issues, ...templates.filter((one) => !isKnown(one) && isRendered(one))];
}
