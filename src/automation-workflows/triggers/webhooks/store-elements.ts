import { resolveMappedContacts } from '../../../contacts/upsert/resolve-mapped-contacts.ts';
import { storePayload } from '../../../database/payload.ts';
import { newRequestKey } from '../../../database/request-key.ts';
import type { Webhook } from './known-webhooks.ts';
import type { ReadDelivery } from './read-delivery.ts';
import { findKnownDeliveryIds, insertElements, type NewElement, type AcceptedRow } from './store.ts';

/**
 * Stores the elements of a request, all or none, after the contacts that they name. Answers in their order: the row of each, or that its id is
 * known, also from an earlier element; null when the trigger is no longer as it was read.
 */
export async function storeElements({ context, trigger, config }: Webhook, deliveries: ReadDelivery[]): Promise<AcceptedRow[] | null> {
  const { database, organization, bindings } = context;
  const fresh = await withoutKnown(context, trigger.id, deliveries);
  if (fresh.length === 0) return deliveries.map(() => 'duplicate');
  const contacts = fresh.map(({ contact }) => contact);
  const contactIds = await resolveMappedContacts(context, contacts, config.list_name ?? null);
  const elements: NewElement[] = [];
  for (const [index, { payload, deliveryId }] of fresh.entries()) {
    const key = () => `${organization.id}/deliveries/${crypto.randomUUID()}`;
    elements.push({
      deliveryId: deliveryId ?? newRequestKey(),
      contactId: contactIds[index]!,
      payload: await storePayload(bindings.FILES, key, JSON.stringify(payload)),
    });
  }
  const request = { organizationId: organization.id, triggerId: trigger.id, triggerConfig: trigger.config, createdAt: context.clock() };
  const stored = await insertElements(database, request, elements);
  if (stored === null) return null;
  const rows = new Map(fresh.map((delivery, index) => [delivery, stored[index]!]));
  return deliveries.map((delivery) => rows.get(delivery) ?? 'duplicate');
}

/** The deliveries whose ids are new, each id once. */
async function withoutKnown({ database }: Webhook['context'], triggerId: number, deliveries: ReadDelivery[]): Promise<ReadDelivery[]> {
  const given = deliveries.flatMap(({ deliveryId }) => deliveryId ?? []);
  const known = given.length === 0 ? new Set<string>() : await findKnownDeliveryIds(database, triggerId, given);
  return deliveries.filter(({ deliveryId }) => {
    if (deliveryId === null) return true;
    const isNew = !known.has(deliveryId);
    known.add(deliveryId);
    return isNew;
  });
}
