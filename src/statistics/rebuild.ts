import { backgroundContext } from '../accounts/organizations/background-context.ts';
import type { Context } from '../context.ts';
import { isQueryBudgetSpent } from '../database/query-budget.ts';
import { catalog } from '../database/shards.ts';
import type { Logger } from '../library/platform/log.ts';
import { dayMs, startOfDay, toDay } from './periods.ts';
import {
  findAskedRebuilds,
  findNextJourney,
  hasManyRecords,
  hasManyRuns,
  rebuildCallsOfDay,
  rebuildChatsOfDay,
  rebuildDocuments,
  rebuildJourney,
  rebuildJourneyOfDay,
  rebuildMessagesOfDay,
  rebuildRunTotals,
  rebuildUsage,
  saveRebuild,
  type AskedRebuild,
  type KeptSince,
  type RebuildPlace,
  type RebuiltDay,
} from './rebuild-store.ts';

const organizationsPerTick = 5;
/** How long a tick rebuilds statistics. */
const budgetMs = 10_000;
/** How long a rebuild waits after an error, so that it holds up no other. */
const retryAfterMs = 10 * 60_000;
/** More records than this are counted day by day. */
const maxRecordsAtOnce = 5000;
/** Of how many days the runs of all journeys are added up at a time. */
const daysOfTotals = 7;

/**
 * Counts the statistics of organizations again for which that was asked, from the records that are kept: messages, documents and chats, then one
 * journey after the other, then all journeys together, then one day of calls after the other. Counts of deleted records stay. Each step is one
 * transaction over few records or over a day, and may be repeated. An organization that fails is tried again later.
 */
export async function rebuildStatistics(bindings: Env, now: number, log: Logger, defer: Context['defer']): Promise<void> {
  const accounts = catalog(bindings);
  const startedAt = Date.now();
  for (const asked of await findAskedRebuilds(accounts, now, organizationsPerTick)) {
    let current: AskedRebuild | null = asked;
    try {
      const context = await backgroundContext(bindings, asked.id, defer);
      if (!context) throw new Error('the organization cannot be read');
      while (current && Date.now() - startedAt < budgetMs && !isQueryBudgetSpent()) {
        const next = await rebuildStep(context, JSON.parse(current.statistics_rebuild) as RebuildPlace, now);
        await saveRebuild(accounts, current, next);
        current = next && { id: asked.id, statistics_rebuild: JSON.stringify(next) };
      }
    } catch (error) {
      log.error('statistics were not counted again', error, { organization_id: asked.id });
      if (current) await saveRebuild(accounts, current, { ...readPlace(current), retry_at: now + retryAfterMs });
    }
  }
}

/** The place of a rebuild that has failed. One that nobody can read begins anew. */
function readPlace({ statistics_rebuild: text }: AskedRebuild): RebuildPlace {
  try {
    return JSON.parse(text) as RebuildPlace;
  } catch {
    return {};
  }
}

/** Does one step and answers the next one; null: all is done. `maxAtOnce`: more records than this are counted day by day. */
export async function rebuildStep(
  context: Context,
  { step = 'usage', after = 0, day }: RebuildPlace,
  now: number,
  maxAtOnce = maxRecordsAtOnce,
): Promise<RebuildPlace | null> {
  const { database, organization, settings } = context;
  const { timezone, id } = organization;
  const today = toDay(timezone, now);
  const others = keptSince(timezone, now, settings.RETENTION_DAYS);
  const calls = keptSince(timezone, now, settings.CALL_RETENTION_DAYS);
  if (step === 'usage') {
    const done = await rebuildUsageStep(context, { calls, others }, { day, today, maxAtOnce });
    return done === null ? { step: 'journeys' } : { step, day: done };
  }
  if (step === 'journeys') {
    const workflowId = await findNextJourney(database, id, after);
    if (workflowId === null) return { step: 'runs', after: others.day - dayMs };
    const done = await rebuildJourneyStep(context, workflowId, others, { day, today, maxAtOnce });
    return done === null ? { step, after: workflowId } : { step, after, day: done };
  }
  if (step === 'runs') {
    const first = Math.max(after + dayMs, others.day);
    if (first > today) return { step: 'calls', after: calls.day - dayMs };
    const end = Math.min(first + daysOfTotals * dayMs, today + dayMs);
    await rebuildRunTotals(database, id, { first, end }, { start: startOfDay(timezone, first), end: startOfDay(timezone, end) });
    return { step, after: end - dayMs };
  }
  const next = Math.max(after + dayMs, calls.day);
  if (next > today) return null;
  await rebuildCallsOfDay(database, id, toRebuiltDay(timezone, next));
  return { step, after: next };
}

interface DayByDay {
  /** The last day that is done; undefined: none. */
  day: number | undefined;
  today: number;
  maxAtOnce: number;
}

/** Counts messages, chats and documents again, or a day of them. Answers the day; null: all is done. */
async function rebuildUsageStep(
  { database, organization: { id, timezone } }: Context,
  kept: { calls: KeptSince; others: KeptSince },
  { day, today, maxAtOnce }: DayByDay,
): Promise<number | null> {
  if (day === undefined) {
    if (!(await hasManyRecords(database, id, maxAtOnce))) {
      await rebuildUsage(database, id, kept);
      return null;
    }
    await rebuildDocuments(database, id, kept.others);
  }
  const next = Math.max((day ?? 0) + dayMs, Math.min(kept.calls.day, kept.others.day));
  if (next > today) return null;
  const rebuilt = toRebuiltDay(timezone, next);
  if (next >= kept.others.day) await rebuildMessagesOfDay(database, id, rebuilt);
  if (next >= kept.calls.day) await rebuildChatsOfDay(database, id, rebuilt);
  return next;
}

/** Counts the runs of a journey again, or a day of them. Answers the day; null: all is done. */
async function rebuildJourneyStep(
  { database, organization: { id, timezone } }: Context,
  workflowId: number,
  kept: KeptSince,
  { day, today, maxAtOnce }: DayByDay,
): Promise<number | null> {
  if (day === undefined && !(await hasManyRuns(database, workflowId, maxAtOnce))) {
    await rebuildJourney(database, id, workflowId, kept);
    return null;
  }
  const next = Math.max((day ?? 0) + dayMs, kept.day);
  if (next > today) return null;
  await rebuildJourneyOfDay(database, id, workflowId, toRebuiltDay(timezone, next));
  return next;
}

const toRebuiltDay = (timezone: string, day: number): RebuiltDay => ({
  day,
  start: startOfDay(timezone, day),
  end: startOfDay(timezone, day + dayMs),
});

/** The first whole day of which no record has been kept for `days`. */
function keptSince(timezone: string, now: number, days: number): KeptSince {
  const day = toDay(timezone, now - days * dayMs) + dayMs;
  return { day, moment: startOfDay(timezone, day) };
}
