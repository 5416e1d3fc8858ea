import type { ExplainCheck } from '../schemas.ts';
import type { TriggerRow } from '../../triggers/store.ts';
import { conditionCheck } from '../condition-check.ts';
import { readTriggerConfig, type EvaluationInput } from '../evaluation-input.ts';
import type { TriggerEvaluation } from '../trigger-evaluation.ts';
import { unknownSample } from '../sample-event.ts';

/** It fires on a change, so neither a contact that matches already nor one that does not match enters as it is. */
export function evaluateDataCondition(evidence: EvaluationInput, trigger: TriggerRow): TriggerEvaluation {
  const { condition, on } = readTriggerConfig<'data_condition'>(trigger);
  const occasion = unknownSample(evidence, 'what a change brings is known when it is made', ['webhook']);
  const check = conditionCheck('condition', condition, { ...occasion, details: { contact_id: evidence.contact.id } }, evidence.now);
  const change = changeCheck(evidence, on, check.passed);
  return {
    when: on.includes('updated')
      ? 'when a change makes the contact match the condition that it did not match before'
      : 'when a contact is created that matches the condition',
    latestText: '',
    checks: [check, ...(change ? [change] : [])],
    sample: occasion,
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
