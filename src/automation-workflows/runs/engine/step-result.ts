import { type Json, isRecord } from '../../../library/json/json.ts';
import { defaultHandle, errorHandle, type NextResult, type StepResult, type TokenUsage } from '../../nodes/contract.ts';
import { retryDelayMs } from '../../definitions/retry-policy.ts';
import { maskSecrets } from '../../../expressions/secrets/secrets.ts';
import type { HistoryEntry } from './history.ts';
import type { JournalEntry, Journal } from './journal.ts';
import {
  currentCallItem,
  endProgress,
  followEdge,
  withoutCurrentCall,
  currentCall,
  type Ending,
  type Progress,
  type Wait,
  firstPoll,
  leaveWait,
} from './progress.ts';
import type { RunDependencies } from './dependencies.ts';
import { findWaitingEntry } from './platform-retry.ts';
import { truncateValue } from '../../../library/json/truncate-value.ts';

/** A held step waits at least so long, so that differing clocks cause no storm of tries. */
const minHoldMs = 1000;
const maxContextBytes = 256 * 1024;
/** A loop may request calls without end. Only the latest calls may still be undialled. */
const maxRememberedCalls = 100;

type StepFailure = StepResult & { kind: 'fail' };

/** Writes a step's result to the journal, and moves the run to its next node, wait or end. */
export function applyStepResult(journal: Journal, progress: Progress, entry: JournalEntry, result: StepResult, run: RunDependencies): void {
  if (result.kind === 'fail') return applyStepFailure(journal, progress, entry, result, run);
  if (result.kind === 'hold') return holdStep(journal, progress, entry, result, run);
  const now = run.now();
  const next = withOutput(
    withCall(withCounts(progress, result), result),
    result.output,
    result.kind === 'next' ? result.assign : undefined,
  );
  if (!next) return applyStepFailure(journal, progress, entry, contextTooLarge, run);
  const record = { ...entry, ...toEntryResult(result), completedAt: now };
  if (result.kind === 'exit') journal.commit(endProgress(next, { state: 'completed', outcome: result.outcome }, now), record);
  else if (result.kind === 'next') journal.commit(followEdge(next, run.graph, chooseHandle(result, progress, run), now), record);
  else
    journal.commit((historyId) => ({ ...next, state: 'waiting', wait: toWait(result, historyId, now) }), { ...record, completedAt: null });
}

/** Notes what statistics count of a step. */
function withCounts(progress: Progress, result: Exclude<StepResult, StepFailure | HeldStep>): Progress {
  if (result.kind !== 'next') return progress;
  const { variant, usage } = result;
  return {
    ...progress,
    ...(variant !== undefined && { variants: { ...progress.variants, [progress.nodeId!]: variant } }),
    ...(usage && { usage: addUsage(progress.usage, usage) }),
  };
}

const addUsage = (before: TokenUsage | undefined, added: TokenUsage): TokenUsage => ({
  prompt_tokens: (before?.prompt_tokens ?? 0) + added.prompt_tokens,
  completion_tokens: (before?.completion_tokens ?? 0) + added.completion_tokens,
});

type HeldStep = StepResult & { kind: 'hold' };

/** Has a step tried again at its moment, with all of its tries before it. */
function holdStep(journal: Journal, progress: Progress, entry: JournalEntry, result: HeldStep, run: RunDependencies): void {
  const now = run.now();
  const attempt = progress.attempt + 1;
  const held = { ...progress, state: 'waiting' as const, attempt, firstAttempt: attempt, stepCount: progress.stepCount + 1 };
  const retryAt = Math.max(result.until, now + minHoldMs);
  journal.commit({ ...held, retryAt }, { ...entry, ...toEntryResult(result), completedAt: now });
}

/** Records the call that a step requested, and whether the run waits for the call. */
function withCall(progress: Progress, result: Exclude<StepResult, StepFailure | HeldStep>): Progress {
  if (result.kind === 'wait_for_call')
    return { ...progress, voiceCallRunId: result.runId, call: { ...currentCall(progress), until: result.until } };
  if (result.kind !== 'next' || result.callRunId === undefined) return { ...progress, call: undefined };
  const unwaitedCalls = [...(progress.unwaitedCalls ?? []), currentCallItem(progress)].slice(-maxRememberedCalls);
  return { ...progress, voiceCallRunId: result.callRunId, call: undefined, unwaitedCalls };
}

/** The progress after a step with this output; null when the context would be over its limit. */
function withOutput(progress: Progress, output: unknown, assign: Record<string, Json> | undefined): Progress | null {
  const outputs = output === undefined ? progress.outputs : { ...progress.outputs, [progress.nodeId!]: output };
  const assigned = assign ? { ...progress.assigned, ...assign } : progress.assigned;
  const bytes = new TextEncoder().encode(JSON.stringify(outputs) + JSON.stringify(assigned)).byteLength;
  return bytes > maxContextBytes ? null : { ...progress, outputs, assigned };
}

const contextTooLarge: StepFailure = {
  kind: 'fail',
  type: 'context_too_large',
  message: `What the steps added to the context would be over ${maxContextBytes} bytes; keep less in outputs and variables`,
  retryable: false,
};

function chooseHandle({ handle, fallbackHandle }: NextResult, { nodeId }: Progress, { graph }: RunDependencies): string {
  return fallbackHandle !== undefined && graph.target(nodeId!, handle) === null ? fallbackHandle : handle;
}

type WaitingResult = Exclude<StepResult, { kind: 'fail' | 'hold' | 'next' | 'exit' }>;

function toWait(result: WaitingResult, historyId: number, now: number): Wait {
  if (result.kind === 'wait') return { kind: 'time', until: result.until, historyId };
  if (result.kind === 'wait_for_event') return { kind: 'event', until: result.until, historyId, events: result.events, afterId: null };
  // The run or call may have ended before the wait was written, so its result is checked at once.
  const watched = { historyId, runId: result.runId, pokes: 1, asked: 0, look: firstPoll(now) };
  return result.kind === 'wait_for_call' ? { kind: 'call', until: result.until, ...watched } : { kind: 'run', until: null, ...watched };
}

function applyStepFailure(journal: Journal, progress: Progress, entry: JournalEntry, failure: StepFailure, run: RunDependencies): void {
  const now = run.now();
  const record = { ...entry, ...toEntryResult(failure), completedAt: now };
  const tries = progress.attempt - (progress.firstAttempt ?? 1) + 1;
  if (failure.retryable && tries < run.settings.retry.max_attempts) {
    const retryAt = now + retryDelayMs(run.settings.retry, tries, failure.retryAfterSeconds, run.random);
    journal.commit({ ...progress, state: 'waiting', attempt: progress.attempt + 1, retryAt }, { ...record, status: 'retrying' });
    return;
  }
  const nodeId = progress.nodeId!;
  const failed = { message: failure.message, type: failure.type };
  // A request for a call that failed may have reached the call slots all the same.
  const after = { ...progress, ...withoutCurrentCall(progress), outputs: { ...progress.outputs, [nodeId]: { error: failed } } };
  const { type, node } = run.graph.node(nodeId);
  if (run.graph.target(nodeId, errorHandle) !== null && type.handles(node.data).includes(errorHandle))
    journal.commit(followEdge(after, run.graph, errorHandle, now), record);
  else if (run.settings.on_error === 'continue' && type.handles(node.data).includes(defaultHandle))
    journal.commit(followEdge(after, run.graph, defaultHandle, now), record);
  else
    journal.commit(endProgress(after, { state: 'failed', error: { node_id: nodeId, ...failed, attempt: progress.attempt } }, now), record);
}

/** Fails the run for a reason of its own, not of a step. */
export function failRun(journal: Journal, progress: Progress, failure: { type: string; message: string }, now: number): void {
  const ending: Ending = { state: 'failed', error: { node_id: progress.nodeId, attempt: progress.attempt, ...failure } };
  const waiting = findWaitingEntry(journal, progress);
  journal.commit(
    endProgress(progress, ending, now),
    waiting ? { ...waiting, status: 'failed', error: failure, completedAt: now } : undefined,
  );
}

/** The status, output and error that a history record shows for a result. */
export function toEntryResult(result: StepResult): Pick<HistoryEntry, 'status' | 'output' | 'error'> {
  if (result.kind === 'fail') return { status: 'failed', output: null, error: { message: result.message, type: result.type } };
  const output = truncateValue(maskSecrets(result.output));
  if (result.kind === 'hold') return { status: 'retrying', output, error: null };
  if (result.kind === 'next') return { status: isSimulated(result.output) ? 'simulated' : 'completed', output, error: null };
  return { status: result.kind === 'exit' ? 'completed' : 'waiting', output, error: null };
}

const isSimulated = (output: unknown): boolean =>
  typeof output === 'object' && output !== null && (output as { simulated?: unknown }).simulated === true;

/** Ends a wait with a result. The wait's history record keeps the fields that it showed during the wait, and gets those of the result. */
export function completeWait(journal: Journal, progress: Progress, wait: Wait, result: StepResult, run: RunDependencies): void {
  const entry = requireWaitEntry(journal, wait);
  const shown = isRecord(entry.output) ? entry.output : {};
  const isNext = result.kind === 'next' && isRecord(result.output);
  const before = leaveWait(progress);
  applyStepResult(journal, before, entry, isNext ? { ...result, output: { ...shown, ...(result.output as object) } } : result, run);
}

/** The history record of a wait. Throws when there is none. */
export function requireWaitEntry(journal: Journal, wait: Wait): HistoryEntry {
  const entry = journal.entry(wait.historyId);
  if (!entry) throw new Error(`record ${wait.historyId} of a wait is not in the history`);
  return entry;
}
