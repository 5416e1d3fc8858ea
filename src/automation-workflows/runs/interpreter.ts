import { isServiceError } from '../../library/errors.ts';
import { troubleOf } from '../../library/platform-trouble.ts';
import { nextInside, nextOutside } from '../../library/weekly-slots.ts';
import { defaultHandle, type GraphNode, type NodeType, type Step, type StepResult } from '../nodes/contract.ts';
import { zoneFor, zoneWords } from '../nodes/zone.ts';
import { isLive } from '../schemas.ts';
import { maskSecrets } from '../secrets.ts';
import { EvaluationError, evaluationFailure, shareBudget, type Scope } from '../templates.ts';
import { boundValue } from './history.ts';
import type { Entry, Journal } from './journal.ts';
import { firstLook } from './looks.ts';
import { currentCallItem, follow, isUnasked, lookOf, visitCall, type Progress, type Sleep } from './progress.ts';
import { giveUp, resultOf, settle } from './settle.ts';
import type { Surroundings } from './surroundings.ts';
import { finishSleep, lookAgain, lookUp } from './wake.ts';
import { waitedOut, waitOut } from './wait-out.ts';

const maximumSteps = 10_000;

/**
 * Goes on with a run until it ends, sleeps, or yields. What is done is always in the journal: called again after a crash, it
 * repeats at most the step in flight, under the same key.
 */
export async function advance(journal: Journal, run: Surroundings): Promise<void> {
  for (;;) {
    const progress = journal.progress();
    if (!isLive(progress.state)) return;
    const now = run.now();
    if (now >= run.deadline) return giveUp(journal, progress, timedOut(run), now);
    if (progress.wait) {
      if (isUnasked(progress.wait)) {
        await lookUp(journal, progress.wait, run);
        continue;
      }
      if (now < (progress.wait.until ?? run.deadline)) {
        if (now < (lookOf(progress.wait)?.at ?? run.deadline)) return;
        lookAgain(journal, progress, progress.wait, now);
        continue;
      }
      await finishSleep(journal, progress, progress.wait, run);
      continue;
    }
    if (progress.retryAt !== null && now < progress.retryAt) return;
    if (run.shouldYield()) return;
    if (progress.stepCount >= maximumSteps)
      return giveUp(journal, progress, { type: 'too_many_steps', message: `The run took ${maximumSteps} steps without ending` }, now);
    await takeStep(journal, progress, run);
  }
}

const timedOut = ({ settings }: Surroundings) => ({
  type: 'timeout',
  message: `The run took longer than settings.timeout (${settings.timeout}) allows; give it more if its waits are meant to be that long`,
});

/** A visit with everything that performing it needs. */
interface Prepared {
  step: Step;
  isPaused: boolean;
}

type Failed = StepResult & { kind: 'fail' };

/** Trouble of the platform, which is no failure of the step. */
interface Troubled {
  kind: 'trouble';
  error: unknown;
}

async function takeStep(journal: Journal, progress: Progress, run: Surroundings): Promise<void> {
  const nodeId = progress.nodeId!;
  const { node, type } = run.graph.node(nodeId);
  const visit = progress.visits[nodeId] ?? 1;
  const begun = journal.unfinished(nodeId, visit, progress.attempt);
  const entry: Entry = begun ?? waitingEntry(journal, progress) ?? newEntry(progress, node, visit, run.now());
  const key = `${run.runId}:${nodeId}:${visit}:${progress.attempt}`;
  const isBegun = begun !== null;
  const prepared = await prepare(progress, { node, type, key, isBegun }, run);
  // Others act during an await: a run that was stopped or woken meanwhile is not where it was.
  if (!isStillAt(journal.progress(), progress)) return;
  if ('error' in prepared) return waitOut(journal, entry, { error: prepared.error, isBegun, isPerformed: false }, run);
  if ('kind' in prepared) return settle(journal, journal.progress(), entry, prepared, run);
  const { step } = prepared;
  if (begun && type.afterCrash?.(step.data) === 'unknown') return settle(journal, journal.progress(), entry, unknown, run);
  if (!begun && keepBack(journal, entry, prepared, type, run)) return;
  // The intent stands before the act: after a crash the record shows that the side effect may have happened.
  if (type.isSideEffect && !run.dryRun && !begun)
    entry.id = journal.commit(intending(journal.progress(), type), { ...entry, status: 'started', output: null });
  const result = await perform(type, step, run);
  const current = journal.progress();
  if (result.kind === 'trouble') {
    if (isStillAt(current, progress)) return waitOut(journal, entry, { error: result.error, isBegun, isPerformed: true }, run);
    return cutOff(journal, entry, afterwards(current, progress, type), run);
  }
  if (isStillAt(current, progress)) return settle(journal, current, entry, result, run);
  // A run that was stopped meanwhile stays stopped, and only its record tells what came back.
  if (entry.id !== undefined)
    journal.commit(afterwards(current, progress, type), { ...entry, ...resultOf(result), completedAt: run.now() });
}

/** The record of a step that has waited out trouble and is now tried again. */
function waitingEntry(journal: Journal, progress: Progress): Entry | null {
  const id = waitedOut(progress)?.historyId ?? null;
  const entry = id === null ? null : journal.entry(id);
  return entry && entry.completedAt === null ? entry : null;
}

/** The run was ended while its step met trouble: what came of that is told by no answer. */
function cutOff(journal: Journal, entry: Entry, progress: Progress, run: Surroundings): void {
  if (entry.id !== undefined) journal.commit(progress, { ...entry, status: 'skipped', completedAt: run.now() });
}

const intending = (progress: Progress, type: NodeType): Progress => ({
  ...progress,
  retryAt: null,
  ...(type.isCall && { call: { ...visitCall(progress), isAsked: true } }),
});

/** A call may have been asked for only after the run that was stopped had taken it back. */
const afterwards = (current: Progress, before: Progress, type: NodeType): Progress =>
  type.isCall ? { ...current, leftCalls: [...(current.leftCalls ?? []), currentCallItem(before)] } : current;

const newEntry = (progress: Progress, node: GraphNode, visit: number, now: number): Entry => ({
  nodeId: node.id,
  nodeType: node.type,
  nodeName: node.name ?? null,
  visit,
  attempt: progress.attempt,
  status: 'started',
  input: boundValue(maskSecrets(node.data)),
  output: null,
  error: null,
  startedAt: now,
  completedAt: null,
});

/** The same visit and attempt of a live run. */
const isStillAt = (current: Progress, before: Progress): boolean =>
  isLive(current.state) &&
  current.nodeId === before.nodeId &&
  current.visits[before.nodeId!] === before.visits[before.nodeId!] &&
  current.attempt === before.attempt &&
  current.wait === null;

const unknown: Failed = {
  kind: 'fail',
  type: 'unknown',
  message:
    'The service stopped while this step was under way, and nobody can say whether it took effect, so it was not done again. Look at the other side, then retry the run',
  retryable: false,
};

interface Visit {
  node: GraphNode;
  type: NodeType;
  key: string;
  /** It crashed between its intent and its result. */
  isBegun: boolean;
}

async function prepare(progress: Progress, { node, type, key, isBegun }: Visit, run: Surroundings): Promise<Prepared | Failed | Troubled> {
  try {
    // Secrets may be templates, too, so the scope is made for the node with its secrets opened.
    const opened = { ...node, data: await run.open(node.data) };
    const { scope, isPaused } = await run.look(progress, opened);
    const data = type.dataSchema.parse(opened.data) as unknown;
    const now = run.now();
    const step: Step = {
      node: opened,
      data,
      scope: shareBudget(scope),
      now,
      enteredAt: progress.enteredAt ?? progress.startedAt,
      key,
      mayHaveHappened: isBegun || progress.attempt > 1 || waitedOut(progress)?.mayHaveHappened === true,
      unaskedTries: waitedOut(progress)?.unaskedTries ?? 0,
      quietFrom: type.keepsQuietHours?.(data) ? quietFrom(scope, now, run) : null,
      call: { item: currentCallItem(progress), until: visitCall(progress).until },
      dryRun: run.dryRun,
      effects: run.effects,
      organization: run.organization,
    };
    return { step, isPaused };
  } catch (error) {
    return whatWentWrong(error, run);
  }
}

function quietFrom(scope: Scope, now: number, { settings, organization }: Surroundings): number | null {
  const { quiet_hours: quietHours } = settings;
  return quietHours && nextInside(quietHours.slots, zoneFor(quietHours.timezone, scope, organization).zone, now);
}

async function perform(type: NodeType, step: Step, run: Surroundings): Promise<StepResult | Troubled> {
  try {
    return await type.run(step);
  } catch (error) {
    return whatWentWrong(error, run);
  }
}

/** A dry run has no time to wait in: whoever asked for it hears of the trouble. */
function whatWentWrong(error: unknown, { dryRun }: Surroundings): Failed | Troubled {
  if (isServiceError(error) || error instanceof EvaluationError || troubleOf(error) === null) return failureOf(error);
  if (dryRun) throw error;
  return { kind: 'trouble', error };
}

function failureOf(error: unknown): Failed {
  if (error instanceof EvaluationError) return { kind: 'fail', type: evaluationFailure(error), message: error.message, retryable: false };
  if (isServiceError(error)) return { kind: 'fail', type: error.code, message: error.message, retryable: false };
  return { kind: 'fail', type: 'internal', message: (error as Error).message, retryable: true };
}

/** Holds or skips a side effect that may not happen now; false when it may. */
function keepBack(journal: Journal, entry: Entry, { step, isPaused }: Prepared, type: NodeType, run: Surroundings): boolean {
  const progress = journal.progress();
  const hold = (sleep: (historyId: number) => Sleep, output: object) => {
    // What the run waits for a call counts from when that may be asked for.
    const call = progress.call && { ...progress.call, until: null };
    journal.commit((historyId) => ({ ...progress, call, state: 'waiting', retryAt: null, wait: sleep(historyId) }), {
      ...entry,
      status: 'waiting',
      output,
    });
    return true;
  };
  if (type.isSideEffect && isPaused && !run.dryRun)
    return hold((historyId) => ({ kind: 'paused', until: null, historyId, look: firstLook(run.now()) }), {
      why: 'held: the workflow is not active; it goes on when it is active again',
    });
  const { quiet_hours: quietHours } = run.settings;
  if (!quietHours || !type.keepsQuietHours?.(step.data)) return false;
  const { zone, rule } = zoneFor(quietHours.timezone, step.scope, run.organization);
  const until = nextOutside(quietHours.slots, zone, step.now) ?? run.deadline;
  if (until <= step.now) return false;
  const why = `quiet hours until ${wallClockWords(until, zone)} ${zoneWords(zone, rule)}`;
  const told = { until: new Date(until).toISOString(), timezone: zone, timezone_rule: rule, why };
  if (quietHours.policy === 'defer') return hold((historyId) => ({ kind: 'quiet', until, historyId }), told);
  const output = { ...told, skipped: 'quiet_hours' };
  const outputs = { ...progress.outputs, [progress.nodeId!]: output };
  const now = run.now();
  journal.commit(follow({ ...progress, outputs }, run.graph, defaultHandle, now), {
    ...entry,
    status: 'skipped',
    output,
    completedAt: now,
  });
  return true;
}

const wallClockWords = (instant: number, zone: string): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone: zone, weekday: 'long', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(
    instant,
  );
