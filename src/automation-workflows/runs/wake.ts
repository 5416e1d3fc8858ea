import { readPath } from '../../library/paths.ts';
import { toTimestamp } from '../../library/clock.ts';
import type { CallResult } from '../../voice-agents/dialing/call-result.ts';
import { evaluate, type Condition } from '../conditions.ts';
import { defaultHandle, next, type ChildResult, type NextResult, type StepResult } from '../nodes/contract.ts';
import { completedHandle, failedHandle } from '../nodes/run-workflow.ts';
import { matchText, receivedHandle, timeoutHandle } from '../nodes/wait-for-event.ts';
import { EvaluationError, evaluationFailure } from '../templates.ts';
import { takeCall, waitNoLonger } from './end-call-wait.ts';
import type { Journal } from './journal.ts';
import { nextLook } from './looks.ts';
import { awake, lookOf, type EventSleep, type Progress, type Sleep } from './progress.ts';
import type { OfferedEvent, Surroundings } from './surroundings.ts';
import { wake } from './wake-up.ts';

/** What became of an event that a sleeping run was offered. `stale`: it no longer waits, or never did; `later`: ask again. */
export type Offer = 'taken' | 'kept' | 'stale' | 'later';

const rememberedEvents = 200;

/** Wakes a run whose sleep is over. */
export async function finishSleep(journal: Journal, progress: Progress, sleep: Sleep, run: Surroundings): Promise<void> {
  if (sleep.kind === 'call') return waitNoLonger(journal, progress, sleep, run);
  if (sleep.kind === 'quiet' || sleep.kind === 'paused') return release(journal, progress, sleep, run.now());
  if (sleep.kind === 'event') return wake(journal, progress, sleep, next({ received: null, timed_out: true }, timeoutHandle), run);
  wake(journal, progress, sleep, next(progress.outputs[progress.nodeId!], defaultHandle), run);
}

/** Ends a hold: the step that was held is taken now. */
export function release(journal: Journal, progress: Progress, sleep: Sleep, now: number): void {
  const entry = journal.entry(sleep.historyId);
  journal.commit(awake(progress), entry ? { ...entry, status: 'completed', completedAt: now } : undefined);
}

/**
 * Nobody has told a sleeping run anything for long, and perhaps nobody ever will: it looks for itself. Of a hold, the projection that
 * follows reads whether the workflow goes on.
 */
export function lookAgain(journal: Journal, progress: Progress, sleep: Sleep, now: number): void {
  const before = lookOf(sleep);
  if (!before) return;
  const looked = { look: nextLook(before, now), ...('pokes' in sleep && { pokes: sleep.pokes + 1 }) };
  journal.commit({ ...progress, wait: { ...sleep, ...looked } });
}

/** What still has to be looked up before the run can sleep: whether what it waits for was there before. */
export async function lookUp(journal: Journal, sleep: Sleep, run: Surroundings): Promise<void> {
  if (sleep.kind === 'event') return subscribe(journal, sleep, run);
  if (sleep.kind !== 'run' && sleep.kind !== 'call') return;
  const result = await (sleep.kind === 'run' ? run.childResult(sleep.runId) : run.callResult(sleep.runId));
  const current = journal.progress();
  const { wait } = current;
  if (wait?.kind !== sleep.kind || wait.historyId !== sleep.historyId) return;
  if (result === null) journal.commit({ ...current, wait: { ...wait, asked: sleep.pokes } });
  else if (wait.kind === 'call') takeCall(journal, current, wait, result as CallResult, run);
  else wake(journal, current, wait, childOutcome(result as ChildResult), run);
}

async function subscribe(journal: Journal, sleep: EventSleep, run: Surroundings): Promise<void> {
  const { afterId, found } = await run.subscribe(sleep, journal.progress().takenEvents ?? []);
  for (const event of found) {
    if ((await offer(journal, event, sleep.historyId, run)) === 'taken') return;
  }
  const current = journal.progress();
  if (current.wait?.kind === 'event' && current.wait.historyId === sleep.historyId)
    journal.commit({ ...current, wait: { ...current.wait, afterId } });
}

/** Offers an event to a run that sleeps for one. It takes one a visit, and never the same event twice. */
export async function offer(journal: Journal, event: OfferedEvent, waitId: number, run: Surroundings): Promise<Offer> {
  const before = sleepFor(journal, waitId);
  if (!before) return 'stale';
  const eligible = isEligible(before.progress, before.sleep, event);
  if (eligible !== 'yes') return eligible;
  const decided = await passes(before.progress, event, run);
  // Another event or the timeout may have woken the run during the await: whoever comes first is the one.
  const now = sleepFor(journal, waitId);
  if (!now) return 'stale';
  if (decided === false) return 'kept';
  const { progress, sleep } = now;
  const takenEvents = [...(progress.takenEvents ?? []), event.id].slice(-rememberedEvents);
  const result = decided === true ? next({ received: event.type, event: shown(event) }, receivedHandle) : decided;
  wake(journal, { ...progress, takenEvents }, sleep, result, run);
  return 'taken';
}

function sleepFor(journal: Journal, waitId: number): { progress: Progress; sleep: EventSleep } | null {
  const progress = journal.progress();
  return progress.wait?.kind === 'event' && progress.wait.historyId === waitId ? { progress, sleep: progress.wait } : null;
}

/** Events that came before the wait count from `since`; what came after the waiter was written counts whatever its clock says. */
function isEligible(progress: Progress, { events, afterId }: EventSleep, event: OfferedEvent): 'yes' | 'kept' | 'later' {
  if (!events.types.includes(event.type) || valueAt(event, events.field) !== events.value) return 'kept';
  if (progress.takenEvents?.includes(event.id)) return 'kept';
  if (event.createdAt >= events.since) return 'yes';
  return afterId === null ? 'later' : event.id > afterId ? 'yes' : 'kept';
}

/** What an event has at the path that a wait compares; null: nothing that compares. */
export function valueAt(event: OfferedEvent, field: string | null): string | null {
  if (field === null) return matchText(event.contact_id);
  const whole = { id: event.id, type: event.type, contact_id: event.contact_id, data: event.data };
  return matchText(readPath(whole, field) ?? readPath(event.data, field));
}

/** Whether the wait's filter holds for the event; a filter that cannot be evaluated fails the step. */
async function passes(progress: Progress, event: OfferedEvent, run: Surroundings): Promise<boolean | (StepResult & { kind: 'fail' })> {
  const { node } = run.graph.node(progress.nodeId!);
  const filter = node.data['filter'] as Condition | null | undefined;
  if (!filter) return true;
  try {
    const { scope } = await run.look(progress, node);
    return evaluate(filter, { ...scope, event: shown(event), data: event.data }, run.now());
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    return { kind: 'fail', type: evaluationFailure(error), message: error.message, retryable: false };
  }
}

const shown = (event: OfferedEvent) => ({ id: event.id, type: event.type, data: event.data, created_at: toTimestamp(event.createdAt) });

function childOutcome(result: ChildResult): NextResult {
  return { ...next(result, result.state === 'completed' ? completedHandle : failedHandle), orElse: defaultHandle };
}
