import type { Json } from '../../library/json.ts';
import type { RunState } from '../schemas.ts';
import type { Graph } from './graph.ts';

/** How far a run has come. What its object keeps and what a dry run carries in memory. */
export interface Progress {
  state: RunState;
  nodeId: string | null;
  /** How often each node was entered. */
  visits: Record<string, number>;
  /** Of the current node's current visit, from 1. */
  attempt: number;
  stepCount: number;
  /** Sleeping at the current node until this moment; `historyId` is the record that says so. */
  wait: { until: number; historyId: number } | null;
  /** The next attempt at the current node. */
  retryAt: number | null;
  /** Top-level variables that steps wrote. */
  assigned: Record<string, Json>;
  /** Outputs by node id, the latest visit's. */
  outputs: Record<string, unknown>;
  outcome: string | null;
  error: RunFailure | null;
  startedAt: number;
  endedAt: number | null;
}

export interface RunFailure {
  node_id: string | null;
  message: string;
  type: string;
  attempt: number | null;
}

export const begin = (graph: Graph, now: number): Progress => ({
  state: 'running',
  nodeId: graph.startId,
  visits: { [graph.startId]: 1 },
  attempt: 1,
  stepCount: 0,
  wait: null,
  retryAt: null,
  assigned: {},
  outputs: {},
  outcome: null,
  error: null,
  startedAt: now,
  endedAt: null,
});

/** Along the edge at `handle`, or to the end when there is none. */
export function follow(progress: Progress, graph: Graph, handle: string, now: number): Progress {
  const target = graph.target(progress.nodeId!, handle);
  if (target === null) return end(progress, { state: 'completed', outcome: null }, now);
  return {
    ...progress,
    state: 'running',
    nodeId: target,
    visits: { ...progress.visits, [target]: (progress.visits[target] ?? 0) + 1 },
    attempt: 1,
    stepCount: progress.stepCount + 1,
    wait: null,
    retryAt: null,
  };
}

export interface Ending {
  state: 'completed' | 'failed' | 'cancelled';
  outcome?: string | null;
  error?: RunFailure | null;
}

export const end = (progress: Progress, ending: Ending, now: number): Progress => ({
  ...progress,
  state: ending.state,
  outcome: ending.outcome ?? null,
  error: ending.error ?? null,
  wait: null,
  retryAt: null,
  endedAt: now,
});

/** When a live run has to be woken. */
export const wakeAt = (progress: Progress, deadline: number): number | null => {
  if (progress.endedAt !== null) return null;
  return Math.min(deadline, progress.wait?.until ?? progress.retryAt ?? 0);
};
