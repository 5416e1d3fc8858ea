import { retryRun } from '../automation-workflows/runs/lifecycle/retry-run.ts';
import { patchTrigger } from '../automation-workflows/triggers/change-trigger.ts';
import { retryDelivery } from '../automation-workflows/triggers/webhooks/retry-delivery.ts';
import { withCallSlots } from '../calls/rpc.ts';
import { changeCampaignState } from '../campaigns/lifecycle/change-state.ts';
import { readCampaign } from '../campaigns/queries/read.ts';
import type { Context } from '../context.ts';
import { retryEvent } from '../events/handling.ts';
import { resync } from '../integrations/sync/start-sync.ts';
import { reprocessDocument } from '../knowledge-base/documents/change-document.ts';
import { conflict, notFound } from '../library/errors.ts';
import { enqueueAdmission, enqueueCleanup, enqueueFanout } from '../outbox/enqueue.ts';
import { isRetriedMessage } from '../outbox/failed-messages.ts';
import { EventsMessage, FanoutMessage } from '../outbox/messages.ts';
import { existingEndpoint, resumeEndpoint } from '../webhook-endpoints/endpoints/change-endpoint.ts';
import { retryQueue } from './retry-queue.ts';
import { parseStuckId, type RetriedKind } from './kinds.ts';
import { reopenCleanupStatement } from './stores/cleanups-store.ts';
import { deliveryOwnerStatement } from './stores/deliveries-store.ts';
import { journeyHoldStatement } from './stores/journeys-store.ts';
import { retryFailureStatement } from './stores/retrying-store.ts';
import { reopenFireStatement } from './stores/schedule-fires-store.ts';

/**
 * Has a thing that stands still tried again, by the operation of its own kind. Repeatable: nothing is done twice. Throws 404 for an unknown id, and 409
 * where the thing no longer stands still or only a person can help; the message says what to do.
 */
export async function retryStuck(context: Context, stuckId: string): Promise<{ kind: RetriedKind; message: string }> {
  const parsed = parseStuckId(stuckId);
  if (!parsed) throw notFound('Stuck record');
  return { kind: parsed.kind, message: await retries[parsed.kind](context, parsed.key) };
}

const toId = (key: string): number => {
  if (!/^[1-9]\d{0,15}$/.test(key)) throw notFound('Stuck record');
  return Number(key);
};

/** Of each kind, what trying again is. Each answers what happens now, in a sentence. */
const retries: Record<RetriedKind, (context: Context, key: string) => Promise<string>> = {
  async event(context, key) {
    await retryEvent(context, toId(key));
    return 'The event is sent to its journeys again';
  },
  async delivery(context, key) {
    const { database, organization } = context;
    const id = toId(key);
    const owner = await database.first(deliveryOwnerStatement(database, organization.id, id));
    if (!owner) throw notFound('Delivery');
    await retryDelivery(context, owner.workflow_id, owner.trigger_id, { id });
    return 'The delivery is sent to its journey again';
  },
  async schedule_fire(context, key) {
    const [triggerId, scheduledAt] = key.split(':').map(toId);
    if (triggerId === undefined || scheduledAt === undefined) throw notFound('Firing');
    const { database, organization } = context;
    const reopened = await database.all(reopenFireStatement(database, organization.id, { triggerId, scheduledAt }), 'read-back');
    if (reopened.length === 0) throw conflict('The firing is not given up: it is open, or was handled meanwhile');
    enqueueFanout(context, {
      v: 1,
      kind: 'schedule_fire',
      organization_id: organization.id,
      trigger_id: triggerId,
      scheduled_at: scheduledAt,
    });
    return 'The firing goes on with the members that it has not reached';
  },
  async cleanup(context, key) {
    const { database, organization } = context;
    const id = toId(key);
    const reopened = await database.all(reopenCleanupStatement(database, organization.id, id), 'read-back');
    if (reopened.length === 0) throw conflict('The cleanup is not given up: it is open, or is done');
    enqueueCleanup(context, id);
    return 'The rest is worked off';
  },
  retrying: retryFailure,
  queue: retryQueue,
  async run(context, key) {
    await retryRun(context, toId(key), 'run');
    return 'The run goes on from the node where it failed';
  },
  async journey(context, key) {
    const { database, organization } = context;
    const id = toId(key);
    const row = await database.first(journeyHoldStatement(database, organization.id, id));
    if (!row) throw notFound('Workflow');
    if (row.status !== 'active')
      throw conflict(`The journey is ${row.status}; PATCH /automation-workflows/${id} with {"status": "active"} lets its runs go on`);
    if (row.held_runs_count === 0) throw conflict('No run of the journey waits for its turn');
    enqueueAdmission(context, id);
    return 'Free places are given out; runs beyond settings.max_active_runs wait on';
  },
  async trigger(context, key) {
    await patchTrigger(context, toId(key), {});
    return 'The trigger is saved anew; a schedule has its next moment again';
  },
  async campaign(context, key) {
    const id = toId(key);
    const { state } = await readCampaign(context, id);
    if (state === 'paused') {
      const { state: after, state_reason: reason } = await changeCampaignState(context, id, 'resume');
      if (after === 'paused') throw conflict(`The campaign stays paused: ${reason}`);
      return 'The campaign is resumed';
    }
    if (state !== 'running' && state !== 'syncing')
      throw conflict(`The campaign is ${state}; create a campaign from a source that can be read`);
    enqueueFanout(context, { v: 1, kind: 'poke', organization_id: context.organization.id, what: 'campaign', id });
    return 'The campaign is woken';
  },
  async call(context, key) {
    const { bindings, organization } = context;
    const isChecked = await withCallSlots(bindings, organization.id, (slots) => slots.recheckCall(key));
    if (!isChecked) throw conflict('The call is not known, or no longer stands still');
    return 'The call is looked at now';
  },
  async document(context, key) {
    await reprocessDocument(context, key, { encoding: undefined });
    return 'The document is processed again';
  },
  async integration(context, key) {
    await resync(context, toId(key));
    return 'The data source is read anew';
  },
  async webhook_endpoint(context, key) {
    const id = toId(key);
    const { status } = await existingEndpoint(context, id);
    if (status === 'disabled') {
      await resumeEndpoint(context, id);
      return 'The endpoint is resumed, and what waits is sent';
    }
    if (status !== 'active') throw conflict(`The endpoint is ${status}; resume it`);
    enqueueFanout(context, { v: 1, kind: 'poke', organization_id: context.organization.id, what: 'webhook_endpoint', id });
    return 'What is due is sent now';
  },
};

/** Has a record that failed handled at once, with the tries that it has left. */
async function retryFailure(context: Context, key: string): Promise<string> {
  const { database, organization, bindings, clock, defer } = context;
  const [row] = await database.all(retryFailureStatement(database, organization.id, key, clock()), 'read-back');
  if (!row) throw conflict('Nothing under this key fails any more: it was handled, or given up');
  const message = JSON.parse(row.message) as { kind: string };
  // A document has its own moment, and its size decides the queue: the minute tick sends it.
  if (!isRetriedMessage(message) || message.kind === 'document') return 'It is tried again by the next minute tick';
  const event = EventsMessage.safeParse(message);
  if (event.success) defer(bindings.EVENTS_QUEUE.send(event.data));
  else defer(bindings.FANOUT_QUEUE.send(FanoutMessage.parse(message)));
  return 'It is tried again now';
}
