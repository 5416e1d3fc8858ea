import type { TriggerRow } from '../../triggers/store.ts';
import { callerContextChecks } from '../context-check.ts';
import { readTriggerConfig, type EvaluationInput } from '../evaluation-input.ts';
import type { TriggerEvaluation } from '../trigger-evaluation.ts';
import { unknownSample } from '../sample-event.ts';

/** A manual trigger fires when a caller fires it. */
export function evaluateManual(input: EvaluationInput, trigger: TriggerRow): TriggerEvaluation {
  const { context_schema: schema = {} } = readTriggerConfig<'manual'>(trigger);
  return {
    when: `when it is fired for the contact: POST /automation-workflows/${trigger.workflow_id}/triggers/${trigger.id}/fire`,
    latestText: '',
    checks: callerContextChecks('trigger_context_schema', schema),
    sample: unknownSample(input, 'the caller gives the context', ['event', 'webhook']),
  };
}
