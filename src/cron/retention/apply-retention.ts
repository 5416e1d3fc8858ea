import { archiveRules } from './archive-rules.ts';
import { deletionRules } from './deletion-rules.ts';
import { expireArchives } from './expire-archives.ts';
import type { Database } from '../../database/client.ts';
import { countQueries, maxQueries } from '../../database/query-budget.ts';
import type { Logger } from '../../library/platform/log.ts';
import { getSettings } from '../../settings.ts';
import { statisticsRules } from './statistics-rules.ts';
import type { RetentionRule, RetentionRun } from './rule.ts';

/** Every table whose rows are removed after a retention time. `tables-without-retention.ts` names the others. */
export const retentionRules: RetentionRule[] = [...archiveRules, ...deletionRules, ...expireArchives, ...statisticsRules];

/** How long a tick spends on a shard. */
const budgetMs = 10_000;
/** The number of queries to D1 that a page may make. */
const maxQueriesPerPage = 100;

/**
 * Removes rows whose retention time is over, a page of each table in turn, while the tick has time and queries left. Each tick begins with
 * another table, so that a table with many old rows delays no other. A rule that fails is logged and skipped until the next tick.
 */
export async function applyRetention(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const run: RetentionRun = { bindings, database, settings: getSettings(bindings), now };
  const startedAt = Date.now();
  const isSpent = () => Date.now() - startedAt >= budgetMs || countQueries(0) + maxQueriesPerPage > maxQueries;
  const first = Math.floor(now / 60_000) % retentionRules.length;
  let waiting = [...retentionRules.slice(first), ...retentionRules.slice(0, first)];
  while (waiting.length > 0) {
    const left: RetentionRule[] = [];
    for (const rule of waiting) {
      if (isSpent()) return;
      if (await hasMore(rule, run, log)) left.push(rule);
    }
    waiting = left;
  }
}

async function hasMore(rule: RetentionRule, run: RetentionRun, log: Logger): Promise<boolean> {
  try {
    return await rule.removePage(run);
  } catch (error) {
    log.error('old rows were not removed', error, { table: rule.table });
    return false;
  }
}
