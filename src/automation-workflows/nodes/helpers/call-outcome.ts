import type { CallResult } from '../../../calls/records/call-result.ts';
import { defaultHandle, next, type NextResult, type StepResult } from '../contract.ts';

export const callHandles = ['completed', 'no_answer', 'busy', 'voicemail', 'failed'] as const;

/** Why a call came back that is for a person to mend: it fails the step. */
const configurationReasons = new Set<CallResult['returned']>(['agent_archived', 'agent_unsound', 'telephony_not_configured']);
/** Why a call came back that may be asked for again. A call that somebody else took back is one: the step holds while the workflow is paused. */
const retryableReasons = new Set<CallResult['returned']>(['window_closed', 'too_soon', 'withdrawn']);

export const isRetryableCall = ({ returned }: CallResult): boolean => retryableReasons.has(returned);

/** Where a call leads that is over. */
export function toCallStepResult(result: CallResult): StepResult {
  const { returned, returned_until: _until, ...shown } = result;
  if (configurationReasons.has(returned))
    return { kind: 'fail', type: returned!, message: result.reason ?? `The call was not dialled: ${returned}`, retryable: false };
  if (returned !== null) return toUndialledResult(shown);
  return next(shown, callHandles.find((handle) => handle === result.outcome) ?? 'failed', defaultHandle);
}

/** As a call that failed, for one that never came to be. */
export const toUndialledResult = (told: { reason: string | null; phone?: string; call_run_id?: number }): NextResult =>
  next({ ...emptyCallOutput, ...told, outcome: 'failed' }, 'failed', defaultHandle);

const emptyCallOutput = {
  call_run_id: null,
  disposition: null,
  extracted_variables: {},
  summary: null,
  duration_seconds: 0,
};
