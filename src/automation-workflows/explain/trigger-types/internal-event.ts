import type { ExplainCheck } from '../schemas.ts';
import type { internalEvents } from '../../internal-events.ts';
import type { TriggerRow } from '../../triggers/store.ts';
import { conditionCheck } from '../condition-check.ts';
import { readTriggerConfig, type EvaluationInput } from '../evaluation-input.ts';
import type { TriggerEvaluation } from '../trigger-evaluation.ts';
import { unknownSample } from '../sample-event.ts';

type EventName = (typeof internalEvents)[number];

const eventsWithoutContact: ReadonlySet<EventName> = new Set(['campaign.completed', 'document.processed', 'document.failed']);

/** Internal events are not stored, so the filter is evaluated with only the contact known. */
export function evaluateInternalEvent(input: EvaluationInput, trigger: TriggerRow): TriggerEvaluation {
  const { event, filter } = readTriggerConfig<'event'>(trigger);
  const sample = unknownSample(input, `the data of ${event} are known when it is reported`, ['webhook']);
  return {
    when: `when the service reports ${event} of the contact`,
    latestText: '',
    checks: [...eventChecks(input, event), ...(filter ? [conditionCheck('filter', filter, sample, input.now)] : [])],
    sample,
  };
}

function eventChecks({ contact }: EvaluationInput, event: EventName): ExplainCheck[] {
  const base = { rule: 'event' as const, passed: false, expected: 'an event of the contact' };
  if (event === 'contact.created') {
    const message = `${event} is reported once, and the contact was created at ${contact.created_at}`;
    return [{ ...base, message, actual: { created_at: contact.created_at } }];
  }
  if (eventsWithoutContact.has(event)) return [{ ...base, message: `${event} is about no contact, so its run has none`, actual: null }];
  return [];
}
