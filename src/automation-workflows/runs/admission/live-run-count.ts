import type { Organization } from '../../../context.ts';

// How many runs an organization has live is the sum of its workflows' counters. It is read in the batch that inserts runs, and not
// in each of them: between two looks this isolate adds what it has started, so that it never thinks there are fewer than it started.

const countIntervalMs = 10_000;
const maxEntries = 10_000;

interface CountSnapshot {
  at: number;
  live: number;
  startedSince: number;
}

const snapshots = new Map<number, CountSnapshot>();

/** The sum, of workflows that may have live runs. */
export const liveRunsSql = (organization: string): string =>
  `(SELECT coalesce(sum(active_runs_count), 0) FROM automation_workflow INDEXED BY automation_workflow_organization
    WHERE organization_id = ${organization} AND status IN ('active', 'paused'))`;

/** Whether it is time to look before `wanted` more are started. */
export function isCountDue({ id, plan }: Organization, wanted: number, now: number): boolean {
  const look = snapshots.get(id);
  if (!look || now < look.at || now - look.at > countIntervalMs) return true;
  return look.live + look.startedSince + wanted > plan.maxLiveRuns;
}

/** Notes what a look has seen, or without one (null) that `started` more have begun. */
export function recordLiveCount({ id }: Organization, live: number | null, started: number, now: number): void {
  const look = snapshots.get(id);
  if (live === null) {
    if (look) look.startedSince += started;
    return;
  }
  snapshots.delete(id);
  if (snapshots.size >= maxEntries) snapshots.delete(snapshots.keys().next().value!);
  snapshots.set(id, { at: now, live, startedSince: 0 });
}
