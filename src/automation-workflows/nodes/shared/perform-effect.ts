import { isServiceError, type ErrorCode, type ServiceError } from '../../../library/errors.ts';
import type { Json } from '../../../library/json/json.ts';
import { next, simulated, type Step, type StepResult } from '../contract.ts';

const retryableCodes = new Set<ErrorCode>(['rate_limited', 'provider_failed']);

/** Performs a side effect; a dry run only shows `request`. A ServiceError fails the step; any other error is thrown to the interpreter. */
export async function performEffect(step: Step, request: object, effect: () => Promise<Json>): Promise<StepResult> {
  if (step.dryRun) return simulated(request);
  try {
    return next(await effect());
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return toStepFailure(error);
  }
}

/** The result of a step that was refused. */
export function toStepFailure(error: ServiceError): StepResult & { kind: 'fail' } {
  const { code, message, retryAfterSeconds } = error;
  return { kind: 'fail', type: code, message, retryable: retryableCodes.has(code), retryAfterSeconds };
}
