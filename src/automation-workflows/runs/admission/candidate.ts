import type { WorkflowSettings } from '../../definitions/settings.ts';
import type { AdmissionRule } from './rules.ts';
import type { InsertedRun } from './store.ts';
import type { RunSource } from '../store.ts';

/** A run to be started. Its dedup key comes from its cause, so that the run starts once, however often the cause is handled. */
export interface RunCandidate {
  workflow: { id: number; version: number; contextSchema: string; settings: WorkflowSettings };
  triggerId: number | null;
  contactId: number | null;
  dedupKey: string;
  entryKey: string | null;
  source: RunSource;
  sourceId: number | null;
  /** Checked against the workflow's context_schema. Stored with the run only when no event or delivery stores it. */
  initialContext: Record<string, unknown>;
  /** Its lineage (library/lineage.ts). */
  depth: number;
  isTest?: boolean;
  /** The run that waits for this one. */
  parentRunId?: number | undefined;
}

/** Limits of the plan that refuse runs. */
export type PlanRule = 'max_live_runs' | 'max_chained_runs';

/** A candidate that a rule of its workflow, or a limit of the plan, refused. */
export interface Refusal {
  candidate: RunCandidate;
  rule: AdmissionRule | PlanRule;
  message: string;
}

export interface RecordedRuns {
  /** The row of every candidate that is recorded, now or by an earlier try. */
  stored: InsertedRun[];
  /** Ids of the runs that this call has inserted, and nobody before. */
  inserted: number[];
  /** Ids of runs that `max_active_runs` no longer holds, which may be runs of earlier candidates. */
  released: number[];
  refused: Refusal[];
}

/** `running`: starts at once, all candidates or none. `dry`: the request simulates the run; until then the row is failed with `interrupted`. */
export type InitialRunState = 'queued' | 'running' | 'dry';
