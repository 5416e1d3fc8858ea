import { isServiceError, type ErrorCode, type ServiceError } from '../../library/errors.ts';
import type { Json } from '../../library/json.ts';
import { next, simulated, type Step, type StepResult } from './contract.ts';

const passing = new Set<ErrorCode>(['rate_limited', 'provider_failed']);

/** Performs a side effect, or shows it in a dry run. A refusal fails the step; any other error is the runtime's to handle. */
export async function perform(step: Step, request: object, effect: () => Promise<Json>): Promise<StepResult> {
  if (step.dryRun) return simulated(request);
  try {
    return next(await effect());
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return failureOf(error);
  }
}

/** A refusal as the failure of a step. */
export function failureOf(error: ServiceError): StepResult & { kind: 'fail' } {
  const retryAfter = error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds };
  return { kind: 'fail', type: error.code, message: error.message, retryable: passing.has(error.code), ...retryAfter };
}
