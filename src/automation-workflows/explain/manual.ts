import type { TriggerRow } from '../triggers/store.ts';
import { givenContextChecks } from './context-check.ts';
import { configOf, type Evidence } from './evidence.ts';
import type { Look } from './look.ts';
import { unknownOccasion } from './occasion.ts';

/** It fires when it is asked to. */
export function lookAtManual(evidence: Evidence, trigger: TriggerRow): Look {
  const { context_schema: schema = {} } = configOf<'manual'>(trigger);
  return {
    when: `when it is fired for the contact: POST /automation-workflows/${trigger.workflow_id}/triggers/${trigger.id}/fire`,
    latest: '',
    checks: givenContextChecks('trigger_context_schema', schema),
    occasion: unknownOccasion(evidence, 'the caller gives the context', ['event', 'webhook']),
  };
}
