import { PayloadGoneError, resolvePayload } from '../../../database/payload.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import type { LatestDelivery } from '../../triggers/webhooks/store.ts';
import type { TriggerRow } from '../../triggers/store.ts';
import { conditionCheck } from '../condition-check.ts';
import { readTriggerConfig, type EvaluationInput } from '../evaluation-input.ts';
import { deliveryStatus, type TriggerEvaluation } from '../trigger-evaluation.ts';
import { sampleFromDelivery, unknownSample, type SampleEvent } from '../sample-event.ts';
import type { DeliveryPayload } from '../../runs/cause.ts';

const noDeliveryText = 'no delivery of this contact to this trigger among the newest ones';

/** The filter is evaluated with the contact's latest delivery to the trigger. */
export async function evaluateWebhook(input: EvaluationInput, trigger: TriggerRow): Promise<TriggerEvaluation> {
  const { filter } = readTriggerConfig<'webhook'>(trigger);
  const latest = input.deliveries.get(trigger.id);
  const sample = latest
    ? await loadSample(input, latest).catch((error: unknown) => toUnknownSample(input, error))
    : unknownSample(input, noDeliveryText, ['event']);
  return {
    when: 'when a delivery that resolves to the contact comes to its webhook_url',
    latestText: latest ? `the latest is ${describeDelivery(latest)}${deliveryStatus(latest)}` : noDeliveryText,
    checks: filter ? [conditionCheck('filter', filter, sample, input.now)] : [],
    sample,
  };
}

async function loadSample(input: EvaluationInput, delivery: LatestDelivery): Promise<SampleEvent> {
  const payload = await resolvePayload<DeliveryPayload>(input.context.bindings.FILES, delivery.payload);
  const details = { delivery_id: answeredDeliveryId(delivery), created_at: toTimestamp(delivery.created_at) };
  return sampleFromDelivery(input, payload, { label: describeDelivery(delivery), details });
}

/** The delivery id in the answer to the sender. */
const answeredDeliveryId = ({ delivery_id, id }: LatestDelivery): string => delivery_id ?? String(id);

const describeDelivery = (delivery: LatestDelivery): string =>
  `delivery ${answeredDeliveryId(delivery)} of ${toTimestamp(delivery.created_at)}`;

function toUnknownSample(input: EvaluationInput, error: unknown): SampleEvent {
  if (error instanceof PayloadGoneError) return unknownSample(input, error.message, ['event']);
  throw error;
}
