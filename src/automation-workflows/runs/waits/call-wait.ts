import { toTimestamp } from '../../../library/time/clock.ts';
import type { CallResult } from '../../../calls/records/call-result.ts';
import { isHeldForPerson, isRetryableCall, toCallStepResult, toUndialledResult } from '../../nodes/shared/call-outcome.ts';
import { next } from '../../nodes/contract.ts';
import type { Journal } from '../engine/journal.ts';
import { leaveWait, currentCallItem, currentCall, type CallWait, type Progress } from '../engine/progress.ts';
import { toEntryResult, requireWaitEntry, completeWait } from '../engine/step-result.ts';
import type { RunDependencies } from '../engine/dependencies.ts';

/** The minimum delay between two requests for one call, so that differing clocks cause no storm of requests. */
const minCallRetryDelayMs = 1000;

/** Ends the wait with the result of a call. A call that was returned undialled for a passing reason is requested again. */
export function applyCallResult(journal: Journal, progress: Progress, wait: CallWait, result: CallResult, run: RunDependencies): void {
  const call = currentCall(progress);
  const number = result.returned === null ? call.number : call.number + 1;
  const settled = { ...progress, call: { ...call, number, isAsked: false } };
  const again = Math.max(result.returned_until ?? 0, run.now() + minCallRetryDelayMs);
  if (!isRetryableCall(result) || (isHeldForPerson(result) && again >= wait.until))
    return completeWait(journal, settled, wait, toCallStepResult(result), run);
  const entry = requireWaitEntry(journal, wait);
  const { returned, returned_until: _until, ...shown } = result;
  const why = `${result.reason ?? returned}; it is asked for again`;
  const output = { ...(entry.output as object), ...shown, until: toTimestamp(again), why };
  const attempt = progress.attempt + 1;
  // While the person must be left alone, the timeout of the call keeps running. After other reasons, it starts again with the next request.
  const until = isHeldForPerson(result) ? call.until : null;
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

/** Ends the wait for a call at its timeout, and withdraws the call unless it has ended. A call that is under way continues without the run. */
export async function timeOutCallWait(journal: Journal, progress: Progress, wait: CallWait, run: RunDependencies): Promise<void> {
  await run.withdrawCall(currentCallItem(progress));
  const result = await run.callResult(wait.runId);
  const current = journal.progress();
  if (current.wait?.kind !== 'call' || current.wait.historyId !== wait.historyId) return;
  if (result && result.returned !== 'withdrawn') return applyCallResult(journal, current, current.wait, result, run);
  const reason = `timeout: the call had not ended by ${toTimestamp(wait.until)}; give the node a longer timeout if it may take longer`;
  const settled = { ...current, call: { ...currentCall(current), isAsked: false } };
  completeWait(journal, settled, current.wait, toUndialledResult({ call_run_id: wait.runId, reason }), run);
}
