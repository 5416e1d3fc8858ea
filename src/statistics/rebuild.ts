import { backgroundContext } from '../accounts/organizations/background-context.ts';
import type { Context } from '../context.ts';
import { isQueryBudgetSpent } from '../database/query-budget.ts';
import { catalog } from '../database/shards.ts';
import type { Logger } from '../library/platform/log.ts';
import { dayMs, startOfDay, toDay } from './periods.ts';
import {
  findAskedRebuilds,
  findNextJourney,
  rebuildCallsOfDay,
  rebuildJourney,
  rebuildUsage,
  saveRebuild,
  type AskedRebuild,
  type KeptSince,
  type RebuildPlace,
} from './rebuild-store.ts';

const organizationsPerTick = 5;
/** How long a tick rebuilds statistics. */
const budgetMs = 10_000;

/**
 * Counts the statistics of organizations again for which that was asked, from the records that are kept: messages, documents and chats, then one
 * journey after the other, then one day of calls after the other. Counts of deleted records stay. Each step is one transaction and may be repeated.
 */
export async function rebuildStatistics(bindings: Env, now: number, log: Logger, defer: Context['defer']): Promise<void> {
  const accounts = catalog(bindings);
  const startedAt = Date.now();
  for (const asked of await findAskedRebuilds(accounts, organizationsPerTick)) {
    const context = await backgroundContext(bindings, asked.id, defer);
    if (!context) continue;
    try {
      let current: AskedRebuild | null = asked;
      while (current && Date.now() - startedAt < budgetMs && !isQueryBudgetSpent()) {
        const next = await rebuildStep(context, JSON.parse(current.statistics_rebuild) as RebuildPlace, now);
        await saveRebuild(accounts, current, next);
        current = next && { id: asked.id, statistics_rebuild: JSON.stringify(next) };
      }
    } catch (error) {
      log.error('statistics were not counted again', error, { organization_id: asked.id });
    }
  }
}

/** Does one step and answers the next one; null: all is done. */
export async function rebuildStep(
  { database, organization, settings }: Context,
  { step = 'usage', after = 0 }: RebuildPlace,
  now: number,
): Promise<RebuildPlace | null> {
  const { timezone, id } = organization;
  const others = keptSince(timezone, now, settings.RETENTION_DAYS);
  const calls = keptSince(timezone, now, settings.CALL_RETENTION_DAYS);
  if (step === 'usage') {
    await rebuildUsage(database, id, { calls, others });
    return { step: 'journeys' };
  }
  if (step === 'journeys') {
    const workflowId = await findNextJourney(database, id, after);
    if (workflowId === null) return { step: 'calls', after: calls.day - dayMs };
    await rebuildJourney(database, id, workflowId, others);
    return { step, after: workflowId };
  }
  const day = Math.max(after + dayMs, calls.day);
  if (day > toDay(timezone, now)) return null;
  await rebuildCallsOfDay(database, id, { day, start: startOfDay(timezone, day), end: startOfDay(timezone, day + dayMs) });
  return { step, after: day };
}

/** The first whole day of which no record has been kept for `days`. */
function keptSince(timezone: string, now: number, days: number): KeptSince {
  const day = toDay(timezone, now - days * dayMs) + dayMs;
  return { day, moment: startOfDay(timezone, day) };
}
