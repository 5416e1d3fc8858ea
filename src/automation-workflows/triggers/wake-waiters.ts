import type { Context } from '../../accounts/context.ts';
import { callRun } from '../runs/launch.ts';
import type { OfferedEvent } from '../runs/surroundings.ts';
import { valueAt, type Offer } from '../runs/wake.ts';
import { deleteWaiters, waitersStatement, type Sought, type Waiter, type WaiterField } from '../runs/waiter-store.ts';

const pageSize = 500;
const parallel = 25;

/**
 * Offers events to the runs that wait for them. Every waiter of an event is offered it, a page at a time; whether the run takes
 * it, is the run's to say. Repeatable: a run that has gone on no longer waits.
 */
export async function wakeWaiters(context: Context, events: OfferedEvent[], fields: WaiterField[]): Promise<void> {
  const sought = soughtOf(events, fields);
  if (!sought.length) return;
  const { database, organization } = context;
  const byId = new Map(events.map((event) => [event.id, event]));
  for (let afterRunId = 0; ;) {
    const page = await database.all<Waiter>(waitersStatement(database, organization.id, sought, afterRunId, pageSize));
    await offerAll(context, page, byId);
    if (page.length < pageSize) return;
    // The last run of a full page may have more waiters than fitted: it is looked at again.
    const last = page.at(-1)!.run_id;
    afterRunId = last - 1 > afterRunId ? last - 1 : last;
  }
}

function soughtOf(events: OfferedEvent[], fields: WaiterField[]): Sought[] {
  return events.flatMap((event) =>
    fields.flatMap(({ event_type, field }) => {
      const value = event_type === event.type ? valueAt(event, field || null) : null;
      return value === null ? [] : [{ event_id: event.id, event_type, field, value }];
    }),
  );
}

/** Events reach one run in their order; runs are asked side by side. */
async function offerAll(context: Context, page: Waiter[], events: Map<number, OfferedEvent>): Promise<void> {
  const runs = [...Map.groupBy(page, (waiter) => waiter.run_id).values()];
  const stale: Waiter[] = [];
  const failures: unknown[] = [];
  const worker = async () => {
    for (let waiters = runs.shift(); waiters; waiters = runs.shift()) {
      try {
        stale.push(...(await offerTo(context, waiters, events)));
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, runs.length) }, worker));
  if (stale.length) await deleteWaiters(context.database, context.organization.id, stale);
  if (failures.length) throw failures[0];
}

/** Answers the waiters that nobody stands behind any more. */
async function offerTo(context: Context, waiters: Waiter[], events: Map<number, OfferedEvent>): Promise<Waiter[]> {
  const stale: Waiter[] = [];
  for (const waiter of waiters) {
    const offer = await offerOne(context, waiter, events.get(waiter.event_id)!);
    if (offer === 'later') throw new Error(`run ${waiter.run_id} is just falling asleep; its event comes again`);
    if (offer === 'stale') stale.push(waiter);
  }
  return stale;
}

const offerOne = ({ bindings, organization }: Context, { run_id: runId, wait_id: waitId }: Waiter, event: OfferedEvent): Promise<Offer> =>
  callRun(bindings, organization.id, runId, (object) => object.offerEvent(JSON.stringify(event), waitId));
