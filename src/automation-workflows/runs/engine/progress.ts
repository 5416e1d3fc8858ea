import type { Json } from '../../../library/json/json.ts';
import type { EventSubscription } from '../../nodes/contract.ts';
import type { RunState } from '../../run-states.ts';
import { addExact, parseDuration } from '../../../library/time/durations.ts';
import type { WorkflowSettings } from '../../definitions/settings.ts';
import type { Graph } from '../../definitions/definition.ts';

/** How far a run has come. What its object keeps and what a dry run carries in memory. */
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
  /** Sleeping at the current node; its `historyId` is the record that says so. */
  wait: Wait | null;
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
  /** Ids of the run's own event and of those that its waits took, latest last: no wait takes one again. */
  takenEvents?: number[];
  /** Waits that the run has left while their waiters may still stand in D1. */
  leftWaits?: LeftWait[];
  /** What the current visit asks for, if it is a call. */
  call?: VisitCall | undefined;
  /** Calls that nobody waits for, by their items, latest last: they are taken back when the run is cut short. */
  unwaitedCalls?: string[];
  /** Calls that the run has left and has still to take back, by their items. */
  leftCalls?: string[];
  /** The run of the latest call. */
  voiceCallRunId?: number;
  /** A person's retry that is under way: the version of the workflow to go on with. */
  retryVersion?: number | undefined;
  /** Of how many ends (the first, and one after each retry) those who wait for it have been told. */
  toldEnds?: number;
  /** How often a person had the ended run go on, and when last: from then on its timeout counts. */
  retries?: number;
  retriedAt?: number;
  /** Since when the run cannot go on for a reason that is not a step's, how often it was tried, and when it is tried again. Epoch ms. */
  failing?: StallRetry | undefined;
  /** Trouble of the platform that an attempt waits out, and that costs none. */
  trouble?: PlatformRetry | undefined;
  /** The request that ended the run from outside: sent again because its answer was lost, it is answered as the first time. */
  stoppedBy?: string;
}

export type Wait =
  /** Runs written by earlier versions of the service have no `kind`. */
  | { kind?: 'time'; until: number; historyId: number }
  | EventWait
  /** Until another run has ended. `pokes` counts what may have changed about it, `asked` up to which it was looked at. */
  | { kind: 'run'; until: null; historyId: number; runId: number; pokes: number; asked: number; look?: PollSchedule }
  | CallWait
  /** A side effect that may not happen now: the workflow is paused, or it is quiet until a moment. */
  | { kind: 'paused'; until: null; historyId: number; look?: PollSchedule }
  | { kind: 'quiet'; until: number; historyId: number };

/** Until a call has ended; `runId` is its run. */
export interface CallWait {
  kind: 'call';
  until: number;
  historyId: number;
  runId: number;
  /** As those of a sleep until another run has ended. */
  pokes: number;
  asked: number;
  look?: PollSchedule;
}

export interface EventWait {
  kind: 'event';
  until: number;
  historyId: number;
  events: EventSubscription;
  /** The newest event there was when the waiter was written; null until it is. */
  afterId: number | null;
}

export interface PlatformRetry {
  /** Which attempt met it. */
  attempt: number;
  /** The record of the step that waits; null: it was met before a step was taken. */
  historyId: number | null;
  /** How often it was met. */
  tries: number;
  /** Epoch ms of the first time, and of the next try. */
  since: number;
  nextTryAt: number;
  /** For people, such as `waiting for the database: D1 DB is overloaded`. */
  why: string;
  /** How many tries are known to have asked nobody outside. */
  unaskedTries: number;
  /** An earlier try came as far as its effect. */
  mayHaveHappened: boolean;
}

export interface VisitCall {
  /** From 1. The key of a call names one attempt for good, so a call that came back undialled is asked for again under the next number. */
  number: number;
  /** Whether it may have been asked for and is not over. */
  isAsked: boolean;
  /** Epoch ms until which the run waits for it; null: that counts from when it is asked for. */
  until: number | null;
}

export interface LeftWait {
  waitId: number;
  events: Pick<EventSubscription, 'types' | 'field' | 'value'>;
}

export interface StallRetry {
  since: number;
  tries: number;
  /** Null: soon, by the timer. */
  nextTryAt: number | null;
}

export interface RunFailure {
  node_id: string | null;
  message: string;
  type: string;
  attempt: number | null;
}

/** `ownEvent` is the id of the event that started the run: no wait of it takes that one. */
export const startProgress = (graph: Graph, now: number, ownEvent: number | null = null): Progress => ({
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

/** Along the edge at `handle`, or to the end when there is none. */
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

/** Sleeping no more, at the node where it slept. */
export const leaveWait = (progress: Progress): Progress => ({ ...progress, state: 'running', wait: null, ...withoutCurrentWait(progress) });

export interface Ending {
  state: 'completed' | 'failed' | 'cancelled';
  outcome?: string | null;
  error?: RunFailure | null;
}

export const endProgress = (progress: Progress, ending: Ending, now: number): Progress => ({
  ...progress,
  state: ending.state,
  outcome: ending.outcome ?? null,
  error: ending.error ?? null,
  wait: null,
  ...withoutCurrentWait(progress),
  ...withoutCurrentCall(progress),
  retryAt: null,
  trouble: undefined,
  endedAt: now,
});

/** Ended by what is outside the run's own steps: nothing that it has asked for is wanted any more. */
export function abortProgress(progress: Progress, ending: Ending, now: number): Progress {
  const ended = endProgress(progress, ending, now);
  return { ...ended, leftCalls: [...(ended.leftCalls ?? []), ...(progress.unwaitedCalls ?? [])], unwaitedCalls: [] };
}

export const currentCall = ({ call }: Progress): VisitCall => call ?? { number: 1, isAsked: false, until: null };

/** The name within the run of the call that the current visit asks for. */
export const currentCallItem = (progress: Progress): string =>
  toCallItem(progress.nodeId!, progress.visits[progress.nodeId!] ?? 1, currentCall(progress).number);

/** Without the call that the visit may have asked for. */
export const withoutCurrentCall = (progress: Progress): Pick<Progress, 'call' | 'leftCalls'> =>
  progress.call?.isAsked
    ? { call: { ...progress.call, isAsked: false }, leftCalls: [...(progress.leftCalls ?? []), currentCallItem(progress)] }
    : {};

function withoutCurrentWait({ wait, leftWaits = [] }: Progress): Pick<Progress, 'leftWaits'> {
  if (wait?.kind !== 'event') return {};
  const { types, field, value } = wait.events;
  return { leftWaits: [...leftWaits, { waitId: wait.historyId, events: { types, field, value } }] };
}

/** When a live run has to be woken. */
export const nextWakeAt = (progress: Progress, deadline: number): number | null => {
  if (progress.endedAt !== null) return null;
  const { wait, failing } = progress;
  if (failing && failing.nextTryAt !== null) return failing.nextTryAt;
  if (!wait) return Math.min(deadline, progress.retryAt ?? 0);
  return Math.min(deadline, needsCheck(wait) ? 0 : (wait.until ?? deadline), nextPollOf(wait)?.at ?? deadline);
};

/** When a sleep that others end looks by itself, in case nobody tells it. */
export const nextPollOf = (wait: Wait): PollSchedule | null => ('look' in wait ? (wait.look ?? null) : null);

/** Why a run stands still although it could go on; what its row shows, so that a resumed workflow finds it. */
export const holdOf = ({ wait }: Progress): 'paused' | null => (wait?.kind === 'paused' ? 'paused' : null);

/** Whether something has still to be looked up before the run can sleep. */
export const needsCheck = (wait: Wait): boolean =>
  (wait.kind === 'event' && wait.afterId === null) || ((wait.kind === 'run' || wait.kind === 'call') && wait.asked < wait.pokes);

/**
 * Names a call within its run. The number is always there, since node ids may hold anything: without it the second call of the first
 * visit of `a` could be the first call of a node `a:1`.
 */
export const toCallItem = (nodeId: string, visit: number, number: number): string => `${nodeId}:${visit}:${number}`;

const minPollIntervalMs = 10 * 60_000;
const maxPollIntervalMs = 86_400_000;

/** When a sleeping run looks next, epoch ms, and how often it has looked. */
export interface PollSchedule {
  at: number;
  times: number;
}

export const firstPoll = (now: number): PollSchedule => ({ at: now + minPollIntervalMs, times: 0 });

/** 10 minutes after the beginning, then after 20, 40 and so on, at least once a day. */
export const nextPoll = ({ times }: PollSchedule, now: number): PollSchedule => ({
  at: now + Math.min(maxPollIntervalMs, minPollIntervalMs * 2 ** (times + 1)),
  times: times + 1,
});

/** What the current attempt has waited out so far. */
export const currentPlatformRetry = ({ trouble, attempt }: Progress): PlatformRetry | undefined =>
  trouble?.attempt === attempt ? trouble : undefined;

/** Epoch ms at which a run is given up; a person's retry gives it its time anew. */
export const deadlineOf = ({ settings }: { settings: Pick<WorkflowSettings, 'timeout'> }, { startedAt, retriedAt }: Progress): number =>
  addExact(retriedAt ?? startedAt, parseDuration(settings.timeout));

/** A failed run, about to take the step that failed again: as a new attempt, with the retry policy and the timeout counted anew. */
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
