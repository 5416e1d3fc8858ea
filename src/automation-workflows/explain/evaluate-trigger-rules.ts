import type { TriggerRow, TriggerType } from '../triggers/store.ts';
import { evaluateContactEvent } from './trigger-types/contact-event.ts';
import { evaluateDataCondition } from './trigger-types/data-condition.ts';
import type { EvaluationInput } from './evaluation-input.ts';
import { evaluateInternalEvent } from './trigger-types/internal-event.ts';
import type { TriggerEvaluation } from './trigger-evaluation.ts';
import { evaluateManual } from './trigger-types/manual.ts';
import { evaluateSchedule } from './trigger-types/schedule.ts';
import { evaluateWebhook } from './trigger-types/webhook.ts';

const evaluators: Record<TriggerType, (evidence: EvaluationInput, trigger: TriggerRow) => TriggerEvaluation | Promise<TriggerEvaluation>> =
  {
    contact_event: evaluateContactEvent,
    webhook: evaluateWebhook,
    schedule: evaluateSchedule,
    data_condition: evaluateDataCondition,
    event: evaluateInternalEvent,
    manual: evaluateManual,
  };

/** What the rules of the trigger's type say of the contact. */
export const evaluateTriggerRules = async (evidence: EvaluationInput, trigger: TriggerRow): Promise<TriggerEvaluation> =>
  evaluators[trigger.type](evidence, trigger);
