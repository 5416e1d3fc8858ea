import type { Issue } from '../../library/errors.ts';
import { defaultHandle, type NodeType } from '../nodes/contract.ts';

export interface GraphEdge {
  id: string;
  source: string;
  target: string;
  source_handle?: string | null | undefined;
}

export interface TypedNode {
  id: string;
  type: string;
  data: Record<string, unknown>;
  /** Undefined when the type is unknown. */
  nodeType: NodeType | undefined;
}

const toIssue = (loc: string[], msg: string): Issue => ({ loc: ['body', 'definition', ...loc], msg, type: 'value_error' });

const sourceHandle = (edge: GraphEdge): string => edge.source_handle ?? defaultHandle;

/** Issues unless the graph has exactly one trigger node without an edge into it. */
export function triggerIssues(nodes: TypedNode[], edges: GraphEdge[]): Issue[] {
  const triggers = nodes.filter((node) => node.type === 'trigger');
  if (triggers.length === 0) return [toIssue(['nodes'], 'A workflow needs one trigger node, there is none; add a node of type "trigger"')];
  const ids = new Set(triggers.map((node) => node.id));
  return [
    ...triggers.slice(1).map((node) => toIssue(['nodes', node.id], `A workflow has one trigger node; "${triggers[0]!.id}" is one already`)),
    ...edges
      .filter((edge) => ids.has(edge.target))
      .map((edge) => toIssue(['edges', edge.id, 'target'], `No edge may lead to the trigger "${edge.target}"`)),
  ];
}

/** Issues of edges whose source or target does not exist. */
export function edgeIssues(nodes: TypedNode[], edges: GraphEdge[]): Issue[] {
  const ids = new Set(nodes.map((node) => node.id));
  return edges.flatMap((edge) =>
    (['source', 'target'] as const)
      .filter((end) => !ids.has(edge[end]))
      .map((end) => toIssue(['edges', edge.id, end], `There is no node "${edge[end]}"; name an existing node as ${end}`)),
  );
}

/** Issues of edges that leave by a handle that the source does not have, or that another edge already uses. */
export function handleIssues(nodes: TypedNode[], edges: GraphEdge[]): Issue[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const taken = new Map<string, string>();
  const issues: Issue[] = [];
  for (const edge of edges) {
    const source = byId.get(edge.source);
    if (!source?.nodeType) continue;
    const handles = source.nodeType.handles(source.data);
    const handle = sourceHandle(edge);
    const place = `${edge.source}\n${handle}`;
    const other = taken.get(place);
    if (!handles.includes(handle)) issues.push(toIssue(['edges', edge.id, 'source_handle'], unknownHandleMessage(source, edge, handles)));
    else if (other !== undefined)
      issues.push(
        toIssue(
          ['edges', edge.id, 'source_handle'],
          `Edge "${other}" already leaves "${edge.source}" at "${handle}"; one handle leads to one node`,
        ),
      );
    else taken.set(place, edge.id);
  }
  return issues;
}

function unknownHandleMessage(source: TypedNode, edge: GraphEdge, handles: string[]): string {
  const allowed = handles.length > 0 ? `allowed: ${[...new Set(handles)].join(', ')}` : 'nothing may follow it';
  const given = edge.source_handle ? `no handle "${edge.source_handle}"` : 'no handle "default", so source_handle is required';
  return `Node "${source.id}" of type ${source.type} has ${given}; ${allowed}`;
}

/** Issues of nodes that cannot be reached from the trigger. */
export function reachabilityIssues(nodes: TypedNode[], edges: GraphEdge[]): Issue[] {
  const triggers = nodes.filter((node) => node.type === 'trigger').map((node) => node.id);
  if (triggers.length === 0) return [];
  const targets = targetsBySource(edges);
  const reached = new Set(triggers);
  for (const id of reached) for (const target of targets.get(id) ?? []) reached.add(target);
  return nodes
    .filter((node) => !reached.has(node.id))
    .map((node) => toIssue(['nodes', node.id], `No path leads from the trigger to "${node.id}"; connect it or remove it`));
}

/** Issues of loops without a wait node, which would run without a pause: the loops that remain when all wait nodes are removed. */
export function loopIssues(nodes: TypedNode[], edges: GraphEdge[]): Issue[] {
  // triggerIssues reports edges into the trigger.
  const removed = new Set(nodes.filter((node) => node.nodeType?.isWait || node.type === 'trigger').map((node) => node.id));
  const targets = targetsBySource(edges.filter((edge) => !removed.has(edge.source) && !removed.has(edge.target)));
  const reported = new Set<string>();
  const issues: Issue[] = [];
  for (const { id } of nodes) {
    if (reported.has(id)) continue;
    const loop = shortestLoop(id, targets);
    if (!loop) continue;
    for (const member of loop) reported.add(member);
    issues.push(toIssue(['nodes', id], `The loop ${[...loop, id].join(' -> ')} passes no wait; put a wait node into it`));
  }
  return issues;
}

/** The nodes of a shortest loop through `start`, beginning with `start`; null when there is none. */
function shortestLoop(start: string, targets: ReadonlyMap<string, string[]>): string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const id of queue) {
    for (const target of targets.get(id) ?? []) {
      if (target === start) return pathTo(id, start, cameFrom);
      if (cameFrom.has(target)) continue;
      cameFrom.set(target, id);
      queue.push(target);
    }
  }
  return null;
}

function pathTo(end: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path = [end];
  while (path[0] !== start) path.unshift(cameFrom.get(path[0]!)!);
  return path;
}

function targetsBySource(edges: GraphEdge[]): Map<string, string[]> {
  const targets = new Map<string, string[]>();
  for (const edge of edges) targets.set(edge.source, [...(targets.get(edge.source) ?? []), edge.target]);
  return targets;
}
