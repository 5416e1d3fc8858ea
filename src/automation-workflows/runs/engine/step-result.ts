import { type Json, isRecord } from '../../../library/json/json.ts';
import { defaultHandle, errorHandle, type NextResult, type StepResult } from '../../nodes/contract.ts';
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

const maxContextBytes = 256 * 1024;
/** A loop may ask for calls without end; the latest are those that may not have been dialled yet. */
const maxRememberedCalls = 100;

type StepFailure = StepResult & { kind: 'fail' };

/** Writes what a step gave, and where the run goes from there. */
export function applyStepResult(journal: Journal, progress: Progress, entry: JournalEntry, result: StepResult, run: RunDependencies): void {
  if (result.kind === 'fail') return applyStepFailure(journal, progress, entry, result, run);
  const now = run.now();
  const next = withOutput(withCall(progress, result), result.output, result.kind === 'next' ? result.assign : undefined);
  if (!next) return applyStepFailure(journal, progress, entry, contextTooLarge, run);
  const record = { ...entry, ...toEntryResult(result), completedAt: now };
  if (result.kind === 'exit') journal.commit(endProgress(next, { state: 'completed', outcome: result.outcome }, now), record);
  else if (result.kind === 'next') journal.commit(followEdge(next, run.graph, chooseHandle(result, progress, run), now), record);
  else
    journal.commit((historyId) => ({ ...next, state: 'waiting', wait: toWait(result, historyId, now) }), { ...record, completedAt: null });
}

/** What becomes of the call that a step has asked for: the run waits for it, or goes on without it. */
function withCall(progress: Progress, result: Exclude<StepResult, StepFailure>): Progress {
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

type WaitingResult = Exclude<StepResult, { kind: 'fail' | 'next' | 'exit' }>;

function toWait(result: WaitingResult, historyId: number, now: number): Wait {
  if (result.kind === 'wait') return { kind: 'time', until: result.until, historyId };
  if (result.kind === 'wait_for_event') return { kind: 'event', until: result.until, historyId, events: result.events, afterId: null };
  // It may have ended before this was written, so it is looked at once at any rate.
  const watched = { historyId, runId: result.runId, pokes: 1, asked: 0, look: firstPoll(now) };
  return result.kind === 'wait_for_call' ? { kind: 'call', until: result.until, ...watched } : { kind: 'run', until: null, ...watched };
}

export function applyStepFailure(
  journal: Journal,
  progress: Progress,
  entry: JournalEntry,
  failure: StepFailure,
  run: RunDependencies,
): void {
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
  // A call whose asking failed may have been asked for all the same.
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

/** What a record shows of a result. */
export function toEntryResult(result: StepResult): Pick<HistoryEntry, 'status' | 'output' | 'error'> {
  if (result.kind === 'fail') return { status: 'failed', output: null, error: { message: result.message, type: result.type } };
  const output = truncateValue(maskSecrets(result.output));
  if (result.kind === 'next') return { status: isSimulated(result.output) ? 'simulated' : 'completed', output, error: null };
  return { status: result.kind === 'exit' ? 'completed' : 'waiting', output, error: null };
}

const isSimulated = (output: unknown): boolean =>
  typeof output === 'object' && output !== null && (output as { simulated?: unknown }).simulated === true;

/** The sleep's own record shows what ended it; what it had told while sleeping stays beside that. */
export function completeWait(journal: Journal, progress: Progress, sleep: Wait, result: StepResult, run: RunDependencies): void {
  const entry = requireWaitEntry(journal, sleep);
  const told = isRecord(entry.output) ? entry.output : {};
  const isNext = result.kind === 'next' && isRecord(result.output);
  const before = leaveWait(progress);
  applyStepResult(journal, before, entry, isNext ? { ...result, output: { ...told, ...(result.output as object) } } : result, run);
}

export function requireWaitEntry(journal: Journal, sleep: Wait): HistoryEntry {
  const entry = journal.entry(sleep.historyId);
  if (!entry) throw new Error(`record ${sleep.historyId} of a sleep is not in the history`);
  return entry;
}
