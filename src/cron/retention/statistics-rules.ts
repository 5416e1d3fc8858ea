import { counterTableNames } from '../../statistics/counter-tables.ts';
import { foldPage } from '../../statistics/fold.ts';
import type { RetentionRule } from './rule.ts';

/** Counters: quarters of an hour become days, and days go when they have been kept long enough. */
export const statisticsRules: RetentionRule[] = counterTableNames.map((table) => ({
  table,
  setting: 'STATISTICS_RETENTION_DAYS',
  removePage: ({ bindings, database, now, settings }) =>
    foldPage({ bindings, database, now, keptDays: settings.STATISTICS_RETENTION_DAYS }, table),
}));
