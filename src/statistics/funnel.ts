import type { Trail } from '../automation-workflows/runs/engine/trail.ts';
import type { EndedRunsRow, LiveRunsRow } from './journey-store.ts';
import { toShare, type Share } from './wilson.ts';

/** Runs by how they ended. */
interface EndCounts {
  completed: number;
  failed: number;
  cancelled: number;
}

/** A node as runs passed it. */
interface FunnelNode {
  node_id: string;
  /** Runs that have reached it, live ones among them. */
  reached: number;
  /** Its share in all runs that have begun. */
  reached_share: Share | null;
  /** Live runs that stand there. */
  waiting: number;
  /** Runs that ended there. */
  ended: EndCounts;
}

/** The runs that took one variant of a split. */
interface SplitVariant {
  node_id: string;
  variant: string;
  runs: number;
  ended: EndCounts;
  /** By outcome of completed runs: how many, and their share in the ended runs of the variant. */
  outcomes: { outcome: string; runs: number; share: Share | null }[];
  /** By node: how many of the variant's runs reached it, and their share. */
  nodes: { node_id: string; reached: number; share: Share | null }[];
}

/** A version of a journey, or all versions together. */
export interface Funnel {
  /** Runs that have begun: they have reached a node. */
  runs: number;
  live: number;
  ended: EndCounts;
  /** Runs that ended before their first node: refused, cancelled, or older than the counting of nodes. */
  without_nodes: number;
  outcomes: Record<string, number>;
  nodes: FunnelNode[];
  variants: SplitVariant[];
}

interface TrailRuns {
  nodes: string[];
  variants: Record<string, string>;
  runs: number;
  /** Null: they are live. */
  state: string | null;
  outcome: string;
  /** Where they stand or ended. */
  node: string;
}

/** The funnel of ended and live runs. */
export function toFunnel(ended: readonly EndedRunsRow[], live: readonly LiveRunsRow[]): Funnel {
  const all = [...ended.map(fromEnded), ...live.map(fromLive)];
  const begun = all.filter(({ nodes }) => nodes.length > 0);
  const runs = total(begun);
  const at = Map.groupBy(begun, ({ node }) => node);
  const nodes = countReached(begun).map(({ node_id, reached }): FunnelNode => {
    const there = at.get(node_id) ?? [];
    return { node_id, reached, reached_share: toShare(reached, runs), waiting: total(there.filter(isLive)), ended: toEndCounts(there) };
  });
  return {
    runs,
    live: total(all.filter(isLive)),
    ended: toEndCounts(all),
    without_nodes: total(all.filter((one) => !isLive(one) && one.nodes.length === 0)),
    outcomes: toOutcomes(all),
    nodes,
    variants: toVariants(begun),
  };
}

/** How many runs have reached each node, the most frequent first. */
function countReached(rows: readonly TrailRuns[]): { node_id: string; reached: number }[] {
  const counts = new Map<string, number>();
  for (const { nodes, runs } of rows) for (const id of nodes) counts.set(id, (counts.get(id) ?? 0) + runs);
  return [...counts]
    .map(([node_id, reached]) => ({ node_id, reached }))
    .toSorted((one, other) => other.reached - one.reached || (one.node_id < other.node_id ? -1 : 1));
}

function readTrail(text: string): Pick<TrailRuns, 'nodes' | 'variants'> {
  if (text === '') return { nodes: [], variants: {} };
  const { nodes, variants = {} } = JSON.parse(text) as Trail;
  return { nodes, variants };
}

const fromEnded = ({ trail, runs, state, outcome, end_node: node }: EndedRunsRow): TrailRuns => ({
  ...readTrail(trail),
  runs,
  state,
  outcome,
  node,
});
const fromLive = ({ trail, runs, node }: LiveRunsRow): TrailRuns => ({ ...readTrail(trail), runs, state: null, outcome: '', node });

const isLive = ({ state }: TrailRuns): boolean => state === null;
const total = (rows: readonly TrailRuns[]): number => rows.reduce((sum, { runs }) => sum + runs, 0);

const toEndCounts = (rows: readonly TrailRuns[]): EndCounts => ({
  completed: total(rows.filter(({ state }) => state === 'completed')),
  failed: total(rows.filter(({ state }) => state === 'failed')),
  cancelled: total(rows.filter(({ state }) => state === 'cancelled')),
});

/** The outcomes of completed runs, the most frequent first. */
function toOutcomes(rows: readonly TrailRuns[]): Record<string, number> {
  const named = rows.filter(({ state, outcome }) => state === 'completed' && outcome !== '');
  const counts = [...Map.groupBy(named, ({ outcome }) => outcome)].map(([outcome, own]) => [outcome, total(own)] as const);
  return Object.fromEntries(counts.toSorted(([, one], [, other]) => other - one));
}

function toVariants(begun: readonly TrailRuns[]): SplitVariant[] {
  const taken = begun.flatMap((run) => Object.entries(run.variants).map(([nodeId, variant]) => ({ nodeId, variant, run })));
  const groups = [...Map.groupBy(taken, ({ nodeId, variant }) => JSON.stringify([nodeId, variant])).values()];
  return groups
    .map((own) =>
      toVariant(
        own[0]!,
        own.map(({ run }) => run),
      ),
    )
    .toSorted(byNodeAndVariant);
}

function toVariant({ nodeId, variant }: { nodeId: string; variant: string }, rows: TrailRuns[]): SplitVariant {
  const runs = total(rows);
  const ended = toEndCounts(rows);
  const endedRuns = ended.completed + ended.failed + ended.cancelled;
  return {
    node_id: nodeId,
    variant,
    runs,
    ended,
    outcomes: Object.entries(toOutcomes(rows)).map(([outcome, count]) => ({ outcome, runs: count, share: toShare(count, endedRuns) })),
    nodes: countReached(rows)
      .filter(({ node_id: id }) => id !== nodeId)
      .map(({ node_id, reached }) => ({ node_id, reached, share: toShare(reached, runs) })),
  };
}

const byNodeAndVariant = (one: SplitVariant, other: SplitVariant): number =>
  one.node_id === other.node_id ? (one.variant < other.variant ? -1 : 1) : one.node_id < other.node_id ? -1 : 1;
