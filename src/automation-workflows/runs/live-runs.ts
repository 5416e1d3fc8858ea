import type { Organization } from '../../accounts/context.ts';

// How many runs an organization has live is the sum of its workflows' counters. It is read in the batch that inserts runs, and not
// in each of them: between two looks this isolate adds what it has started, so that it never thinks there are fewer than it started.

const lookEveryMs = 10_000;
const maximumEntries = 10_000;

interface Look {
  at: number;
  live: number;
  startedSince: number;
}

const looks = new Map<number, Look>();

/** The sum, of workflows that may have live runs. */
export const liveRunsSql = (organization: string): string =>
  `(SELECT coalesce(sum(active_runs_count), 0) FROM automation_workflow INDEXED BY automation_workflow_organization
    WHERE organization_id = ${organization} AND status IN ('active', 'paused'))`;

/** Whether it is time to look before `wanted` more are started. */
export function isLookDue({ id, plan }: Organization, wanted: number, now: number): boolean {
  const look = looks.get(id);
  if (!look || now < look.at || now - look.at > lookEveryMs) return true;
  return look.live + look.startedSince + wanted > plan.maxLiveRuns;
}

/** Notes what a look has seen, or without one (null) that `started` more have begun. */
export function noteLive({ id }: Organization, live: number | null, started: number, now: number): void {
  const look = looks.get(id);
  if (live === null) {
    if (look) look.startedSince += started;
    return;
  }
  looks.delete(id);
  if (looks.size >= maximumEntries) looks.delete(looks.keys().next().value!);
  looks.set(id, { at: now, live, startedSince: 0 });
}
