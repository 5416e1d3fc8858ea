import { isServiceError } from '../../../library/errors.ts';
import { platformErrorKind } from '../../../library/platform/platform-errors.ts';
import { nextInside, nextOutside } from '../../../library/time/weekly-slots.ts';
import { defaultHandle, type GraphNode, type NodeType, type Step, type StepResult } from '../../nodes/contract.ts';
import { resolveTimeZone, describeTimeZone } from '../../nodes/shared/time-zone.ts';
import { isLive } from '../../run-states.ts';
import { maskSecrets } from '../../../expressions/secrets/secrets.ts';
import { EvaluationError, evaluationErrorType, withSharedBudget, type Scope } from '../../../expressions/templates/render.ts';
import type { JournalEntry, Journal } from './journal.ts';
import {
  abortProgress,
  currentCallItem,
  followEdge,
  needsCheck,
  nextPollOf,
  currentCall,
  type Progress,
  type Wait,
  firstPoll,
  currentPlatformRetry,
} from './progress.ts';
import { failRun, toEntryResult, applyStepResult } from './step-result.ts';
import type { RunDependencies } from './dependencies.ts';
import { expireWait, scheduleRecheck, checkWait } from '../waits/wake.ts';
import { canBeTakenAgain } from './taken-again.ts';
import { schedulePlatformRetry } from './platform-retry.ts';
import { truncateValue } from '../../../library/json/truncate-value.ts';

const maxSteps = 10_000;

/**
 * Takes steps until the run ends, waits, or `run.shouldYield`. Every result is in the journal before the next step: after a crash, a call
 * repeats at most the step that was under way, under the same key. Throws errors of the platform that occur while a wait is checked.
 *
 * @example await advance(new MemoryJournal(startProgress(graph, Date.now())), run);
 */
export async function advance(journal: Journal, run: RunDependencies): Promise<void> {
  for (;;) {
    const progress = journal.progress();
    if (!isLive(progress.state)) return;
    const now = run.now();
    if (now >= run.deadline) return failRun(journal, progress, timeoutFailure(run), now);
    if (progress.wait) {
      if (needsCheck(progress.wait)) {
        await checkWait(journal, progress.wait, run);
        continue;
      }
      if (now < (progress.wait.until ?? run.deadline)) {
        if (now < (nextPollOf(progress.wait)?.at ?? run.deadline)) return;
        scheduleRecheck(journal, progress, progress.wait, now);
        continue;
      }
      await expireWait(journal, progress, progress.wait, run);
      continue;
    }
    if (progress.retryAt !== null && now < progress.retryAt) return;
    if (run.shouldYield()) return;
    if (progress.stepCount >= maxSteps)
      return failRun(journal, progress, { type: 'too_many_steps', message: `The run took ${maxSteps} steps without ending` }, now);
    await runStep(journal, progress, run);
  }
}

const timeoutFailure = ({ settings }: RunDependencies) => ({
  type: 'timeout',
  message: `The run took longer than settings.timeout (${settings.timeout}) allows; give it more if its waits are meant to be that long`,
});

/** A step that is ready to be performed. */
interface PreparedStep {
  step: Step;
  isPaused: boolean;
  isOver: boolean;
}

type StepFailure = StepResult & { kind: 'fail' };

/** The platform failed; the step itself did not. */
interface PlatformFailure {
  kind: 'trouble';
  error: unknown;
}

async function runStep(journal: Journal, progress: Progress, run: RunDependencies): Promise<void> {
  const nodeId = progress.nodeId!;
  const { node, type } = run.graph.node(nodeId);
  const visit = progress.visits[nodeId] ?? 1;
  const begun = journal.unfinishedEntry(nodeId, visit, progress.attempt);
  const entry: JournalEntry = begun ?? findRetriedEntry(journal, progress) ?? buildEntry(progress, node, visit, run.now());
  const key = `${run.runId}:${nodeId}:${visit}:${progress.attempt}`;
  const isBegun = begun !== null;
  const prepared = await prepareStep(progress, { node, type, key, isBegun }, run);
  // During the await the run may have been stopped or woken.
  if (!isSameAttempt(journal.progress(), progress)) return;
  if ('error' in prepared) return schedulePlatformRetry(journal, entry, { error: prepared.error, isBegun, isPerformed: false }, run);
  if ('kind' in prepared) return applyStepResult(journal, journal.progress(), entry, prepared, run);
  const { step } = prepared;
  if (prepared.isOver) return void journal.commit(abortProgress(journal.progress(), { state: 'cancelled' }, run.now()));
  if (begun && type.afterCrash?.(step.data) === 'unknown') return applyStepResult(journal, journal.progress(), entry, unknownOutcome, run);
  if (!begun && holdOrSkip(journal, entry, prepared, type, run)) return;
  // The intent is written before the side effect: after a crash the record shows that the effect may have happened.
  const isUnrecorded = type.isSideEffect === true && !begun && canBeTakenAgain(run.graph, journal.unstoredEntries(), node);
  if (type.isSideEffect && !run.dryRun && !begun && !isUnrecorded)
    entry.id = journal.commit(withIntent(journal.progress(), type), { ...entry, status: 'started', output: null });
  const result = await performStep(type, step, run);
  const current = journal.progress();
  if (result.kind === 'trouble') {
    if (isSameAttempt(current, progress))
      return schedulePlatformRetry(journal, entry, { error: result.error, isBegun, isPerformed: true }, run);
    return skipEntry(journal, entry, withCallToWithdraw(current, progress, type), { isUnrecorded, now: run.now() });
  }
  if (isSameAttempt(current, progress)) return applyStepResult(journal, current, entry, result, run);
  // A run that was stopped during the await stays stopped; only the history record gets the result.
  if (entry.id !== undefined || isUnrecorded)
    journal.commit(withCallToWithdraw(current, progress, type), { ...entry, ...toEntryResult(result), completedAt: run.now() });
}

/** The open history record of a step that is tried again after the platform failed. */
function findRetriedEntry(journal: Journal, progress: Progress): JournalEntry | null {
  const id = currentPlatformRetry(progress)?.historyId ?? null;
  const entry = id === null ? null : journal.entry(id);
  return entry && entry.completedAt === null ? entry : null;
}

/** The run was ended while the platform failed during its step, whose outcome is unknown. */
function skipEntry(
  journal: Journal,
  entry: JournalEntry,
  progress: Progress,
  { isUnrecorded, now }: { isUnrecorded: boolean; now: number },
): void {
  if (entry.id !== undefined || isUnrecorded) journal.commit(progress, { ...entry, status: 'skipped', completedAt: now });
}

const withIntent = (progress: Progress, type: NodeType): Progress => ({
  ...progress,
  retryAt: null,
  ...(type.isCall && { call: { ...currentCall(progress), isAsked: true } }),
});

/** The stopped run may have withdrawn the call before the call was requested, so the call is withdrawn again. */
const withCallToWithdraw = (current: Progress, before: Progress, type: NodeType): Progress =>
  type.isCall ? { ...current, leftCalls: [...(current.leftCalls ?? []), currentCallItem(before)] } : current;

const buildEntry = (progress: Progress, node: GraphNode, visit: number, now: number): JournalEntry => ({
  nodeId: node.id,
  nodeType: node.type,
  nodeName: node.name ?? null,
  visit,
  attempt: progress.attempt,
  status: 'started',
  input: truncateValue(maskSecrets(node.data)),
  output: null,
  error: null,
  startedAt: now,
  completedAt: null,
});

/** Whether the run is live and at the same visit and attempt as before an await. */
const isSameAttempt = (current: Progress, before: Progress): boolean =>
  isLive(current.state) &&
  current.nodeId === before.nodeId &&
  current.visits[before.nodeId!] === before.visits[before.nodeId!] &&
  current.attempt === before.attempt &&
  current.wait === null;

const unknownOutcome: StepFailure = {
  kind: 'fail',
  type: 'unknown',
  message:
    'The service stopped while this step was under way, and nobody can say whether it took effect, so it was not done again. Look at the other side, then retry the run',
  retryable: false,
};

interface StepAttempt {
  node: GraphNode;
  type: NodeType;
  key: string;
  /** The object crashed between the step's intent and its result. */
  isBegun: boolean;
}

async function prepareStep(
  progress: Progress,
  { node, type, key, isBegun }: StepAttempt,
  run: RunDependencies,
): Promise<PreparedStep | StepFailure | PlatformFailure> {
  try {
    // A secret may be a template, so the scope is built for the node with its secrets opened.
    const opened = { ...node, data: await run.openSecrets(node.data) };
    const { scope, isPaused, isOver = false } = await run.loadStepContext(progress, opened);
    const data = type.dataSchema.parse(opened.data) as unknown;
    const now = run.now();
    const step: Step = {
      node: opened,
      data,
      scope: withSharedBudget(scope),
      now,
      enteredAt: progress.enteredAt ?? progress.startedAt,
      key,
      mayHaveHappened: isBegun || progress.attempt > 1 || currentPlatformRetry(progress)?.mayHaveHappened === true,
      unaskedTries: currentPlatformRetry(progress)?.unaskedTries ?? 0,
      quietHoursStart: type.respectsQuietHours?.(data) ? nextQuietHoursStart(scope, now, run) : null,
      call: { item: currentCallItem(progress), until: currentCall(progress).until },
      dryRun: run.dryRun,
      effects: run.effects,
      organization: run.organization,
    };
    return { step, isPaused, isOver };
  } catch (error) {
    return classifyError(error, run);
  }
}

function nextQuietHoursStart(scope: Scope, now: number, { settings, organization }: RunDependencies): number | null {
  const { quiet_hours: quietHours } = settings;
  return quietHours && nextInside(quietHours.slots, resolveTimeZone(quietHours.timezone, scope, organization).zone, now);
}

async function performStep(type: NodeType, step: Step, run: RunDependencies): Promise<StepResult | PlatformFailure> {
  try {
    return await type.run(step);
  } catch (error) {
    return classifyError(error, run);
  }
}

/** Errors of the platform are tried again later. A dry run throws them to its caller, since it cannot wait. */
function classifyError(error: unknown, { dryRun }: RunDependencies): StepFailure | PlatformFailure {
  if (isServiceError(error) || error instanceof EvaluationError || platformErrorKind(error) === null) return toStepFailure(error);
  if (dryRun) throw error;
  return { kind: 'trouble', error };
}

function toStepFailure(error: unknown): StepFailure {
  if (error instanceof EvaluationError) return { kind: 'fail', type: evaluationErrorType(error), message: error.message, retryable: false };
  if (isServiceError(error)) return { kind: 'fail', type: error.code, message: error.message, retryable: false };
  return { kind: 'fail', type: 'internal', message: (error as Error).message, retryable: true };
}

/** Holds or skips a side effect because of a paused workflow or quiet hours. False: the side effect may happen now. */
function holdOrSkip(
  journal: Journal,
  entry: JournalEntry,
  { step, isPaused }: PreparedStep,
  type: NodeType,
  run: RunDependencies,
): boolean {
  const progress = journal.progress();
  const hold = (toWait: (historyId: number) => Wait, output: object) => {
    // The timeout of a call counts from the moment when the call may be requested.
    const call = progress.call && { ...progress.call, until: null };
    journal.commit((historyId) => ({ ...progress, call, state: 'waiting', retryAt: null, wait: toWait(historyId) }), {
      ...entry,
      status: 'waiting',
      output,
    });
    return true;
  };
  if (type.isSideEffect && isPaused && !run.dryRun)
    return hold((historyId) => ({ kind: 'paused', until: null, historyId, look: firstPoll(run.now()) }), {
      why: 'held: the workflow is not active; it goes on when it is active again',
    });
  const { quiet_hours: quietHours } = run.settings;
  if (!quietHours || !type.respectsQuietHours?.(step.data)) return false;
  const { zone, rule } = resolveTimeZone(quietHours.timezone, step.scope, run.organization);
  const until = nextOutside(quietHours.slots, zone, step.now) ?? run.deadline;
  if (until <= step.now) return false;
  const why = `quiet hours until ${formatWallClock(until, zone)} ${describeTimeZone(zone, rule)}`;
  const explanation = { until: new Date(until).toISOString(), timezone: zone, timezone_rule: rule, why };
  if (quietHours.policy === 'defer') return hold((historyId) => ({ kind: 'quiet', until, historyId }), explanation);
  const output = { ...explanation, skipped: 'quiet_hours' };
  const outputs = { ...progress.outputs, [progress.nodeId!]: output };
  const now = run.now();
  journal.commit(followEdge({ ...progress, outputs }, run.graph, defaultHandle, now), {
    ...entry,
    status: 'skipped',
    output,
    completedAt: now,
  });
  return true;
}

const formatWallClock = (instant: number, zone: string): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone: zone, weekday: 'long', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(
    instant,
  );
