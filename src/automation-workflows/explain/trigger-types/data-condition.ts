import type { ExplainCheck } from '../schemas.ts';
import type { TriggerRow } from '../../triggers/store.ts';
import { conditionCheck } from '../condition-check.ts';
import { readTriggerConfig, type EvaluationInput } from '../evaluation-input.ts';
import type { TriggerEvaluation } from '../trigger-evaluation.ts';
import { unknownSample } from '../sample-event.ts';

/** A data_condition trigger fires on a change of the contact, so no contact enters by it without being changed. */
export function evaluateDataCondition(input: EvaluationInput, trigger: TriggerRow): TriggerEvaluation {
  const { condition, on } = readTriggerConfig<'data_condition'>(trigger);
  const sample = unknownSample(input, 'what a change brings is known when it is made', ['webhook']);
  const check = conditionCheck('condition', condition, { ...sample, details: { contact_id: input.contact.id } }, input.now);
  const change = changeCheck(input, on, check.passed);
  return {
    when: on.includes('updated')
      ? 'when a change makes the contact match the condition that it did not match before'
      : 'when a contact is created that matches the condition',
    latestText: '',
    checks: [check, ...(change ? [change] : [])],
    sample,
  };
}

function changeCheck({ contact }: EvaluationInput, on: string[], matches: boolean | null): ExplainCheck | null {
  const rule = 'change';
  const { created_at } = contact;
  if (!on.includes('updated')) {
    const message = `It watches contacts that are created, and this one was at ${created_at}`;
    return { rule, passed: false, message, expected: on, actual: { created_at } };
  }
  if (!matches) return null;
  const message =
    'The contact matches already; it fires on the change from not matching to matching, so not again until the contact has stopped matching';
  return { rule, passed: false, message, expected: 'not matching before the change', actual: 'matching' };
}
