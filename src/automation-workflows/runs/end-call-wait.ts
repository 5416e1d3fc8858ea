import { toTimestamp } from '../../library/clock.ts';
import type { CallResult } from '../../voice-agents/dialing/call-result.ts';
import { mayBeAskedAgain, outcomeOf, uncalled } from '../nodes/call-outcome.ts';
import { next } from '../nodes/contract.ts';
import type { Journal } from './journal.ts';
import { awake, currentCallItem, visitCall, type CallSleep, type Progress } from './progress.ts';
import { resultOf } from './settle.ts';
import type { Surroundings } from './surroundings.ts';
import { recordOf, wake } from './wake-up.ts';

/** The least time between two askings for one call, so that clocks that differ make no storm. */
const askAgainAfterMs = 1000;

/** Goes on with what became of a call. One that came back undialled for a reason that passes is asked for again. */
export function takeCall(journal: Journal, progress: Progress, sleep: CallSleep, result: CallResult, run: Surroundings): void {
  const call = visitCall(progress);
  const number = result.returned === null ? call.number : call.number + 1;
  const settled = { ...progress, call: { ...call, number, isAsked: false } };
  const again = Math.max(result.returned_until ?? 0, run.now() + askAgainAfterMs);
  if (!mayBeAskedAgain(result) || (result.returned === 'too_soon' && again >= sleep.until))
    return wake(journal, settled, sleep, outcomeOf(result), run);
  const entry = recordOf(journal, sleep);
  const { returned, returned_until: _until, ...shown } = result;
  const why = `${result.reason ?? returned}; it is asked for again`;
  const output = { ...(entry.output as object), ...shown, until: toTimestamp(again), why };
  const attempt = progress.attempt + 1;
  // Until it was too soon to call, the time that the run waits goes on; while it may not call at all, it does not.
  const until = returned === 'too_soon' ? call.until : null;
  journal.commit(
    {
      ...awake(settled),
      state: 'waiting',
      attempt,
      firstAttempt: attempt,
      stepCount: progress.stepCount + 1,
      retryAt: again,
      call: { ...settled.call, until },
    },
    { ...entry, ...resultOf(next(output)), status: 'retrying', completedAt: run.now() },
  );
}

/** Takes a call back that has lasted too long, unless it has ended after all. One that is under way goes on without the run. */
export async function waitNoLonger(journal: Journal, progress: Progress, sleep: CallSleep, run: Surroundings): Promise<void> {
  await run.withdrawCall(currentCallItem(progress));
  const result = await run.callResult(sleep.runId);
  const current = journal.progress();
  if (current.wait?.kind !== 'call' || current.wait.historyId !== sleep.historyId) return;
  if (result && result.returned !== 'withdrawn') return takeCall(journal, current, current.wait, result, run);
  const reason = `timeout: the call had not ended by ${toTimestamp(sleep.until)}; give the node a longer timeout if it may take longer`;
  const settled = { ...current, call: { ...visitCall(current), isAsked: false } };
  wake(journal, settled, current.wait, uncalled({ call_run_id: sleep.runId, reason }), run);
}
