import type { CallResult } from '../../../calls/records/call-result.ts';
import type { ChildResult, Effects, GraphNode } from '../../nodes/contract.ts';
import type { WorkflowSettings } from '../../definitions/settings.ts';
import type { Scope } from '../../../expressions/templates/render.ts';
import type { EventWait, Progress } from './progress.ts';
import type { RunEvent } from '../cause.ts';
import type { Graph } from '../../definitions/definition.ts';

/** The data that a run reads before it takes a step. */
export interface StepContext {
  scope: Scope;
  /** Whether side effects are held because the workflow is paused. */
  isPaused: boolean;
  /** Whether the row says that the run has ended, although its object goes on: the row was ended while the object began. */
  isOver?: boolean;
}

/** Everything outside a run that the interpreter needs. An object, a dry run and a test each provide their own. */
export interface RunDependencies {
  runId: number;
  graph: Graph;
  settings: WorkflowSettings;
  /** Epoch ms at which the run fails with `timeout`. */
  deadline: number;
  organization: { default_country: string; timezone: string };
  effects: Effects;
  dryRun: boolean;
  now(): number;
  random(): number;
  /** Reads the scope for a step. `node` has its secrets opened. */
  loadStepContext(progress: Progress, node: GraphNode): Promise<StepContext>;
  /** The node's data with its secrets opened. */
  openSecrets(data: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Registers the wait, so that events find the run. Answers the newest event's id, and matching events that came before, oldest first. */
  subscribe(wait: EventWait, taken: readonly number[]): Promise<{ afterId: number; found: RunEvent[] }>;
  /** The result of the run that this run waits for; null while that run lives. */
  childResult(runId: number): Promise<ChildResult | null>;
  /** The result of a call that this run requested; null while the call has not ended. */
  callResult(callRunId: number): Promise<CallResult | null>;
  /** Withdraws a call that has not been dialled; `item` is its name within the run. Repeatable. */
  withdrawCall(item: string): Promise<void>;
  /** Whether to stop between two steps although the run can go on. */
  shouldYield(): boolean;
}
