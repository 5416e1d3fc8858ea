import type { CallResult } from '../../voice-agents/dialing/call-result.ts';
import { defaultHandle, next, type NextResult, type StepResult } from './contract.ts';

export const callHandles = ['completed', 'no_answer', 'busy', 'voicemail', 'failed'] as const;

/** Why a call came back that is for a person to mend: it fails the step. */
const mendable = new Set<CallResult['returned']>(['agent_archived', 'agent_unsound', 'telephony_not_configured']);
/** Why a call came back that may be asked for again. A call that somebody else took back is one: the step holds while the workflow is paused. */
const passing = new Set<CallResult['returned']>(['window_closed', 'too_soon', 'withdrawn']);

export const mayBeAskedAgain = ({ returned }: CallResult): boolean => passing.has(returned);

/** Where a call leads that is over. */
export function outcomeOf(result: CallResult): StepResult {
  const { returned, returned_until: _until, ...shown } = result;
  if (mendable.has(returned))
    return { kind: 'fail', type: returned!, message: result.reason ?? `The call was not dialled: ${returned}`, retryable: false };
  if (returned !== null) return uncalled(shown);
  return leading(shown, callHandles.find((handle) => handle === result.outcome) ?? 'failed');
}

/** As a call that failed, for one that never came to be. */
export const uncalled = (told: { reason: string | null; phone?: string; call_run_id?: number }): NextResult =>
  leading({ ...nothing, ...told, outcome: 'failed' }, 'failed');

const leading = (output: object, handle: string): NextResult => ({ ...next(output, handle), orElse: defaultHandle });

const nothing = {
  call_run_id: null,
  disposition: null,
  extracted_variables: {},
  summary: null,
  duration_seconds: 0,
};
