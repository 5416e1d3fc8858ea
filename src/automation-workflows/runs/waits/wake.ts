import { readPath } from '../../../library/json/paths.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import type { CallResult } from '../../../calls/records/call-result.ts';
import { evaluateCondition, type Condition } from '../../../expressions/conditions/condition.ts';
import { defaultHandle, next, type ChildResult, type NextResult, type StepResult } from '../../nodes/contract.ts';
import { completedHandle, failedHandle } from '../../nodes/types/run-workflow.ts';
import { toMatchText, receivedHandle, timeoutHandle } from '../../nodes/types/wait-for-event.ts';
import { EvaluationError, evaluationErrorType } from '../../../expressions/templates/render.ts';
import { applyCallResult, timeOutCallWait } from './call-wait.ts';
import type { Journal } from '../engine/journal.ts';
import { leaveWait, nextPollOf, type EventWait, type Progress, type Wait, nextPoll } from '../engine/progress.ts';
import type { RunDependencies } from '../engine/dependencies.ts';
import type { RunEvent } from '../cause.ts';
import { completeWait } from '../engine/step-result.ts';
import type { EventDelivery } from '../../rpc.ts';

const maxRememberedEvents = 200;

/** Continues a run whose wait is over: by its timeout, or at the end of its time. */
export async function expireWait(journal: Journal, progress: Progress, wait: Wait, run: RunDependencies): Promise<void> {
  if (wait.kind === 'call') return timeOutCallWait(journal, progress, wait, run);
  if (wait.kind === 'quiet' || wait.kind === 'paused') return endHold(journal, progress, wait, run.now());
  if (wait.kind === 'event') return completeWait(journal, progress, wait, next({ received: null, timed_out: true }, timeoutHandle), run);
  completeWait(journal, progress, wait, next(progress.outputs[progress.nodeId!], defaultHandle), run);
}

/** Ends a hold, so that the held step is taken next. */
export function endHold(journal: Journal, progress: Progress, wait: Wait, now: number): void {
  const entry = journal.entry(wait.historyId);
  journal.commit(leaveWait(progress), entry ? { ...entry, status: 'completed', completedAt: now } : undefined);
}

/**
 * Has a waiting run check its result although no notification has come, since a notification may be lost. For a hold, the projection that
 * follows reads whether the workflow is active again.
 */
export function scheduleRecheck(journal: Journal, progress: Progress, wait: Wait, now: number): void {
  const poll = nextPollOf(wait);
  if (!poll) return;
  journal.commit({ ...progress, wait: { ...wait, look: nextPoll(poll, now), ...('pokes' in wait && { pokes: wait.pokes + 1 }) } as Wait });
}

/** Checks whether the wait has its result already: an earlier event, an ended run or an ended call. */
export async function checkWait(journal: Journal, sleep: Wait, run: RunDependencies): Promise<void> {
  if (sleep.kind === 'event') return subscribeToEvents(journal, sleep, run);
  if (sleep.kind !== 'run' && sleep.kind !== 'call') return;
  const result = await (sleep.kind === 'run' ? run.childResult(sleep.runId) : run.callResult(sleep.runId));
  const current = journal.progress();
  const { wait } = current;
  if (wait?.kind !== sleep.kind || wait.historyId !== sleep.historyId) return;
  if (result === null) journal.commit({ ...current, wait: { ...wait, asked: sleep.pokes } });
  else if (wait.kind === 'call') applyCallResult(journal, current, wait, result as CallResult, run);
  else completeWait(journal, current, wait, toChildOutcome(result as ChildResult), run);
}

async function subscribeToEvents(journal: Journal, sleep: EventWait, run: RunDependencies): Promise<void> {
  const { afterId, found } = await run.subscribe(sleep, journal.progress().takenEvents ?? []);
  for (const event of found) {
    if ((await deliverEvent(journal, event, sleep.historyId, run)) === 'taken') return;
  }
  const current = journal.progress();
  if (current.wait?.kind === 'event' && current.wait.historyId === sleep.historyId)
    journal.commit({ ...current, wait: { ...current.wait, afterId } });
}

/** Delivers an event to a run that waits at the history record `waitId`. A visit takes one event, and a run never takes an event twice. */
export async function deliverEvent(journal: Journal, event: RunEvent, waitId: number, run: RunDependencies): Promise<EventDelivery> {
  const before = findEventWait(journal, waitId);
  if (!before) return 'stale';
  const eligible = checkEligibility(before.progress, before.sleep, event);
  if (eligible !== 'yes') return eligible;
  const decided = await matchesFilter(before.progress, event, run);
  // During the await another event or the timeout may have ended the wait. The first one counts.
  const now = findEventWait(journal, waitId);
  if (!now) return 'stale';
  if (decided === false) return 'kept';
  const { progress, sleep } = now;
  const takenEvents = [...(progress.takenEvents ?? []), event.id].slice(-maxRememberedEvents);
  const result = decided === true ? next({ received: event.type, event: toEventRoot(event) }, receivedHandle) : decided;
  completeWait(journal, { ...progress, takenEvents, wait: { ...sleep, takenEventId: event.id } }, sleep, result, run);
  return 'taken';
}

function findEventWait(journal: Journal, waitId: number): { progress: Progress; sleep: EventWait } | null {
  const progress = journal.progress();
  return progress.wait?.kind === 'event' && progress.wait.historyId === waitId ? { progress, sleep: progress.wait } : null;
}

/** Events from before the wait count from `since` on. Events that came after the row in `run_waiter` was written count whatever their clock says. */
function checkEligibility(progress: Progress, { events, afterId }: EventWait, event: RunEvent): 'yes' | 'kept' | 'later' {
  if (!events.types.includes(event.type) || readEventField(event, events.field) !== events.value) return 'kept';
  if (progress.takenEvents?.includes(event.id)) return 'kept';
  if (event.createdAt >= events.since) return 'yes';
  return afterId === null ? 'later' : event.id > afterId ? 'yes' : 'kept';
}

/** The text of an event's field that a wait compares with its value; null: the field cannot be compared. */
export function readEventField(event: RunEvent, field: string | null): string | null {
  if (field === null) return toMatchText(event.contact_id);
  const whole = { id: event.id, type: event.type, contact_id: event.contact_id, data: event.data };
  return toMatchText(readPath(whole, field) ?? readPath(event.data, field));
}

/** Whether the wait's filter matches the event. A filter that cannot be evaluated answers a failure of the step. */
async function matchesFilter(
  progress: Progress,
  event: RunEvent,
  run: RunDependencies,
): Promise<boolean | (StepResult & { kind: 'fail' })> {
  const { node } = run.graph.node(progress.nodeId!);
  const filter = node.data['filter'] as Condition | null | undefined;
  if (!filter) return true;
  try {
    const { scope } = await run.loadStepContext(progress, node);
    return evaluateCondition(filter, { ...scope, event: toEventRoot(event), data: event.data }, run.now());
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    return { kind: 'fail', type: evaluationErrorType(error), message: error.message, retryable: false };
  }
}

const toEventRoot = (event: RunEvent) => ({ id: event.id, type: event.type, data: event.data, created_at: toTimestamp(event.createdAt) });

function toChildOutcome(result: ChildResult): NextResult {
  return next(result, result.state === 'completed' ? completedHandle : failedHandle, defaultHandle);
}
