import { defaultHandle, type GraphNode, type NodeType } from '../../nodes/contract.ts';
import { findNodeType } from '../../nodes/registry.ts';

interface Edge {
  source: string;
  target: string;
  source_handle?: string | null | undefined;
}

/** A validated definition, indexed for walking. */
export class Graph {
  readonly startId: string;
  readonly #nodes: Map<string, GraphNode>;
  readonly #edges: Map<string, string>;

  constructor(definition: { nodes: GraphNode[]; edges: Edge[] }) {
    this.#nodes = new Map(definition.nodes.map((node) => [node.id, node]));
    this.#edges = new Map(definition.edges.map((edge) => [edgeKey(edge.source, edge.source_handle ?? defaultHandle), edge.target]));
    const start = definition.nodes.find((node) => node.type === 'trigger');
    if (!start) throw new Error('a definition without trigger node cannot run');
    this.startId = start.id;
  }

  node(id: string): { node: GraphNode; type: NodeType } {
    const node = this.#nodes.get(id);
    const type = node && findNodeType(node.type);
    if (!node || !type) throw new Error(`node "${id}" is not in this version of the journey`);
    return { node, type };
  }

  /** Where the edge at `handle` leads; null when there is none and the path ends. */
  target(id: string, handle: string): string | null {
    return this.#edges.get(edgeKey(id, handle)) ?? null;
  }
}

const edgeKey = (id: string, handle: string) => `${id}\u0000${handle}`;
