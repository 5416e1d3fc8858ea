import { backgroundContext } from '../../accounts/organizations.ts';
import type { Context } from '../../accounts/context.ts';
import type { Database } from '../../database/client.ts';
import { announceScheduleFire } from '../../queues/announce.ts';
import { missedFires } from '../schedule.ts';
import type { TriggerConfig } from './configs.ts';
import { dueTriggers, recordFire } from './schedule-store.ts';

const pageSize = 500;

/** Records the firings that are due on a shard and has them worked off. Run twice or late, a minute still fires once. */
export async function fireSchedules(
  bindings: Env,
  database: Database,
  now: number,
  { log, defer }: Pick<Context, 'log' | 'defer'>,
): Promise<void> {
  for (const trigger of await dueTriggers(database, now, pageSize)) {
    try {
      const config = JSON.parse(trigger.config) as TriggerConfig<'schedule'>;
      const { fireAt, nextFireAt } = missedFires(config, trigger.next_fire_at!, now);
      const isOurs = await recordFire(database, trigger, { scheduledAt: fireAt, nextFireAt }, now);
      const context = isOurs && fireAt !== null ? await backgroundContext(bindings, trigger.organization_id, defer) : null;
      if (context) announceScheduleFire(context, trigger.id, fireAt!);
    } catch (error) {
      log.error('a schedule could not be fired; the next tick tries again', error, { trigger_id: trigger.id });
    }
  }
}
