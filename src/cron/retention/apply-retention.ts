import type { Database } from '../../database/client.ts';
import { countQueries, maxQueries } from '../../database/query-budget.ts';
import type { Logger } from '../../library/platform/log.ts';
import { getSettings } from '../../settings.ts';
import type { RetentionRule, RetentionRun } from './rule.ts';
import { retentionRules } from './rules.ts';

/** How long a tick clears a shard up. */
const budgetMs = 10_000;
/** What a page may ask of D1. */
const maxQueriesPerPage = 100;

/**
 * Removes what has been kept for as long as its rule says, a page of each table in turn, for as long as the tick has time and queries. Each
 * tick begins with another table, so that one with much to clear holds up no other. A rule that fails is logged and done for this tick.
 */
export async function applyRetention(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const sweeping: RetentionRun = { bindings, database, settings: getSettings(bindings), now };
  const startedAt = Date.now();
  const isSpent = () => Date.now() - startedAt >= budgetMs || countQueries(0) + maxQueriesPerPage > maxQueries;
  const first = Math.floor(now / 60_000) % retentionRules.length;
  let waiting = [...retentionRules.slice(first), ...retentionRules.slice(0, first)];
  while (waiting.length > 0) {
    const left: RetentionRule[] = [];
    for (const rule of waiting) {
      if (isSpent()) return;
      if (await hasMore(rule, sweeping, log)) left.push(rule);
    }
    waiting = left;
  }
}

async function hasMore(rule: RetentionRule, sweeping: RetentionRun, log: Logger): Promise<boolean> {
  try {
    return await rule.removePage(sweeping);
  } catch (error) {
    log.error('old rows were not removed', error, { table: rule.table });
    return false;
  }
}
