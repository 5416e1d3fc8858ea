import type { z } from '@hono/zod-openapi';
import { callDurableObject } from '../library/platform/call-durable-object.ts';
import type { MoveAnswer } from './runs/moves/move-obstacle.ts';
import type { Ending } from './runs/engine/progress.ts';
import type { ReviveResult } from './runs/lifecycle/store.ts';
import type { WriteTogether } from './runs/engine/shared-projections.ts';
import type { RunFacts, RunRow } from './runs/store.ts';
import type { RunState } from './run-states.ts';
import type { HistoryRecord, RunError, RunInterruption } from './runs/schemas.ts';

/** `unknown`: the run has no row. `ended`: the row or the object says that the run has ended. */
export type StartAnswer = 'started' | 'running' | 'ended' | 'unknown';

/** An ending that does not come from the run's own steps. */
export interface ExternalEnding extends Ending {
  state: 'cancelled' | 'completed';
}

/**
 * What a run did with an event. `taken`: the event ended the wait. `kept`: the run still waits. `stale`: the run does not wait at this
 * record. `later`: the run is just falling asleep; deliver the event again.
 */
export type EventDelivery = 'taken' | 'kept' | 'stale' | 'later';

/** `refused` null: the run goes on. `gone`: the object no longer exists. `state`: the run has not failed, but is in `state`. */
export interface RetryAnswer {
  refused: 'gone' | 'state' | Exclude<ReviveResult, 'revived'> | null;
  state: RunState | null;
}

/** Variables and outputs that the steps added to the context. */
export interface ContextChanges {
  assigned: Record<string, unknown>;
  outputs: Record<string, unknown>;
}

/** The fields of a run that its object knows before the row does. Moments in epoch ms. */
export interface LiveRun {
  state: RunRow['state'];
  currentNodeId: string | null;
  outcome: string | null;
  error: z.infer<typeof RunError> | null;
  /** Why the run stands still although it could go on. */
  hold: RunRow['hold'];
  voiceCallRunId: number | null;
  trouble: z.infer<typeof RunInterruption> | null;
  changes: ContextChanges;
  startedAt: number | null;
  endedAt: number | null;
}

/** Records of a history, oldest first, and how many there are in all. */
export interface HistoryPage {
  records: HistoryRecord[];
  total: number;
}

/** The RPC surface of one run's Durable Object. Every method may be called again: a repeat changes nothing. */
export interface RunObject {
  /**
   * Starts the run, or makes sure that it goes on. A run whose row says that it has ended is not started again. `facts`: the row as the caller
   * has just read it, which saves a read. `writeTogether` of a run that is `started`: for the row after its first steps.
   */
  start(organizationId: number, runId: number, facts?: RunFacts, writeTogether?: WriteTogether): Promise<StartAnswer>;
  /** The run as it is now, after its row was brought up to date; null when the object is gone and the row is final. */
  snapshot(): Promise<LiveRun | null>;
  /** Whether the run has ended, after its row was brought up to date. False when there is no object. */
  hasEnded(): Promise<boolean>;
  /** A page of the history; null when the object is gone and the history is in R2. */
  history(page: { limit: number; offset: number }): Promise<HistoryPage | null>;
  /**
   * Ends a live run. `reason` is written into the record of the wait that the end cuts short. True when this `request` ended the run, also
   * when it is sent again; false when the run had ended before, or has no object.
   */
  stop(ending: ExternalEnding, request: string, reason?: string): Promise<boolean>;
  /**
   * Delivers an event (JSON of a RunEvent) to a run that waits at the history record `waitId`. `writeTogether` of an event that is `taken`: for the
   * row after the next steps.
   */
  deliverEvent(json: string, waitId: number, writeTogether?: WriteTogether): Promise<EventDelivery>;
  /** Another run has ended. The object reads the result itself if its run waits for that run. */
  childEnded(runId: number): Promise<void>;
  /** A call has ended or was returned undialled. The object reads the result itself if its run waits for that call. */
  callSettled(callRunId: number): Promise<void>;
  /** Takes the step that was held while the workflow was paused. False when there is no object. */
  releaseHold(): Promise<boolean>;
  /** Deletes an ended run's object with the personal data in it. `busy`: the run lives, or the work after its end is under way. */
  erase(): Promise<'gone' | 'busy'>;
  /** Continues a failed run from the node where it failed, on the given version of its workflow. */
  retry(version: number): Promise<RetryAnswer>;
  /**
   * Has a waiting run go on in another version of its workflow, if the node at which it waits is there with the same type. `moveId` names the move: asked
   * for again, it answers `moved` again. `no_object`: the run has not begun, or is over.
   */
  moveToVersion(version: number, moveId: number): Promise<MoveAnswer | 'no_object'>;
  /** Deletes the object's storage and alarm, whatever the run is doing: its organization is being deleted. */
  deleteAllData(): Promise<void>;
}

/**
 * Calls the object of a run, and calls again when the connection broke. Throws what the object throws, and the platform's error after
 * three tries.
 *
 * @example const live = await callRun(bindings, organization.id, runId, (run) => run.snapshot());
 */
export async function callRun<Answer>(
  bindings: Env,
  organizationId: number,
  runId: number,
  call: (run: RunObject) => Promise<Answer>,
): Promise<Answer> {
  const stub = () => bindings.AUTOMATION_RUN.getByName(`${organizationId}/${runId}`) as unknown as RunObject;
  return callDurableObject(stub, call);
}
