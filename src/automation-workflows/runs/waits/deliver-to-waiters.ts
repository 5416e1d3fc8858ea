import type { Context } from '../../../context.ts';
import { findEventsToHandle } from '../../../events/handling.ts';
import type { FailedPart } from '../../../outbox/failed-messages.ts';
import type { FanoutMessage } from '../../../outbox/messages.ts';
import { readEventField } from './wake.ts';
import { deleteWaiters, waitersStatement, type WaiterQuery, type Waiter } from './store.ts';
import { type RunEvent, loadRunEvents } from '../cause.ts';
import { type EventDelivery, callRun } from '../../rpc.ts';
import type { WaiterField } from '../store.ts';

type EventDeliveryMessage = Extract<FanoutMessage, { kind: 'run_event' }>;

const pageSize = 500;
const maxConcurrentDeliveries = 25;

/**
 * Offers events to the runs that wait for them. Every waiter of an event is offered it, a page at a time; whether the run takes
 * it, is the run's to say. Answers the offers that failed. Repeatable: a run that has gone on no longer waits.
 */
export async function deliverToWaiters(context: Context, events: RunEvent[], fields: WaiterField[]): Promise<FailedPart[]> {
  const sought = toWaiterQueries(events, fields);
  if (!sought.length) return [];
  const failed: FailedPart[] = [];
  const { database, organization } = context;
  const byId = new Map(events.map((event) => [event.id, event]));
  for (let afterRunId = 0; ;) {
    const page = await database.all<Waiter>(waitersStatement(database, organization.id, sought, afterRunId, pageSize));
    failed.push(...(await deliverAll(context, page, byId)));
    if (page.length < pageSize) return failed;
    // The last run of a full page may have more waiters than fitted: it is looked at again.
    const last = page.at(-1)!.run_id;
    afterRunId = last - 1 > afterRunId ? last - 1 : last;
  }
}

function toWaiterQueries(events: RunEvent[], fields: WaiterField[]): WaiterQuery[] {
  return events.flatMap((event) =>
    fields.flatMap(({ event_type, field }) => {
      const value = event_type === event.type ? readEventField(event, field || null) : null;
      return value === null ? [] : [{ event_id: event.id, event_type, field, value }];
    }),
  );
}

/** Events reach one run in their order; runs are asked side by side. */
async function deliverAll(context: Context, page: Waiter[], events: Map<number, RunEvent>): Promise<FailedPart[]> {
  const runs = [...Map.groupBy(page, (waiter) => waiter.run_id).values()];
  const stale: Waiter[] = [];
  const failed: FailedPart[] = [];
  const worker = async () => {
    for (let waiters = runs.shift(); waiters; waiters = runs.shift()) {
      for (const [index, waiter] of waiters.entries()) {
        try {
          if ((await deliverTo(context, waiter, events.get(waiter.event_id)!)) === 'stale') stale.push(waiter);
        } catch (error) {
          // The events that follow wait for this one.
          failed.push(...waiters.slice(index).map((left) => ({ message: buildDeliveryMessage(context, left), error })));
          break;
        }
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrentDeliveries, runs.length) }, worker));
  if (stale.length) await deleteWaiters(context.database, context.organization.id, stale);
  return failed;
}

/** Offers an event to the run behind a waiter. Throws when it is to be offered again. */
async function deliverTo(
  { bindings, organization }: Context,
  { run_id: runId, wait_id: waitId }: Pick<Waiter, 'run_id' | 'wait_id'>,
  event: RunEvent,
): Promise<EventDelivery> {
  const offer = await callRun(bindings, organization.id, runId, (object) => object.deliverEvent(JSON.stringify(event), waitId));
  if (offer === 'later') throw new Error(`run ${runId} is just falling asleep; its event comes again`);
  return offer;
}

const buildDeliveryMessage = ({ organization }: Context, { event_id, run_id, wait_id }: Waiter): EventDeliveryMessage => ({
  v: 1,
  kind: 'run_event',
  organization_id: organization.id,
  id: event_id,
  run_id,
  wait_id,
});

/** Offers an event once more to a run that could not be reached. */
export async function redeliverEvent(context: Context, { id, run_id, wait_id }: EventDeliveryMessage): Promise<void> {
  const [row] = await findEventsToHandle(context, [id]);
  if (!row) return;
  const [event] = await loadRunEvents(context, [row]);
  await deliverTo(context, { run_id, wait_id }, event!);
}
