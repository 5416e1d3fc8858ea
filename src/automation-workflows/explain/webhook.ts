import { PayloadGoneError, resolvePayload } from '../../database/payload.ts';
import { toTimestamp } from '../../library/clock.ts';
import type { DeliveryPayload } from '../runs/records.ts';
import type { LatestDelivery } from '../triggers/delivery-store.ts';
import type { TriggerRow } from '../triggers/store.ts';
import { conditionCheck } from './condition-check.ts';
import { configOf, type Evidence } from './evidence.ts';
import { fate, type Look } from './look.ts';
import { occasionOfDelivery, unknownOccasion, type Occasion } from './occasion.ts';

const none = 'no delivery of this contact to this trigger among the newest ones';

/** Its filter is held against the contact's latest delivery. */
export async function lookAtWebhook(evidence: Evidence, trigger: TriggerRow): Promise<Look> {
  const { filter } = configOf<'webhook'>(trigger);
  const latest = evidence.deliveries.get(trigger.id);
  const occasion = latest
    ? await occasionOf(evidence, latest).catch((error: unknown) => withoutPayload(evidence, error))
    : unknownOccasion(evidence, none, ['event']);
  return {
    when: 'when a delivery that resolves to the contact comes to its webhook_url',
    latest: latest ? `the latest is ${wordsOf(latest)}${fate(latest)}` : none,
    checks: filter ? [conditionCheck('filter', filter, occasion, evidence.now)] : [],
    occasion,
  };
}

async function occasionOf(evidence: Evidence, delivery: LatestDelivery): Promise<Occasion> {
  const payload = await resolvePayload<DeliveryPayload>(evidence.context.bindings.FILES, delivery.payload);
  const shown = { delivery_id: idOf(delivery), created_at: toTimestamp(delivery.created_at) };
  return occasionOfDelivery(evidence, payload, { of: wordsOf(delivery), shown });
}

/** As the sender was answered. */
const idOf = ({ delivery_id, id }: LatestDelivery): string => delivery_id ?? String(id);

const wordsOf = (delivery: LatestDelivery): string => `delivery ${idOf(delivery)} of ${toTimestamp(delivery.created_at)}`;

function withoutPayload(evidence: Evidence, error: unknown): Occasion {
  if (error instanceof PayloadGoneError) return unknownOccasion(evidence, error.message, ['event']);
  throw error;
}
