import { resolveMappedContact } from '../../../contacts/upsert/resolve-mapped-contact.ts';
import { storePayload } from '../../../database/payload.ts';
import { newRequestKey } from '../../../database/request-key.ts';
import type { Webhook } from './known-webhooks.ts';
import type { ReadDelivery } from './read-delivery.ts';
import { findKnownDeliveryIds, insertElements, type NewElement } from './store.ts';

/**
 * Stores the elements of a request, all or none, after the contacts that they name. Answers in their order: the row of each, or that its id is
 * known, also from an earlier element; `changed` alone when the trigger is no longer as it was read.
 */
export async function storeElements(
  { context, trigger, config }: Webhook,
  deliveries: ReadDelivery[],
): Promise<({ id: number } | 'duplicate' | 'changed')[]> {
  const { database, organization, bindings } = context;
  const given = deliveries.flatMap(({ deliveryId }) => deliveryId ?? []);
  const known = given.length === 0 ? new Set<string>() : await findKnownDeliveryIds(database, trigger.id, given);
  const elements: NewElement[] = [];
  const places: (number | null)[] = [];
  for (const { payload, contact, deliveryId } of deliveries) {
    if (deliveryId !== null && known.has(deliveryId)) {
      places.push(null);
      continue;
    }
    if (deliveryId !== null) known.add(deliveryId);
    const key = () => `${organization.id}/deliveries/${crypto.randomUUID()}`;
    places.push(elements.length);
    elements.push({
      deliveryId: deliveryId ?? newRequestKey(),
      contactId: await resolveMappedContact(context, contact, config.list_name ?? null),
      payload: await storePayload(bindings.FILES, key, JSON.stringify(payload)),
    });
  }
  if (elements.length === 0) return places.map(() => 'duplicate');
  const request = { organizationId: organization.id, triggerId: trigger.id, triggerConfig: trigger.config, createdAt: context.clock() };
  const stored = await insertElements(database, request, elements);
  return stored === null ? ['changed'] : places.map((place) => (place === null ? 'duplicate' : stored[place]!));
}
