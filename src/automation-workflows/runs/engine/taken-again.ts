import { findNodeType } from '../../nodes/registry.ts';
import type { GraphNode } from '../../nodes/contract.ts';
import type { Graph } from '../../definitions/definition.ts';
import type { HistoryEntry } from './history.ts';

/** What may be another at the second time: the contact, which the effect itself may have changed, and the time. */
const isChangeable = ({ data }: GraphNode): boolean => /contact|now|today/i.test(JSON.stringify(data));

/**
 * Whether a step needs no record before it is taken: a crash would have it and the steps before it, of which nothing is stored, taken again,
 * and all come out the same. `unstored`: those steps; null: the run is in tables.
 */
export function canBeTakenAgain(graph: Graph, unstored: readonly Pick<HistoryEntry, 'nodeId'>[] | null, node: GraphNode): boolean {
  if (unstored === null) return false;
  const nodes = [...unstored.map(({ nodeId }) => graph.node(nodeId).node), node];
  return nodes.every((one) => findNodeType(one.type)?.comesOutTheSame === true && !isChangeable(one));
}
