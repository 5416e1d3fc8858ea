import type { WorkflowSettings } from '../../definitions/settings.ts';
import type { AdmissionRule } from './rules.ts';
import type { InsertedRun } from './store.ts';
import type { RunSource } from '../store.ts';

/** A run that a cause asks for. The cause gives it a dedup key, so that it is started once however often it is asked for. */
export interface RunCandidate {
  workflow: { id: number; version: number; contextSchema: string; settings: WorkflowSettings };
  triggerId: number | null;
  contactId: number | null;
  dedupKey: string;
  entryKey: string | null;
  source: RunSource;
  sourceId: number | null;
  /** Checked against the workflow's context_schema; kept with the run only when no source keeps it. */
  initialContext: Record<string, unknown>;
  /** Its lineage (library/lineage.ts). */
  depth: number;
  isTest?: boolean;
  /** The run that waits for this one. */
  parentRunId?: number | undefined;
}

/** Bounds of the plan that keep runs out. */
export type PlanRule = 'max_live_runs' | 'max_chained_runs';

/** A candidate that a rule of its workflow, or the plan, kept out. */
export interface Refusal {
  candidate: RunCandidate;
  rule: AdmissionRule | PlanRule;
  message: string;
}

export interface RecordedRuns {
  /** The row of every candidate that is stored, also of those stored by an earlier try. */
  stored: InsertedRun[];
  refused: Refusal[];
}

/** `running`: at once, all or none. `dry`: walked by its request alone; until that is done its row says that it was interrupted. */
export type InitialRunState = 'queued' | 'running' | 'dry';
