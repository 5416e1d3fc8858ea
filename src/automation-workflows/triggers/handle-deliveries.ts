import type { Context } from '../../accounts/context.ts';
import { contactsStatement, recordOfRow } from '../../contacts/find-contacts.ts';
import type { ContactRecord } from '../../contacts/records.ts';
import { resolvePayloads } from '../../database/payload.ts';
import { variablesOfDelivery, type DeliveryPayload } from '../runs/records.ts';
import type { Candidate } from '../runs/candidate.ts';
import { startRuns } from '../runs/start.ts';
import { markDeliveries, unhandledDeliveries, type DeliveryToHandle, type HandledDelivery } from './delivery-store.ts';
import { candidateOf, type TriggerCause } from './match.ts';
import { portionsOf } from './portions.ts';
import { armedById, type ArmedTrigger } from './store.ts';

/** Starts the runs that accepted deliveries ask for and marks the deliveries as handled. Repeatable like `handleEvents`. */
export async function handleDeliveries(context: Context, ids: number[], isLastTry = false): Promise<void> {
  const { database, organization } = context;
  const deliveries = await unhandledDeliveries(database, organization.id, ids);
  if (!deliveries.length) return;
  const [triggerRows, contactRows] = await database.batch([
    armedById(database, organization.id, [...new Set(deliveries.map((delivery) => delivery.trigger_id))]),
    contactsStatement(context, [...new Set(deliveries.flatMap((delivery) => delivery.contact_id ?? []))]),
  ]);
  const triggers = new Map((triggerRows as unknown as ArmedTrigger[]).map((trigger) => [trigger.id, trigger]));
  const contacts = new Map(contactRows!.map(recordOfRow).map((contact) => [contact.id, contact]));
  const handled: HandledDelivery[] = [];
  const unstarted: unknown[] = [];
  for (const portion of portionsOf(deliveries, (delivery) => delivery.payload))
    handled.push(...(await startRunsOf(context, portion, { triggers, contacts, unstarted })));
  if (unstarted.length && !isLastTry) throw unstarted[0];
  await markDeliveries(database, organization.id, handled, context.clock());
}

async function startRunsOf(
  context: Context,
  deliveries: DeliveryToHandle[],
  { triggers, contacts, unstarted }: { triggers: Map<number, ArmedTrigger>; contacts: Map<number, ContactRecord>; unstarted: unknown[] },
): Promise<HandledDelivery[]> {
  const payloads = (await resolvePayloads(
    context.bindings.FILES,
    deliveries.map((delivery) => delivery.payload),
  )) as DeliveryPayload[];
  const candidates: (Candidate & { deliveryId: number })[] = [];
  const handled: HandledDelivery[] = [];
  for (const [index, delivery] of deliveries.entries()) {
    const trigger = triggers.get(delivery.trigger_id);
    const payload = payloads[index]!;
    const cause: TriggerCause = {
      key: `delivery:${delivery.id}`,
      contact: delivery.contact_id === null ? null : (contacts.get(delivery.contact_id) ?? null),
      event: null,
      webhook: payload,
      source: 'delivery',
      sourceId: delivery.id,
      initialContext: variablesOfDelivery(payload),
      depth: 0,
    };
    const [candidate] = trigger ? await candidateOf(context, trigger, cause) : [];
    if (candidate) candidates.push({ ...candidate, deliveryId: delivery.id });
    else handled.push({ id: delivery.id, note: trigger ? "The trigger's filter does not match" : 'The trigger is gone' });
  }
  const { refused, unstarted: failures } = await startRuns(context, candidates);
  unstarted.push(...failures);
  const notes = new Map(refused.map(({ candidate, message }) => [candidate.dedupKey, message]));
  for (const candidate of candidates) handled.push({ id: candidate.deliveryId, note: notes.get(candidate.dedupKey) ?? null });
  return handled;
}
