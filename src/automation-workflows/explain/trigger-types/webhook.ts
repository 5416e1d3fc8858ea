import { PayloadGoneError, resolvePayload } from '../../../database/payload.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import type { DeliveryPayload } from '../../runs/queries/records.ts';
import type { LatestDelivery } from '../../triggers/webhooks/store.ts';
import type { TriggerRow } from '../../triggers/store.ts';
import { conditionCheck } from '../condition-check.ts';
import { readTriggerConfig, type EvaluationInput } from '../evaluation-input.ts';
import { deliveryStatus, type TriggerEvaluation } from '../trigger-evaluation.ts';
import { sampleFromDelivery, unknownSample, type SampleEvent } from '../sample-event.ts';

const noDeliveryText = 'no delivery of this contact to this trigger among the newest ones';

/** Its filter is held against the contact's latest delivery. */
export async function evaluateWebhook(evidence: EvaluationInput, trigger: TriggerRow): Promise<TriggerEvaluation> {
  const { filter } = readTriggerConfig<'webhook'>(trigger);
  const latest = evidence.deliveries.get(trigger.id);
  const occasion = latest
    ? await loadSample(evidence, latest).catch((error: unknown) => toUnknownSample(evidence, error))
    : unknownSample(evidence, noDeliveryText, ['event']);
  return {
    when: 'when a delivery that resolves to the contact comes to its webhook_url',
    latestText: latest ? `the latest is ${describeDelivery(latest)}${deliveryStatus(latest)}` : noDeliveryText,
    checks: filter ? [conditionCheck('filter', filter, occasion, evidence.now)] : [],
    sample: occasion,
  };
}

async function loadSample(evidence: EvaluationInput, delivery: LatestDelivery): Promise<SampleEvent> {
  const payload = await resolvePayload<DeliveryPayload>(evidence.context.bindings.FILES, delivery.payload);
  const shown = { delivery_id: answeredDeliveryId(delivery), created_at: toTimestamp(delivery.created_at) };
  return sampleFromDelivery(evidence, payload, { label: describeDelivery(delivery), details: shown });
}

/** As the sender was answered. */
const answeredDeliveryId = ({ delivery_id, id }: LatestDelivery): string => delivery_id ?? String(id);

const describeDelivery = (delivery: LatestDelivery): string =>
  `delivery ${answeredDeliveryId(delivery)} of ${toTimestamp(delivery.created_at)}`;

function toUnknownSample(evidence: EvaluationInput, error: unknown): SampleEvent {
  if (error instanceof PayloadGoneError) return unknownSample(evidence, error.message, ['event']);
  throw error;
}
