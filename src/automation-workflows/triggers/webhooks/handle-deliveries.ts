import type { Context } from '../../../context.ts';
import { contactsByIdsStatement, contactRecordFromRow } from '../../../contacts/contacts/find-contacts.ts';
import type { ContactRecord } from '../../../contacts/contacts/records.ts';
import { resolvePayloads } from '../../../database/payload.ts';
import type { RunCandidate } from '../../runs/admission/candidate.ts';
import { startRuns } from '../../runs/admission/start-runs.ts';
import { markDeliveriesHandled, findUnhandledDeliveries, type UnhandledDelivery, type HandledDelivery } from './store.ts';
import { decideTrigger } from '../match-trigger.ts';
import type { WebhookConfig } from './config.ts';
import { noElementNote } from './split.ts';
import { batchByPayloadSize } from '../payload-batches.ts';
import { clearTriggerError, recordTriggerError, triggersByIdStatement, type TriggerWithWorkflow } from '../store.ts';
import { toDeliveryVariables, type DeliveryPayload, type RunCause } from '../../runs/cause.ts';

/** Starts the runs of accepted deliveries and marks the deliveries as handled. Repeatable, and with `isLastTry`, like `handleEvents`; so are the ids that it returns. */
export async function handleDeliveries(context: Context, ids: number[], isLastTry = false): Promise<number[]> {
  const { database, organization } = context;
  const deliveries = await findUnhandledDeliveries(database, organization.id, ids);
  if (!deliveries.length) return [];
  const [triggerRows, contactRows] = await database.batch([
    triggersByIdStatement(database, organization.id, [...new Set(deliveries.map((delivery) => delivery.trigger_id))]),
    contactsByIdsStatement(context, [...new Set(deliveries.flatMap((delivery) => delivery.contact_id ?? []))]),
  ]);
  const triggers = new Map(triggerRows.map((trigger) => [trigger.id, trigger]));
  const contacts = new Map(contactRows.map(contactRecordFromRow).map((contact) => [contact.id, contact]));
  const handled: HandledDelivery[] = [];
  const startErrors: unknown[] = [];
  for (const batch of batchByPayloadSize(deliveries, (delivery) => delivery.payload)) {
    if (context.turn?.isOver && handled.length > 0) break;
    handled.push(...(await startDeliveryRuns(context, batch, { triggers, contacts, startErrors })));
  }
  if (startErrors.length && !isLastTry) throw startErrors[0];
  await markDeliveriesHandled(database, organization.id, handled, context.clock());
  const handledIds = new Set(handled.map(({ id }) => id));
  return deliveries.map(({ id }) => id).filter((id) => !handledIds.has(id));
}

/** What was wrong with a delivery; null: nothing. */
type Reading = { id: number; problem: string | null };

/**
 * Records in the triggers' `last_error` what of their last deliveries could not be read, and clears an earlier error if nothing was wrong with the
 * last one. A trigger without an error is not written.
 */
function recordLastReadings(context: Context, triggers: Map<number, TriggerWithWorkflow>, last: Map<number, Reading>): void {
  const { database, organization } = context;
  for (const [triggerId, { id, problem }] of last) {
    const known = triggers.get(triggerId)?.last_error ?? null;
    const message = problem === null ? null : `Delivery ${id} was not read as a whole. ${problem}`;
    if (message !== null) context.defer(recordTriggerError(database, organization.id, triggerId, message));
    else if (known !== null) context.defer(clearTriggerError(database, organization.id, triggerId, known));
  }
}

/** Starts the runs of as many deliveries as the context's turn has time for, at least the first. */
async function startDeliveryRuns(
  context: Context,
  deliveries: UnhandledDelivery[],
  {
    triggers,
    contacts,
    startErrors,
  }: { triggers: Map<number, TriggerWithWorkflow>; contacts: Map<number, ContactRecord>; startErrors: unknown[] },
): Promise<HandledDelivery[]> {
  const payloads = (await resolvePayloads(
    context.bindings.FILES,
    deliveries.map((delivery) => delivery.payload),
  )) as DeliveryPayload[];
  const candidates: (RunCandidate & { deliveryId: number; problem: string | null })[] = [];
  const handled: HandledDelivery[] = [];
  const lastReadings = new Map<number, Reading>();
  for (const [index, delivery] of deliveries.entries()) {
    if (context.turn?.isOver && index > 0) break;
    const trigger = triggers.get(delivery.trigger_id);
    const payload = payloads[index]!;
    const problem = payload.unread ?? null;
    const recordReading = () => lastReadings.set(delivery.trigger_id, { id: delivery.id, problem });
    if (problem !== null) recordReading();
    const cause: RunCause = {
      key: `delivery:${delivery.id}`,
      contact: delivery.contact_id === null ? null : (contacts.get(delivery.contact_id) ?? null),
      event: null,
      webhook: payload,
      source: 'delivery',
      sourceId: delivery.id,
      initialContext: toDeliveryVariables(payload),
      depth: 0,
    };
    if (payload.element?.of === 0) {
      handled.push({ id: delivery.id, note: payload.unread ?? noElementNote(trigger && (JSON.parse(trigger.config) as WebhookConfig)) });
      continue;
    }
    if (trigger === undefined) {
      handled.push({ id: delivery.id, note: 'The trigger is gone' });
      continue;
    }
    const decision = await decideTrigger(context, trigger, cause);
    if (decision.kind === 'starts') candidates.push({ ...decision.candidate, deliveryId: delivery.id, problem });
    else handled.push({ id: delivery.id, note: decision.kind === 'failed' ? decision.message : "The trigger's filter does not match" });
    // An evaluation that fails is recorded where it is made.
    if (decision.kind === 'failed') lastReadings.delete(delivery.trigger_id);
    else recordReading();
  }
  const { refused, startErrors: failures } = await startRuns(context, candidates);
  startErrors.push(...failures);
  const notes = new Map(refused.map(({ candidate, message }) => [candidate.dedupKey, message]));
  for (const candidate of candidates) handled.push({ id: candidate.deliveryId, note: notes.get(candidate.dedupKey) ?? candidate.problem });
  recordLastReadings(context, triggers, lastReadings);
  return handled;
}
