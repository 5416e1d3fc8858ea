import type { Json } from '../../../library/json/json.ts';
import type { EventSubscription, TokenUsage } from '../../nodes/contract.ts';
import type { RunState } from '../../run-states.ts';
import { addExact, parseDuration } from '../../../library/time/durations.ts';
import type { WorkflowSettings } from '../../definitions/settings.ts';
import type { Graph } from '../../definitions/definition.ts';

/**
 * The state of a run between two steps: JSON in its object's storage, or in memory during a dry run. The names of fields are stored, so they
 * are never renamed.
 */
export interface Progress {
  state: RunState;
  nodeId: string | null;
  /** How often each node was entered. */
  visits: Record<string, number>;
  /** Of the current node's current visit, from 1. */
  attempt: number;
  /** The attempt from which the retry policy counts: a person's retry gives a visit its attempts anew. */
  firstAttempt?: number;
  stepCount: number;
  /** Epoch ms at which the current visit began. */
  enteredAt?: number;
  /** The wait at the current node; its `historyId` is the history record of the wait. */
  wait: Wait | null;
  /** Epoch ms of the next attempt at the current node. */
  retryAt: number | null;
  /** Top-level variables that steps set. */
  assigned: Record<string, Json>;
  /** The output of each node's latest visit, by node id. */
  outputs: Record<string, unknown>;
  outcome: string | null;
  error: RunFailure | null;
  startedAt: number;
  endedAt: number | null;
  /** Ids of the event that started the run and of events that its waits took, latest last. No wait takes one of them again. */
  takenEvents?: number[];
  /** The event that ended the run by `exit_on`. */
  exitEventId?: number | undefined;
  /** Waits that have ended while their rows in `run_waiter` may still exist. */
  leftWaits?: LeftWait[];
  /** The call that the current visit places. */
  call?: VisitCall | undefined;
  /** Items of calls that the run does not wait for, latest last. They are withdrawn when the run is stopped. */
  unwaitedCalls?: string[];
  /** Items of calls that the run no longer waits for and has still to withdraw. */
  leftCalls?: string[];
  /** The latest variant of each split that the run has passed. */
  variants?: Record<string, string>;
  /** The tokens of all answers of language models. */
  usage?: TokenUsage;
  /** The id of the latest call's run. */
  voiceCallRunId?: number;
  /** The version of the workflow that a retry under way continues with. */
  retryVersion?: number | undefined;
  /** A move to another version that is under way. Whoever loads the run completes it first. */
  move?: VersionMove | undefined;
  /** The latest move that has moved the run. The same move asked for again gets the same answer. */
  movedBy?: number;
  /** For how many ends (the first, and one after each retry) triggers and the parent run have been notified. */
  toldEnds?: number;
  /** How often the run was retried by a person, and when last. The timeout counts from the last retry. */
  retries?: number;
  retriedAt?: number;
  /** A failure that no step caused and that keeps the run from going on. */
  failing?: StallRetry | undefined;
  /** A failure of the platform after which the current attempt is tried again. It does not count as an attempt. */
  trouble?: PlatformRetry | undefined;
  /** The id of the request that stopped the run. The same request sent again gets the same answer. */
  stoppedBy?: string;
}

export type Wait =
  /** Runs written by earlier versions of the service have no `kind`. */
  | { kind?: 'time'; until: number; historyId: number }
  | EventWait
  /**
   * Until another run has ended. `pokes` counts the notifications about that run; `asked` is the count at the last check of its result. While
   * `asked` is lower, the result is checked again.
   */
  | { kind: 'run'; until: null; historyId: number; runId: number; pokes: number; asked: number; look?: PollSchedule }
  | CallWait
  /** A side effect that is held: the workflow is paused, or quiet hours last until a moment. */
  | { kind: 'paused'; until: null; historyId: number; look?: PollSchedule }
  | { kind: 'quiet'; until: number; historyId: number };

/** Until a call has ended; `runId` is its run. */
export interface CallWait {
  kind: 'call';
  until: number;
  historyId: number;
  runId: number;
  /** As in the wait for another run. */
  pokes: number;
  asked: number;
  look?: PollSchedule;
}

export interface EventWait {
  kind: 'event';
  until: number;
  historyId: number;
  events: EventSubscription;
  /** The id of the newest event when the row in `run_waiter` was written; null before. */
  afterId: number | null;
  /** The event that ends the wait. */
  takenEventId?: number;
}

export interface VersionMove {
  id: number;
  from: number;
  to: number;
  /** The type of the node at which the run waits, in both versions. */
  nodeType: string;
}

export interface PlatformRetry {
  /** The attempt during which the platform failed. */
  attempt: number;
  /** The history record of the step; null when the platform failed outside a step. */
  historyId: number | null;
  /** How many tries failed. */
  tries: number;
  /** Epoch ms of the first failure, and of the next try. */
  since: number;
  nextTryAt: number;
  /** A message such as `waiting for the database: D1 DB is overloaded`. */
  why: string;
  /** How many tries certainly sent nothing to the outside. */
  unaskedTries: number;
  /** An earlier try reached the side effect. */
  mayHaveHappened: boolean;
}

export interface VisitCall {
  /** From 1. A call's key names one attempt forever, so a call that was returned undialled is requested again under the next number. */
  number: number;
  /** Whether the call may have been requested and has not ended. */
  isAsked: boolean;
  /** Epoch ms until which the run waits for the call; null: set when the call is requested. */
  until: number | null;
}

export interface LeftWait {
  waitId: number;
  events: Pick<EventSubscription, 'types' | 'field' | 'value'>;
  /** The event that ended the wait. */
  takenEventId?: number;
}

interface StallRetry {
  since: number;
  tries: number;
  /** Epoch ms; null: the timer's own backoff decides. */
  nextTryAt: number | null;
}

interface RunFailure {
  node_id: string | null;
  message: string;
  type: string;
  attempt: number | null;
}

/** The state of a new run. `ownEvent` is the id of the event that started the run; no wait of the run takes that event. */
export const startProgress = (graph: Pick<Graph, 'startId'>, now: number, ownEvent: number | null = null): Progress => ({
  state: 'running',
  nodeId: graph.startId,
  visits: { [graph.startId]: 1 },
  attempt: 1,
  stepCount: 0,
  enteredAt: now,
  wait: null,
  retryAt: null,
  assigned: {},
  outputs: {},
  outcome: null,
  error: null,
  startedAt: now,
  endedAt: null,
  takenEvents: ownEvent === null ? [] : [ownEvent],
});

/** Moves to the node at the end of the edge at `handle`; without an edge, the run completes. `now` in epoch ms. */
export function followEdge(progress: Progress, graph: Graph, handle: string, now: number): Progress {
  const target = graph.target(progress.nodeId!, handle);
  if (target === null) return endProgress(progress, { state: 'completed', outcome: null }, now);
  return {
    ...leaveWait(progress),
    call: undefined,
    nodeId: target,
    visits: { ...progress.visits, [target]: (progress.visits[target] ?? 0) + 1 },
    attempt: 1,
    firstAttempt: 1,
    stepCount: progress.stepCount + 1,
    enteredAt: now,
    retryAt: null,
    trouble: undefined,
  };
}

/** Ends the wait and stays at its node. */
export const leaveWait = (progress: Progress): Progress => ({ ...progress, state: 'running', wait: null, ...withoutCurrentWait(progress) });

export interface Ending {
  state: 'completed' | 'failed' | 'cancelled';
  outcome?: string | null;
  error?: RunFailure | null;
  /** The event that ends the run by `exit_on`. */
  exitEventId?: number | undefined;
}

/** Ends the run. `now` in epoch ms. */
export const endProgress = (progress: Progress, ending: Ending, now: number): Progress => ({
  ...progress,
  state: ending.state,
  outcome: ending.outcome ?? null,
  error: ending.error ?? null,
  exitEventId: ending.exitEventId,
  wait: null,
  ...withoutCurrentWait(progress),
  ...withoutCurrentCall(progress),
  retryAt: null,
  trouble: undefined,
  endedAt: now,
});

/** Ends the run from outside its steps. Calls that it has requested are withdrawn. */
export function abortProgress(progress: Progress, ending: Ending, now: number): Progress {
  const ended = endProgress(progress, ending, now);
  return { ...ended, leftCalls: [...(ended.leftCalls ?? []), ...(progress.unwaitedCalls ?? [])], unwaitedCalls: [] };
}

export const currentCall = ({ call }: Progress): VisitCall => call ?? { number: 1, isAsked: false, until: null };

/** The item of the current visit's call: its name within the run. */
export const currentCallItem = (progress: Progress): string =>
  toCallItem(progress.nodeId!, progress.visits[progress.nodeId!] ?? 1, currentCall(progress).number);

/** Marks the call that the current visit may have requested for withdrawal. */
export const withoutCurrentCall = (progress: Progress): Pick<Progress, 'call' | 'leftCalls'> =>
  progress.call?.isAsked
    ? { call: { ...progress.call, isAsked: false }, leftCalls: [...(progress.leftCalls ?? []), currentCallItem(progress)] }
    : {};

function withoutCurrentWait({ wait, leftWaits = [] }: Progress): Pick<Progress, 'leftWaits'> {
  if (wait?.kind !== 'event') return {};
  const { types, field, value } = wait.events;
  const taken = wait.takenEventId === undefined ? {} : { takenEventId: wait.takenEventId };
  return { leftWaits: [...leftWaits, { waitId: wait.historyId, events: { types, field, value }, ...taken }] };
}

/** The epoch ms at which a live run must be woken; null when the run has ended. */
export const nextWakeAt = (progress: Progress, deadline: number): number | null => {
  if (progress.endedAt !== null) return null;
  const { wait, failing } = progress;
  if (failing && failing.nextTryAt !== null) return failing.nextTryAt;
  if (!wait) return Math.min(deadline, progress.retryAt ?? 0);
  return Math.min(deadline, needsCheck(wait) ? 0 : (wait.until ?? deadline), nextPollOf(wait)?.at ?? deadline);
};

/** When a wait that a notification ends checks its result without one, in case the notification is lost. */
export const nextPollOf = (wait: Wait): PollSchedule | null => ('look' in wait ? (wait.look ?? null) : null);

/** `paused` when the run is held while its workflow is paused. The row shows it, so that resuming the workflow finds the run. */
export const holdOf = ({ wait }: Progress): 'paused' | null => (wait?.kind === 'paused' ? 'paused' : null);

/** Whether the wait's result must be checked before the run can sleep. */
export const needsCheck = (wait: Wait): boolean =>
  (wait.kind === 'event' && wait.afterId === null) || ((wait.kind === 'run' || wait.kind === 'call') && wait.asked < wait.pokes);

/**
 * The name of a call within its run. The number is always written: node ids may contain colons, and the second call of the first visit of
 * node `a` must not be the first call of a node `a:1`.
 */
const toCallItem = (nodeId: string, visit: number, number: number): string => `${nodeId}:${visit}:${number}`;

const minPollIntervalMs = 10 * 60_000;
const maxPollIntervalMs = 86_400_000;

/** When a waiting run checks its result next (epoch ms), and how often it has checked. */
export interface PollSchedule {
  at: number;
  times: number;
}

export const firstPoll = (now: number): PollSchedule => ({ at: now + minPollIntervalMs, times: 0 });

/** The next check: after 20 minutes, then 40 and so on, at least once a day. `firstPoll` is after 10 minutes. */
export const nextPoll = ({ times }: PollSchedule, now: number): PollSchedule => ({
  at: now + Math.min(maxPollIntervalMs, minPollIntervalMs * 2 ** (times + 1)),
  times: times + 1,
});

/** The platform retry of the current attempt; undefined when the platform has not failed during it. */
export const currentPlatformRetry = ({ trouble, attempt }: Progress): PlatformRetry | undefined =>
  trouble?.attempt === attempt ? trouble : undefined;

/** The epoch ms at which the run fails with `timeout`, counted from its start or last retry. */
export const deadlineOf = ({ settings }: { settings: Pick<WorkflowSettings, 'timeout'> }, { startedAt, retriedAt }: Progress): number =>
  addExact(retriedAt ?? startedAt, parseDuration(settings.timeout));

/** A failed run that repeats its failed step as a new attempt. The retry policy and the timeout count from `now`. */
export const resumeFailed = (progress: Progress, now: number): Progress => ({
  ...progress,
  state: 'running',
  attempt: progress.attempt + 1,
  firstAttempt: progress.attempt + 1,
  stepCount: 0,
  enteredAt: now,
  wait: null,
  retryAt: null,
  call: progress.call && { ...progress.call, until: null },
  outcome: null,
  error: null,
  endedAt: null,
  retryVersion: undefined,
  retries: (progress.retries ?? 0) + 1,
  retriedAt: now,
});
