import type { Context } from '../../../context.ts';
import type { Database } from '../../../database/client.ts';
import { roundRobin } from '../../../library/collections.ts';
import { recordFailedParts, type FailedPart } from '../../../outbox/failed-messages.ts';
import type { FanoutMessage } from '../../../outbox/messages.ts';
import { sendAll } from '../../../outbox/enqueue.ts';
import { resolveDueFire } from '../../../expressions/cron-schedule.ts';
import type { TriggerConfig } from '../configs.ts';
import { findDueTrigger, findDueTriggers, recordFires, type ScheduleFire } from './store.ts';
import type { TriggerWithWorkflow } from '../store.ts';

const pageSize = 500;
/** A tick fires this many pages at most; the next tick continues. */
const maxPagesPerTick = 20;

/**
 * Records the firings of a shard that are due, and sends messages that start their runs. Repeatable: a minute fires once, even when the tick
 * runs twice or late. A few D1 calls a page. `now` in epoch ms.
 */
export async function fireSchedules(
  bindings: Env,
  database: Database,
  now: number,
  { log, defer }: Pick<Context, 'log' | 'defer'>,
): Promise<void> {
  for (let page = 0; page < maxPagesPerTick; page++) {
    const due = await findDueTriggers(database, now, pageSize);
    const failed: FailedPart[] = [];
    const fires = due.flatMap((trigger) => {
      try {
        return toScheduleFire(trigger, now);
      } catch (error) {
        const { id, organization_id } = trigger;
        log.error('a schedule could not be fired; it is tried again on its own', error, { trigger_id: id });
        failed.push({ message: { v: 1, kind: 'schedule', organization_id, id }, error });
        return [];
      }
    });
    await recordFailedParts(database, failed, now);
    if (fires.length) {
      await recordFires(database, fires, now);
      defer(enqueueFires(bindings, fires));
    }
    if (due.length < pageSize) return;
  }
}

/** Fires a schedule that could not be fired before, if it is still due. */
export async function retryScheduleFire({ bindings, database, organization, clock, defer }: Context, triggerId: number): Promise<void> {
  const now = clock();
  const trigger = await findDueTrigger(database, organization.id, triggerId, now);
  if (!trigger) return;
  const fires = [toScheduleFire(trigger, now)];
  await recordFires(database, fires, now);
  defer(enqueueFires(bindings, fires));
}

function toScheduleFire(trigger: TriggerWithWorkflow, now: number): ScheduleFire {
  const config = JSON.parse(trigger.config) as TriggerConfig<'schedule'>;
  const due = trigger.next_fire_at!;
  const { fireAt, nextFireAt } = resolveDueFire(config, due, now);
  return { trigger_id: trigger.id, organization_id: trigger.organization_id, due, scheduled_at: fireAt, next_fire_at: nextFireAt };
}

/** Sends a message for each firing, in turns by organization. A firing that two ticks send is handled once. */
async function enqueueFires(bindings: Env, fires: ScheduleFire[]): Promise<void> {
  const inTurn = roundRobin(fires, (fire) => fire.organization_id);
  const messages = inTurn.flatMap(({ trigger_id, organization_id, scheduled_at }): FanoutMessage[] =>
    scheduled_at === null ? [] : [{ v: 1, kind: 'schedule_fire', organization_id, trigger_id, scheduled_at }],
  );
  await sendAll(bindings.FANOUT_QUEUE, messages);
}
