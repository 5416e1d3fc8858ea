import type { ActionFailure } from '../../../integrations/actions/run-action.ts';
import { failure, next, simulated, type Step, type StepResult } from '../contract.ts';

/**
 * What a node did in a connected tool; `shown` is what it asked for, which is all that a dry run does. `isLookedUp`: a repeat finds out
 * whether an earlier try took effect, so that one whose outcome is unknown may be repeated.
 */
export async function performAppAction<Outcome extends object>(
  step: Step,
  { shown, isLookedUp }: { shown: object; isLookedUp: boolean },
  effect: () => Promise<Outcome | ActionFailure>,
): Promise<StepResult> {
  if (step.dryRun) return simulated(shown);
  const outcome = await effect();
  return isFailure(outcome) ? toActionFailure(outcome, isLookedUp) : next({ ...shown, ...outcome });
}

const isFailure = (outcome: object): outcome is ActionFailure => 'failure' in outcome;

function toActionFailure(told: ActionFailure, isLookedUp: boolean): StepResult {
  const { failure: type, retryAfterSeconds, outcomeUnknown } = told;
  if (outcomeUnknown && !isLookedUp) return failure('unknown', `${told.message}. ${notRepeatedAdvice}`);
  const message = outcomeUnknown ? `${told.message}. ${lookupAdvice}` : toActionMessage(told);
  const retryable = type === 'rate_limited' || type === 'unavailable';
  return { kind: 'fail', type, message, retryable, retryAfterSeconds };
}

const notRepeatedAdvice = 'Whether it took effect is not known, so it was not done again; look at the tool, then retry the run';
const lookupAdvice = 'Whether it took effect is not known; another try looks for it first';

const toActionMessage = ({ failure: type, message }: ActionFailure): string =>
  type === 'insufficient_permissions' ? `${message}; connect it again and grant that, or have somebody do so who may` : message;
