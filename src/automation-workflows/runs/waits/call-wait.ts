import { toTimestamp } from '../../../library/time/clock.ts';
import type { CallResult } from '../../../calls/records/call-result.ts';
import { isRetryableCall, toCallStepResult, toUndialledResult } from '../../nodes/helpers/call-outcome.ts';
import { next } from '../../nodes/contract.ts';
import type { Journal } from '../engine/journal.ts';
import { leaveWait, currentCallItem, currentCall, type CallWait, type Progress } from '../engine/progress.ts';
import { toEntryResult, requireWaitEntry, completeWait } from '../engine/step-result.ts';
import type { RunDependencies } from '../engine/dependencies.ts';

/** The least time between two askings for one call, so that clocks that differ make no storm. */
const minCallRetryDelayMs = 1000;

/** Goes on with what became of a call. One that came back undialled for a reason that passes is asked for again. */
export function applyCallResult(journal: Journal, progress: Progress, sleep: CallWait, result: CallResult, run: RunDependencies): void {
  const call = currentCall(progress);
  const number = result.returned === null ? call.number : call.number + 1;
  const settled = { ...progress, call: { ...call, number, isAsked: false } };
  const again = Math.max(result.returned_until ?? 0, run.now() + minCallRetryDelayMs);
  if (!isRetryableCall(result) || (result.returned === 'too_soon' && again >= sleep.until))
    return completeWait(journal, settled, sleep, toCallStepResult(result), run);
  const entry = requireWaitEntry(journal, sleep);
  const { returned, returned_until: _until, ...shown } = result;
  const why = `${result.reason ?? returned}; it is asked for again`;
  const output = { ...(entry.output as object), ...shown, until: toTimestamp(again), why };
  const attempt = progress.attempt + 1;
  // Until it was too soon to call, the time that the run waits goes on; while it may not call at all, it does not.
  const until = returned === 'too_soon' ? call.until : null;
  journal.commit(
    {
      ...leaveWait(settled),
      state: 'waiting',
      attempt,
      firstAttempt: attempt,
      stepCount: progress.stepCount + 1,
      retryAt: again,
      call: { ...settled.call, until },
    },
    { ...entry, ...toEntryResult(next(output)), status: 'retrying', completedAt: run.now() },
  );
}

/** Takes a call back that has lasted too long, unless it has ended after all. One that is under way goes on without the run. */
export async function timeOutCallWait(journal: Journal, progress: Progress, sleep: CallWait, run: RunDependencies): Promise<void> {
  await run.withdrawCall(currentCallItem(progress));
  const result = await run.callResult(sleep.runId);
  const current = journal.progress();
  if (current.wait?.kind !== 'call' || current.wait.historyId !== sleep.historyId) return;
  if (result && result.returned !== 'withdrawn') return applyCallResult(journal, current, current.wait, result, run);
  const reason = `timeout: the call had not ended by ${toTimestamp(sleep.until)}; give the node a longer timeout if it may take longer`;
  const settled = { ...current, call: { ...currentCall(current), isAsked: false } };
  completeWait(journal, settled, current.wait, toUndialledResult({ call_run_id: sleep.runId, reason }), run);
}
