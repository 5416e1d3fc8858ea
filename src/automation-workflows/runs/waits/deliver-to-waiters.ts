import pMap from 'p-map';
import type { Context } from '../../../context.ts';
import { findEventsToHandle } from '../../../events/handling.ts';
import type { FailedPart } from '../../../outbox/failed-messages.ts';
import type { FanoutMessage } from '../../../outbox/messages.ts';
import { SharedProjections, type WriteTogether } from '../engine/shared-projections.ts';
import { readEventField } from './wake.ts';
import { deleteWaiters, waitersStatement, type WaiterQuery, type Waiter } from './store.ts';
import { type RunEvent, loadRunEvents } from '../cause.ts';
import { type EventDelivery, callRun } from '../../rpc.ts';
import type { WaiterField } from '../store.ts';

type EventDeliveryMessage = Extract<FanoutMessage, { kind: 'run_event' }>;

const pageSize = 500;
const maxConcurrentDeliveries = 25;

/**
 * Delivers events to the runs that wait for them, a page of waiters at a time. The run decides whether it takes the event. Repeatable: a run
 * that took an event no longer waits. Answers the deliveries that failed, as messages that try again.
 */
export async function deliverToWaiters(context: Context, events: RunEvent[], fields: WaiterField[]): Promise<FailedPart[]> {
  const failed: FailedPart[] = [];
  const queries = toWaiterQueries(events, fields);
  if (!queries.length) return failed;
  const { database, organization } = context;
  const byId = new Map(events.map((event) => [event.id, event]));
  for (let afterRunId = 0; ;) {
    const page = await database.all(waitersStatement(database, organization.id, queries, afterRunId, pageSize));
    await deliverAll(context, page, byId, failed);
    if (page.length < pageSize) return failed;
    // The last run of a full page may have more waiters: the next page begins with that run again.
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

/** Delivers in parallel to several runs, and to each run in the order of the events. */
async function deliverAll(context: Context, page: Waiter[], events: Map<number, RunEvent>, failed: FailedPart[]): Promise<void> {
  const byRun = Map.groupBy(page, (waiter) => waiter.run_id);
  const runs = [...byRun];
  const stale: Waiter[] = [];
  const together = runs.length > 1 ? new SharedProjections(context, [...byRun.keys()]) : null;
  const deliverToRun = async ([runId, waiters]: [number, Waiter[]]) => {
    let isAwake = false;
    for (const [index, waiter] of waiters.entries()) {
      try {
        const answer = await deliverTo(context, waiter, events.get(waiter.event_id)!, together?.writerOf(runId));
        if (answer === 'stale') stale.push(waiter);
        isAwake ||= answer === 'taken';
      } catch (error) {
        // Later events of the run wait for the failed one.
        failed.push(...waiters.slice(index).map((undelivered) => ({ message: buildDeliveryMessage(context, undelivered), error })));
        break;
      }
    }
    if (!isAwake) together?.leave(runId);
  };
  await pMap(runs, deliverToRun, { concurrency: maxConcurrentDeliveries });
  await together?.close();
  if (stale.length) await deleteWaiters(context.database, context.organization.id, stale);
}

/** Delivers an event to the run of a waiter. Throws when the event must be delivered again. */
async function deliverTo(
  { bindings, organization }: Context,
  { run_id: runId, wait_id: waitId }: Pick<Waiter, 'run_id' | 'wait_id'>,
  event: RunEvent,
  writeTogether?: WriteTogether,
): Promise<EventDelivery> {
  const delivery = await callRun(bindings, organization.id, runId, (run) => run.deliverEvent(JSON.stringify(event), waitId, writeTogether));
  if (delivery === 'later') throw new Error(`run ${runId} is just falling asleep; its event comes again`);
  return delivery;
}

const buildDeliveryMessage = ({ organization }: Context, { event_id, run_id, wait_id }: Waiter): EventDeliveryMessage => ({
  v: 1,
  kind: 'run_event',
  organization_id: organization.id,
  id: event_id,
  run_id,
  wait_id,
});

/** Delivers an event again to a run that could not be reached. */
export async function redeliverEvent(context: Context, { id, run_id, wait_id }: EventDeliveryMessage): Promise<void> {
  const [row] = await findEventsToHandle(context, [id]);
  if (!row) return;
  const [event] = await loadRunEvents(context, [row]);
  await deliverTo(context, { run_id, wait_id }, event!);
}
