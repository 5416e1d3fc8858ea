import { LRUCache } from 'lru-cache';
import { lazily } from '../../../library/lazily.ts';
import pMap from 'p-map';
import type { Context } from '../../../context.ts';
import { conflict, rateLimited } from '../../../library/errors.ts';
import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';
import { callRun } from '../../rpc.ts';
import { completeAtOnce } from '../engine/complete-at-once.ts';
import { SharedProjections } from '../engine/shared-projections.ts';
import { findFactsOfRuns, rescheduleStarts, type RunFacts } from '../store.ts';
import type { RunCandidate, RecordedRuns } from './candidate.ts';
import { recordRuns } from './record-runs.ts';
import { admitStatement, admittedStatement, maxAdmittedPerStep } from './store.ts';

/** Runs that no request waits for start fewer at once, and yield to requests in between. */
const maxConcurrentStarts = { request: 25, background: 4 };

/** `startErrors`: why a row could not be checked or an object not be started. The minute tick starts those runs. */
export interface StartedRuns extends RecordedRuns {
  startErrors: unknown[];
}

/**
 * Writes the rows of runs and starts their objects. Runs held by `max_active_runs`, or deferred by the plan's runs a minute, start later.
 * Runs whose context does not fit the workflow's context_schema are recorded as failed. Repeatable: a candidate is started once for its
 * dedup key.
 *
 * @example const { stored, refused } = await startRuns(context, [candidate]);
 */
export async function startRuns(context: Context, candidates: RunCandidate[]): Promise<StartedRuns> {
  const { stored, inserted, released, refused, liveCheckErrors } = await recordRuns(context, candidates);
  const now = context.clock();
  const due = stored.filter((run) => run.state === 'queued' && run.hold === null && (run.wake_at ?? 0) <= now);
  // A place that became free a moment ago goes to the run that was held longest.
  const runIds = [...new Set([...released, ...due.map((run) => run.id)])];
  const startErrors = [...liveCheckErrors];
  await launchWithinRate(context, runIds, new Set(inserted)).catch((error: unknown) => {
    context.log.error('runs that are recorded wait for the minute tick', error, { runIds });
    startErrors.push(error);
  });
  return { stored, inserted, released, refused, startErrors };
}

/** How many rows one call reads: each may have a payload of 64 KiB. */
const readRows = 25;

/** Runs that a call launches. */
interface Launch {
  runIds: number[];
  /** Whose rows this invocation has inserted, so that no object can have begun them; they are completed at once if that is possible. */
  inserted: ReadonlySet<number>;
  /** `request`: does not wait for the steps of its runs. */
  mode: 'request' | 'background';
}

/** Completes the runs that need no object, and starts the objects of the others. Starting an object again changes nothing. Tries all, then throws the first error. */
async function launchRuns(context: Context, { runIds, inserted, mode }: Launch): Promise<void> {
  const errors: unknown[] = [];
  for (let from = 0; from < runIds.length; from += readRows) {
    const ids = runIds.slice(from, from + readRows);
    const isNew = (id: number): boolean => inserted.has(id);
    // An object that gets no facts reads them itself.
    const facts =
      ids.length > 1 || ids.some(isNew) ? await findFactsOfRuns(context.database, context.organization.id, ids).catch(() => []) : [];
    const completed = await completeNewRuns(
      context,
      facts.filter(({ id }) => isNew(id)),
    );
    const left = ids.filter((id) => !completed.has(id));
    errors.push(...(await startObjects(context, left, facts, mode)));
  }
  if (errors.length) throw errors[0];
}

/** The ids of the runs that are completed without an object. */
async function completeNewRuns(context: Context, runs: RunFacts[]): Promise<Set<number>> {
  if (runs.length === 0) return new Set();
  try {
    const { ids, workflowsWithHeldRuns } = await completeAtOnce(context, runs);
    for (const workflowId of workflowsWithHeldRuns) await admitHeldRuns(context, workflowId);
    return ids;
  } catch (error) {
    context.log.error('runs could not be completed at once; their objects begin them', error, { runs: runs.length });
    return new Set();
  }
}

/** Starts the objects of runs, and has the rows after their first steps written together. Answers the errors of those that did not start. */
async function startObjects(context: Context, ids: number[], facts: RunFacts[], mode: Launch['mode']): Promise<unknown[]> {
  const { bindings, organization } = context;
  const errors: unknown[] = [];
  const factsById = new Map(facts.map((row) => [row.id, row]));
  const together = mode === 'background' && ids.length > 1 ? new SharedProjections(context, ids) : null;
  const start = async (runId: number, index: number): Promise<void> => {
    const answer = await callRun(bindings, organization.id, runId, (run) =>
      run.start(organization.id, runId, factsById.get(runId), together?.writerOf(runId)),
    ).catch((error: unknown) => void errors.push(error));
    if (answer !== 'started') together?.leave(runId);
    if (mode === 'background' && index < ids.length - 1) await yieldToEventLoop();
  };
  await pMap(ids, start, { concurrency: maxConcurrentStarts[mode] });
  await together?.close();
  return errors;
}

/** Starts as many runs as the plan allows in this minute. The minute tick starts the others, each in a later minute. Throws as `launchRuns`. */
async function launchWithinRate(context: Context, runIds: number[], inserted: ReadonlySet<number> = new Set()): Promise<void> {
  if (!runIds.length) return;
  const starts = await reserveStarts(context, runIds.length);
  let rest = runIds.slice(starts.now);
  for (const { count, at } of starts.later) {
    await rescheduleStarts(context.database, context.organization.id, rest.slice(0, count), at);
    rest = rest.slice(count);
  }
  if (starts.later.length)
    context.log.warn('runs wait for a later minute', {
      runs: runIds.length - starts.now,
      runs_per_minute: context.organization.plan.runsPerMinute,
    });
  await launchRuns(context, { runIds: runIds.slice(0, starts.now), inserted, mode: 'background' });
}

/** Starts runs whose rows have been answered to the caller already. The minute tick starts a run whose object cannot be started now. */
export async function tryLaunchRuns(context: Context, runIds: number[]): Promise<void> {
  await launchRuns(context, { runIds, inserted: new Set(), mode: 'request' }).catch((error: unknown) =>
    context.log.error('a recorded run waits for the minute tick', error, { runIds }),
  );
}

/**
 * Starts runs that are held by `max_active_runs`, as many as the workflow has places for, a page at most. Repeatable. Answers whether
 * more may be startable.
 */
export async function admitHeldRuns(context: Context, workflowId: number): Promise<boolean> {
  const { database, organization } = context;
  const now = context.clock();
  const [admitted] = await database.batchOnce([admitStatement(database, organization.id, workflowId, now)], () =>
    database.batch([admittedStatement(database, organization.id, workflowId, now)]),
  );
  const runIds = admitted.map(({ id }) => id);
  await launchWithinRate(context, runIds).catch((error: unknown) =>
    context.log.error('a run that was admitted waits for the minute tick', error, { runIds }),
  );
  return admitted.length === maxAdmittedPerStep;
}

// The plan's runs a minute. This isolate counts its own starts exactly. The binding RUN_LIMITER, in sixtieths of the limit, adds the
// starts of other isolates in the same place. It writes no rows, and when it fails, runs start.

const windowMs = 60_000;
const unitsPerWindow = 60;

interface RateWindow {
  startedAt: number;
  count: number;
  /** How many starts of this window were deferred to a later window. */
  rescheduled: number;
}

const windows = lazily(() => new LRUCache<number, RateWindow>({ max: 10_000 }));

/** How many runs may start now, and at which epoch ms the next `count` of the others may. */
interface StartReservation {
  now: number;
  later: { count: number; at: number }[];
}

/** Reserves `wanted` starts: those that this minute has left, and the others in later minutes. */
async function reserveStarts(context: Context, wanted: number): Promise<StartReservation> {
  const { organization, clock } = context;
  const limit = organization.plan.runsPerMinute;
  const window = currentWindow(organization.id, clock());
  const granted = await takeRateUnits(context, window, Math.min(wanted, Math.max(0, limit - window.count)));
  const later: StartReservation['later'] = [];
  for (let left = wanted - granted; left > 0;) {
    const minute = Math.floor(window.rescheduled / limit);
    const count = Math.min(left, limit - (window.rescheduled % limit));
    later.push({ count, at: window.startedAt + (minute + 1) * windowMs });
    window.rescheduled += count;
    left -= count;
  }
  return { now: granted, later };
}

/**
 * Reserves starts for runs that a request asks for, all or none. Throws 429 with the seconds to wait when this minute has too few left, and
 * 409 when a whole minute has too few.
 */
export async function requireStartCapacity(context: Context, wanted: number): Promise<void> {
  const { organization, clock } = context;
  const limit = organization.plan.runsPerMinute;
  if (wanted > limit)
    throw conflict(`The plan allows ${limit} runs a minute (runs_per_minute), and this asks for ${wanted}; send fewer at a time`);
  const window = currentWindow(organization.id, clock());
  const isGranted = window.count + wanted <= limit && (await takeRateUnits(context, window, wanted)) === wanted;
  if (isGranted) return;
  const seconds = Math.max(1, Math.ceil((window.startedAt + windowMs - clock()) / 1000));
  throw rateLimited(
    `The plan allows ${limit} runs a minute (runs_per_minute); try again in ${seconds} s, or have the plan raised`,
    seconds,
  );
}

async function takeRateUnits({ bindings, organization, log }: Context, window: RateWindow, wanted: number): Promise<number> {
  const limit = organization.plan.runsPerMinute;
  const perUnit = Math.ceil(limit / unitsPerWindow);
  const units = Math.floor((window.count + wanted) / perUnit) - Math.floor(window.count / perUnit);
  window.count += wanted;
  for (let unit = 0; unit < units; unit++) {
    if (await hasRateUnit(bindings, organization.id, log)) continue;
    // Other isolates have used up the minute.
    const granted = Math.min(wanted, unit * perUnit);
    window.count = limit;
    return granted;
  }
  return wanted;
}

async function hasRateUnit(bindings: Partial<Env>, organizationId: number, log: Context['log']): Promise<boolean> {
  if (!bindings.RUN_LIMITER) return true;
  try {
    return (await bindings.RUN_LIMITER.limit({ key: String(organizationId) })).success;
  } catch (error) {
    log.error('the limiter of runs failed; runs start', error);
    return true;
  }
}

function currentWindow(organizationId: number, now: number): RateWindow {
  const known = windows().get(organizationId);
  if (known && now - known.startedAt < windowMs && now >= known.startedAt) return known;
  const opened = { startedAt: now, count: 0, rescheduled: 0 };
  windows().set(organizationId, opened);
  return opened;
}
