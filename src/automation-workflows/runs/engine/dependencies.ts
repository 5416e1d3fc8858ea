import type { CallResult } from '../../../calls/records/call-result.ts';
import type { ChildResult, Effects, GraphNode } from '../../nodes/contract.ts';
import type { WorkflowSettings } from '../../definitions/settings.ts';
import type { Scope } from '../../../expressions/templates/render.ts';
import type { EventWait, Progress } from './progress.ts';
import type { RunEvent } from '../cause.ts';
import type { Graph } from '../../definitions/definition.ts';

/** What a run reads before it takes a step. */
export interface StepContext {
  scope: Scope;
  /** Whether side effects have to wait until the workflow goes on. */
  isPaused: boolean;
}

/** Everything outside a run that its walk needs, so that it can be walked in an object, in a dry run and in a test. */
export interface RunDependencies {
  runId: number;
  graph: Graph;
  settings: WorkflowSettings;
  /** Epoch ms after which the run is given up. */
  deadline: number;
  organization: { default_country: string; timezone: string };
  effects: Effects;
  dryRun: boolean;
  now(): number;
  random(): number;
  /** `node` has its secrets opened. */
  loadStepContext(progress: Progress, node: GraphNode): Promise<StepContext>;
  /** The node's data with its secrets opened. */
  openSecrets(data: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Has events find the run while it sleeps. Answers the newest event's id, and the events that had come before, oldest first. */
  subscribe(sleep: EventWait, taken: readonly number[]): Promise<{ afterId: number; found: RunEvent[] }>;
  /** How the run that this one waits for has ended; null while it lives. */
  childResult(runId: number): Promise<ChildResult | null>;
  /** How a call that this run asked for has ended; null while it has not. */
  callResult(callRunId: number): Promise<CallResult | null>;
  /** Takes back a call that has not been dialled; `item` names it within the run. Repeatable. */
  withdrawCall(item: string): Promise<void>;
  /** Whether to stop between two steps although there is more to do. */
  shouldYield(): boolean;
}
