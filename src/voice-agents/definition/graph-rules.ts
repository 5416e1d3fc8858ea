import type { Issue } from '../../library/errors.ts';
import { definitionIssue } from './issues.ts';

export interface ShapedNode {
  id: string;
  type: string;
  data: Record<string, unknown>;
}

export interface ShapedEdge {
  id: string;
  source: string;
  target: string;
}

const conversationNodeTypes = new Set(['startCall', 'agentNode', 'endCall', 'transfer']);
const unconnectedNodeTypes = new Set(['globalNode', 'webhook']);

/** Checks that there is one start node and at most one global node. */
export function countIssues(nodes: ShapedNode[]): Issue[] {
  const starts = nodes.filter(({ type }) => type === 'startCall');
  const globals = nodes.filter(({ type }) => type === 'globalNode');
  const missing = starts.length === 0 ? [definitionIssue(['nodes'], 'An agent needs one startCall node, there is none; add one')] : [];
  const repeated = (all: ShapedNode[], many: string) =>
    all.slice(1).map(({ id, type }) => definitionIssue(['nodes', id], `An agent has ${many} ${type} node; "${all[0]!.id}" is one already`));
  return [...missing, ...repeated(starts, 'one'), ...repeated(globals, 'at most one')];
}

/** Checks that both ends of each edge exist and that their types may have such an edge. */
export function edgeIssues(nodes: ShapedNode[], edges: ShapedEdge[]): Issue[] {
  const types = new Map(nodes.map(({ id, type }) => [id, type]));
  return edges.flatMap((edge) =>
    (['source', 'target'] as const).flatMap((end) => {
      const fault = edgeEndProblem(edge[end], end, types);
      return fault === null ? [] : [definitionIssue(['edges', edge.id, end], fault)];
    }),
  );
}

function edgeEndProblem(id: string, end: 'source' | 'target', types: ReadonlyMap<string, string>): string | null {
  const type = types.get(id);
  if (type === undefined) return `There is no node "${id}"; name an existing node as ${end}`;
  if (unconnectedNodeTypes.has(type)) return `"${id}" is a ${type} node, which has no edges; remove this one`;
  if (type === 'endCall' && end === 'source') return `"${id}" ends the call, so no edge may leave it; use an agentNode to go on`;
  if (type === 'startCall' && end === 'target') return `No edge may lead to the start "${id}"; use an agentNode to come back to`;
  return null;
}

/** Checks that at most one edge leaves a transfer, for a call that nobody has taken, and that it leads to a node that talks. */
export function transferIssues(nodes: ShapedNode[], edges: ShapedEdge[]): Issue[] {
  const transfers = new Set(nodes.filter(({ type }) => type === 'transfer').map(({ id }) => id));
  const leaving = [...Map.groupBy(edges, ({ source }) => source)].filter(([source]) => transfers.has(source));
  return leaving.flatMap(([source, [first, ...others]]) => {
    const repeated = `"${source}" is a transfer, which one edge leaves, for a call that nobody takes; remove this one`;
    const issues = others.map(({ id }) => definitionIssue(['edges', id, 'source'], repeated));
    if (transfers.has(first!.target))
      issues.push(definitionIssue(['edges', first!.id, 'target'], `"${source}" is a transfer; lead its edge to an agentNode or endCall`));
    return issues;
  });
}

/** Checks that each node of the conversation can be reached from a start node. */
export function reachIssues(nodes: ShapedNode[], edges: ShapedEdge[]): Issue[] {
  const reached = new Set(nodes.filter(({ type }) => type === 'startCall').map(({ id }) => id));
  if (reached.size === 0) return [];
  const targets = Map.groupBy(edges, ({ source }) => source);
  for (const id of reached) for (const { target } of targets.get(id) ?? []) reached.add(target);
  return nodes
    .filter(({ id, type }) => conversationNodeTypes.has(type) && !reached.has(id))
    .map(({ id }) => definitionIssue(['nodes', id], `No path leads from the start to "${id}"; connect it or remove it`));
}
