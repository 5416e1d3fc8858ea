import type { ActionFailure } from '../../../integrations/actions/run-action.ts';
import { failure, next, simulated, type Step, type StepResult } from '../contract.ts';

/**
 * Performs an action in a connected tool. `request` is shown in the output, and is all that a dry run gives. `isLookedUp`: a repeat looks
 * for the effect of an earlier try, so an action with an unknown outcome may be tried again.
 */
export async function performAppAction<Outcome extends object>(
  step: Step,
  { request, isLookedUp }: { request: object; isLookedUp: boolean },
  effect: () => Promise<Outcome | ActionFailure>,
): Promise<StepResult> {
  if (step.dryRun) return simulated(request);
  const outcome = await effect();
  return isFailure(outcome) ? toActionFailure(outcome, isLookedUp) : next({ ...request, ...outcome });
}

const isFailure = (outcome: object): outcome is ActionFailure => 'failure' in outcome;

function toActionFailure(actionFailed: ActionFailure, isLookedUp: boolean): StepResult {
  const { failure: type, retryAfterSeconds, outcomeUnknown } = actionFailed;
  if (outcomeUnknown && !isLookedUp) return failure('unknown', `${actionFailed.message}. ${notRepeatedAdvice}`);
  const message = outcomeUnknown ? `${actionFailed.message}. ${lookupAdvice}` : toActionMessage(actionFailed);
  const retryable = type === 'rate_limited' || type === 'unavailable';
  return { kind: 'fail', type, message, retryable, retryAfterSeconds };
}

const notRepeatedAdvice = 'Whether it took effect is not known, so it was not done again; look at the tool, then retry the run';
const lookupAdvice = 'Whether it took effect is not known; another try looks for it first';

const toActionMessage = ({ failure: type, message }: ActionFailure): string =>
  type === 'insufficient_permissions' ? `${message}; connect it again and grant that, or have somebody do so who may` : message;
