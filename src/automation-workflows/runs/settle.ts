import type { Json } from '../../library/json.ts';
import { defaultHandle, errorHandle, type NextResult, type StepResult } from '../nodes/contract.ts';
import { retryDelayMs } from '../retry-policy.ts';
import { maskSecrets } from '../secrets.ts';
import { boundValue, type HistoryEntry } from './history.ts';
import type { Entry, Journal } from './journal.ts';
import { firstLook } from './looks.ts';
import { currentCallItem, end, follow, leavingCall, visitCall, type Ending, type Progress, type Sleep } from './progress.ts';
import type { Surroundings } from './surroundings.ts';
import { waitingRecord } from './wait-out.ts';

const contextLimitBytes = 256 * 1024;
/** A loop may ask for calls without end; the latest are those that may not have been dialled yet. */
const rememberedCalls = 100;

type Failure = StepResult & { kind: 'fail' };

/** Writes what a step gave, and where the run goes from there. */
export function settle(journal: Journal, progress: Progress, entry: Entry, result: StepResult, run: Surroundings): void {
  if (result.kind === 'fail') return settleFailure(journal, progress, entry, result, run);
  const now = run.now();
  const next = withOutput(withCall(progress, result), result.output, result.kind === 'next' ? result.assign : undefined);
  if (!next) return settleFailure(journal, progress, entry, tooLarge, run);
  const record = { ...entry, ...resultOf(result), completedAt: now };
  if (result.kind === 'exit') journal.commit(end(next, { state: 'completed', outcome: result.outcome }, now), record);
  else if (result.kind === 'next') journal.commit(follow(next, run.graph, handleOf(result, progress, run), now), record);
  else
    journal.commit((historyId) => ({ ...next, state: 'waiting', wait: sleepOf(result, historyId, now) }), { ...record, completedAt: null });
}

/** What becomes of the call that a step has asked for: the run waits for it, or goes on without it. */
function withCall(progress: Progress, result: Exclude<StepResult, Failure>): Progress {
  if (result.kind === 'wait_for_call')
    return { ...progress, voiceCallRunId: result.runId, call: { ...visitCall(progress), until: result.until } };
  if (result.kind !== 'next' || result.callRunId === undefined) return { ...progress, call: undefined };
  const unwaitedCalls = [...(progress.unwaitedCalls ?? []), currentCallItem(progress)].slice(-rememberedCalls);
  return { ...progress, voiceCallRunId: result.callRunId, call: undefined, unwaitedCalls };
}

/** The progress after a step with this output; null when the context would be over its limit. */
function withOutput(progress: Progress, output: unknown, assign: Record<string, Json> | undefined): Progress | null {
  const outputs = output === undefined ? progress.outputs : { ...progress.outputs, [progress.nodeId!]: output };
  const assigned = assign ? { ...progress.assigned, ...assign } : progress.assigned;
  const bytes = new TextEncoder().encode(JSON.stringify(outputs) + JSON.stringify(assigned)).byteLength;
  return bytes > contextLimitBytes ? null : { ...progress, outputs, assigned };
}

const tooLarge: Failure = {
  kind: 'fail',
  type: 'context_too_large',
  message: `What the steps added to the context would be over ${contextLimitBytes} bytes; keep less in outputs and variables`,
  retryable: false,
};

function handleOf({ handle, orElse }: NextResult, { nodeId }: Progress, { graph }: Surroundings): string {
  return orElse !== undefined && graph.target(nodeId!, handle) === null ? orElse : handle;
}

type Waiting = Exclude<StepResult, { kind: 'fail' | 'next' | 'exit' }>;

function sleepOf(result: Waiting, historyId: number, now: number): Sleep {
  if (result.kind === 'wait') return { kind: 'time', until: result.until, historyId };
  if (result.kind === 'wait_for_event') return { kind: 'event', until: result.until, historyId, events: result.events, afterId: null };
  // It may have ended before this was written, so it is looked at once at any rate.
  const watched = { historyId, runId: result.runId, pokes: 1, asked: 0, look: firstLook(now) };
  return result.kind === 'wait_for_call' ? { kind: 'call', until: result.until, ...watched } : { kind: 'run', until: null, ...watched };
}

export function settleFailure(journal: Journal, progress: Progress, entry: Entry, failure: Failure, run: Surroundings): void {
  const now = run.now();
  const record = { ...entry, ...resultOf(failure), completedAt: now };
  const tries = progress.attempt - (progress.firstAttempt ?? 1) + 1;
  if (failure.retryable && tries < run.settings.retry.max_attempts) {
    const retryAt = now + retryDelayMs(run.settings.retry, tries, failure.retryAfterSeconds, run.random);
    journal.commit({ ...progress, state: 'waiting', attempt: progress.attempt + 1, retryAt }, { ...record, status: 'retrying' });
    return;
  }
  const nodeId = progress.nodeId!;
  const failed = { message: failure.message, type: failure.type };
  // A call whose asking failed may have been asked for all the same.
  const after = { ...progress, ...leavingCall(progress), outputs: { ...progress.outputs, [nodeId]: { error: failed } } };
  const { type, node } = run.graph.node(nodeId);
  if (run.graph.target(nodeId, errorHandle) !== null && type.handles(node.data).includes(errorHandle))
    journal.commit(follow(after, run.graph, errorHandle, now), record);
  else if (run.settings.on_error === 'continue' && type.handles(node.data).includes(defaultHandle))
    journal.commit(follow(after, run.graph, defaultHandle, now), record);
  else journal.commit(end(after, { state: 'failed', error: { node_id: nodeId, ...failed, attempt: progress.attempt } }, now), record);
}

/** Fails the run for a reason of its own, not of a step. */
export function giveUp(journal: Journal, progress: Progress, failure: { type: string; message: string }, now: number): void {
  const ending: Ending = { state: 'failed', error: { node_id: progress.nodeId, attempt: progress.attempt, ...failure } };
  const waiting = waitingRecord(journal, progress);
  journal.commit(end(progress, ending, now), waiting ? { ...waiting, status: 'failed', error: failure, completedAt: now } : undefined);
}

/** What a record shows of a result. */
export function resultOf(result: StepResult): Pick<HistoryEntry, 'status' | 'output' | 'error'> {
  if (result.kind === 'fail') return { status: 'failed', output: null, error: { message: result.message, type: result.type } };
  const output = boundValue(maskSecrets(result.output));
  if (result.kind === 'next') return { status: isSimulated(result.output) ? 'simulated' : 'completed', output, error: null };
  return { status: result.kind === 'exit' ? 'completed' : 'waiting', output, error: null };
}

const isSimulated = (output: unknown): boolean =>
  typeof output === 'object' && output !== null && (output as { simulated?: unknown }).simulated === true;
