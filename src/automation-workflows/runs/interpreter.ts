import { isServiceError } from '../../library/errors.ts';
import type { Json } from '../../library/json.ts';
import { defaultHandle, errorHandle, type Effects, type GraphNode, type NodeType, type StepResult } from '../nodes/contract.ts';
import { retryDelayMs } from '../retry-policy.ts';
import { isLive } from '../schemas.ts';
import { maskSecrets } from '../secrets.ts';
import type { WorkflowSettings } from '../settings.ts';
import { TemplateError, type Scope } from '../templates.ts';
import type { Graph } from './graph.ts';
import { boundValue, type HistoryEntry } from './history.ts';
import { end, follow, type Ending, type Progress } from './progress.ts';

const maximumSteps = 10_000;
const contextLimitBytes = 256 * 1024;

/** Where a run keeps its progress and history: an object's SQLite, or memory in a dry run. Every call is one transaction. */
export interface Journal {
  progress(): Progress;
  /**
   * Writes progress and, with it, a record: a new one, or the one with its id. Answers the record's id, which progress may be
   * made of.
   */
  commit(progress: Progress | ((recordId: number) => Progress), entry?: Omit<HistoryEntry, 'id'> & { id?: number | undefined }): number;
  /** The record of a visit and attempt that was begun but not finished, as after a crash. */
  unfinished(nodeId: string, visit: number, attempt: number): HistoryEntry | null;
  entry(id: number): HistoryEntry | null;
}

export interface Surroundings {
  runId: number;
  graph: Graph;
  settings: WorkflowSettings;
  /** Epoch ms after which the run is given up. */
  deadline: number;
  organization: { default_country: string; timezone: string };
  effects: Effects;
  dryRun: boolean;
  now(): number;
  random(): number;
  /** `node` has its secrets opened. */
  scope(progress: Progress, node: GraphNode): Promise<Scope>;
  /** The node's data with its secrets opened. */
  open(data: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Whether to stop between two steps although there is more to do. */
  shouldYield(): boolean;
}

/**
 * Goes on with a run until it ends, sleeps, or yields. What is done is always in the journal: called again after a crash, it
 * repeats at most the step in flight, under the same key.
 */
export async function advance(journal: Journal, run: Surroundings): Promise<void> {
  for (;;) {
    const progress = journal.progress();
    if (!isLive(progress.state)) return;
    const now = run.now();
    if (now >= run.deadline)
      return giveUp(journal, progress, { type: 'timeout', message: 'The run took longer than its timeout allows' }, now);
    if (progress.wait) {
      if (now < progress.wait.until) return;
      finishWait(journal, progress, run);
      continue;
    }
    if (progress.retryAt !== null && now < progress.retryAt) return;
    if (run.shouldYield()) return;
    if (progress.stepCount >= maximumSteps)
      return giveUp(journal, progress, { type: 'too_many_steps', message: `The run took ${maximumSteps} steps without ending` }, now);
    await takeStep(journal, progress, run);
  }
}

function finishWait(journal: Journal, progress: Progress, run: Surroundings): void {
  const entry = journal.entry(progress.wait!.historyId);
  const now = run.now();
  journal.commit(follow(progress, run.graph, defaultHandle, now), entry ? { ...entry, status: 'completed', completedAt: now } : undefined);
}

async function takeStep(journal: Journal, progress: Progress, run: Surroundings): Promise<void> {
  const nodeId = progress.nodeId!;
  const { node, type } = run.graph.node(nodeId);
  const visit = progress.visits[nodeId] ?? 1;
  const begun = journal.unfinished(nodeId, visit, progress.attempt);
  const entry: Omit<HistoryEntry, 'id'> & { id?: number | undefined } = begun ?? {
    nodeId,
    nodeType: node.type,
    nodeName: node.name ?? null,
    visit,
    attempt: progress.attempt,
    status: 'started',
    input: boundValue(maskSecrets(node.data)),
    output: null,
    error: null,
    startedAt: run.now(),
    completedAt: null,
  };
  // The intent stands before the act: after a crash the record shows that the side effect may have happened.
  if (type.isSideEffect && !run.dryRun && !begun) entry.id = journal.commit({ ...progress, retryAt: null }, entry);
  const key = `${run.runId}:${nodeId}:${visit}:${progress.attempt}`;
  const result = await performNode(progress, node, type, key, run);
  // Others act during an await: a run that was stopped meanwhile stays stopped, and only its record tells what came back.
  const current = journal.progress();
  const isStill =
    isLive(current.state) && current.nodeId === nodeId && current.visits[nodeId] === visit && current.attempt === progress.attempt;
  if (!isStill) {
    if (entry.id !== undefined && !begun) journal.commit(current, { ...entry, ...resultOf(result), completedAt: run.now() });
    return;
  }
  settle(journal, current, entry, result, run);
}

async function performNode(progress: Progress, node: GraphNode, type: NodeType, key: string, run: Surroundings): Promise<StepResult> {
  try {
    // Secrets may be templates, too, so the scope is made for the node with its secrets opened.
    const opened = { ...node, data: await run.open(node.data) };
    return await type.run({
      node: opened,
      data: type.dataSchema.parse(opened.data) as unknown,
      scope: await run.scope(progress, opened),
      now: run.now(),
      key,
      dryRun: run.dryRun,
      effects: run.effects,
      organization: run.organization,
    });
  } catch (error) {
    if (error instanceof TemplateError) return { kind: 'fail', type: 'template_error', message: error.message, retryable: false };
    if (isServiceError(error)) return { kind: 'fail', type: error.code, message: error.message, retryable: false };
    return { kind: 'fail', type: 'internal', message: (error as Error).message, retryable: true };
  }
}

type Entry = Omit<HistoryEntry, 'id'> & { id?: number | undefined };

function settle(journal: Journal, progress: Progress, entry: Entry, result: StepResult, run: Surroundings): void {
  const now = run.now();
  const nodeId = progress.nodeId!;
  if (result.kind === 'fail') return settleFailure(journal, progress, entry, result, run);
  const outputs = result.output === undefined ? progress.outputs : { ...progress.outputs, [nodeId]: result.output };
  const assigned = result.kind === 'next' && result.assign ? { ...progress.assigned, ...result.assign } : progress.assigned;
  const next = { ...progress, outputs, assigned };
  if (contextBytes(outputs, assigned) > contextLimitBytes) {
    const tooLarge = { type: 'context_too_large', message: `What the steps added to the context is over ${contextLimitBytes} bytes` };
    return settleFailure(journal, progress, entry, { kind: 'fail', retryable: false, ...tooLarge }, run);
  }
  const record = { ...entry, ...resultOf(result), completedAt: now };
  if (result.kind === 'exit') journal.commit(end(next, { state: 'completed', outcome: result.outcome }, now), record);
  else if (result.kind === 'next') journal.commit(follow(next, run.graph, result.handle, now), record);
  else {
    const asleep = (historyId: number): Progress => ({ ...next, state: 'waiting', wait: { until: result.until, historyId } });
    journal.commit(asleep, { ...record, completedAt: null });
  }
}

function settleFailure(
  journal: Journal,
  progress: Progress,
  entry: Entry,
  failure: StepResult & { kind: 'fail' },
  run: Surroundings,
): void {
  const now = run.now();
  const record = { ...entry, ...resultOf(failure), completedAt: now };
  if (failure.retryable && progress.attempt < run.settings.retry.max_attempts) {
    const retryAt = now + retryDelayMs(run.settings.retry, progress.attempt, failure.retryAfterSeconds, run.random);
    journal.commit({ ...progress, state: 'waiting', attempt: progress.attempt + 1, retryAt }, { ...record, status: 'retrying' });
    return;
  }
  const nodeId = progress.nodeId!;
  const failed = { message: failure.message, type: failure.type };
  const outputs = { ...progress.outputs, [nodeId]: { error: failed } };
  const { type, node } = run.graph.node(nodeId);
  if (run.graph.target(nodeId, errorHandle) !== null && type.handles(node.data).includes(errorHandle))
    journal.commit(follow({ ...progress, outputs }, run.graph, errorHandle, now), record);
  else if (run.settings.on_error === 'continue') journal.commit(follow({ ...progress, outputs }, run.graph, defaultHandle, now), record);
  else
    journal.commit(
      end({ ...progress, outputs }, { state: 'failed', error: { node_id: nodeId, ...failed, attempt: progress.attempt } }, now),
      record,
    );
}

function giveUp(journal: Journal, progress: Progress, failure: { type: string; message: string }, now: number): void {
  const ending: Ending = { state: 'failed', error: { node_id: progress.nodeId, attempt: progress.attempt, ...failure } };
  const waiting = progress.wait && journal.entry(progress.wait.historyId);
  journal.commit(end(progress, ending, now), waiting ? { ...waiting, status: 'failed', error: failure, completedAt: now } : undefined);
}

function resultOf(result: StepResult): Pick<HistoryEntry, 'status' | 'output' | 'error'> {
  if (result.kind === 'fail') return { status: 'failed', output: null, error: { message: result.message, type: result.type } };
  if (result.kind === 'wait')
    return {
      status: 'waiting',
      output: boundValue({ until: new Date(result.until).toISOString(), why: result.why, ...asObject(result.output) }),
      error: null,
    };
  const isSimulated = asObject(result.output)['simulated'] === true;
  return { status: isSimulated ? 'simulated' : 'completed', output: boundValue(maskSecrets(result.output)), error: null };
}

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

function contextBytes(outputs: Record<string, unknown>, assigned: Record<string, Json>): number {
  return JSON.stringify(outputs).length + JSON.stringify(assigned).length;
}
