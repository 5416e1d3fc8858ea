import type { CallResult } from '../../../calls/records/call-result.ts';
import { defaultHandle, next, type NextResult, type StepResult } from '../contract.ts';

export const callHandles = ['completed', 'no_answer', 'busy', 'voicemail', 'failed'] as const;

/** Reasons for an undialled call that somebody has to correct: the step fails. */
const configurationReasons = new Set<CallResult['returned']>(['agent_archived', 'agent_unsound', 'telephony_not_configured']);
/** Reasons for an undialled call that may be requested again. `withdrawn` is one: the step holds while the workflow is paused. */
const retryableReasons = new Set<CallResult['returned']>(['window_closed', 'too_soon', 'withdrawn']);

export const isRetryableCall = ({ returned, returned_until: until }: CallResult): boolean =>
  returned === 'contact_policy' ? until !== null : retryableReasons.has(returned);

/** Whether the person was not called for the sake of the person: the timeout of the call keeps running meanwhile. */
export const isHeldForPerson = ({ returned }: CallResult): boolean => returned === 'too_soon' || returned === 'contact_policy';

/** The result of the step whose call has ended. */
export function toCallStepResult(result: CallResult): StepResult {
  const { returned, returned_until: _until, ...output } = result;
  if (configurationReasons.has(returned))
    return { kind: 'fail', type: returned!, message: result.reason ?? `The call was not dialled: ${returned}`, retryable: false };
  if (returned !== null) return toUndialledResult(output);
  return next(output, callHandles.find((handle) => handle === result.outcome) ?? 'failed', defaultHandle);
}

/** The result for a call that was never dialled: the same as for a failed call. */
export const toUndialledResult = (details: { reason: string | null; phone?: string; call_run_id?: number }): NextResult =>
  next({ ...emptyCallOutput, ...details, outcome: 'failed' }, 'failed', defaultHandle);

const emptyCallOutput = {
  call_run_id: null,
  disposition: null,
  extracted_variables: {},
  summary: null,
  duration_seconds: 0,
};
