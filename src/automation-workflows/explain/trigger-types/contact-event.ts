import { PayloadGoneError, resolvePayload } from '../../../database/payload.ts';
import type { LatestEvent } from '../../../events/latest-events.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import type { TriggerRow } from '../../triggers/store.ts';
import { conditionCheck } from '../condition-check.ts';
import { readTriggerConfig, type EvaluationInput } from '../evaluation-input.ts';
import { deliveryStatus, type TriggerEvaluation } from '../trigger-evaluation.ts';
import { sampleFromEvent, unknownSample, type SampleEvent } from '../sample-event.ts';

const noEventText = 'no such event of this contact yet';
const maxListedTypes = 5;

/** The filter is evaluated with the contact's latest event of one of the trigger's types. */
export async function evaluateContactEvent(input: EvaluationInput, trigger: TriggerRow): Promise<TriggerEvaluation> {
  const { event_types: types, filter } = readTriggerConfig<'contact_event'>(trigger);
  const latest = input.events.find((event) => types.includes(event.event_type));
  const sample = latest
    ? await loadSample(input, latest).catch((error: unknown) => toUnknownSample(input, error))
    : unknownSample(input, noEventText, ['webhook']);
  const names =
    types.length > maxListedTypes ? [...types.slice(0, maxListedTypes), `one of ${types.length - maxListedTypes} more types`] : types;
  return {
    when: `when an event ${names.join(' or ')} of the contact comes`,
    latestText: latest ? `the latest is ${describeEvent(latest)}${deliveryStatus(latest)}` : noEventText,
    checks: filter ? [conditionCheck('filter', filter, sample, input.now)] : [],
    sample,
  };
}

async function loadSample(input: EvaluationInput, event: LatestEvent): Promise<SampleEvent> {
  const { id, event_type: type, contact_id, created_at: createdAt } = event;
  const data = await resolvePayload(input.context.bindings.FILES, event.data);
  return sampleFromEvent(
    input,
    { id, type, contact_id, data, createdAt },
    { label: describeEvent(event), details: { event_id: id, event_type: type, created_at: toTimestamp(createdAt) } },
  );
}

const describeEvent = ({ id, event_type, created_at }: LatestEvent): string => `event ${id} (${event_type}) of ${toTimestamp(created_at)}`;

function toUnknownSample(input: EvaluationInput, error: unknown): SampleEvent {
  if (error instanceof PayloadGoneError) return unknownSample(input, error.message, ['webhook']);
  throw error;
}
