import { getTableConfig } from 'drizzle-orm/sqlite-core';
import { lazily } from '../library/lazily.ts';
import { callStatistic, journeyStatistic, usageStatistic } from '../database/schema/statistics.ts';

export const counterTableNames = ['call_statistic', 'journey_statistic', 'usage_statistic'] as const;
export type CounterTableName = (typeof counterTableNames)[number];

/** A table of counters. */
export interface CounterTable {
  name: CounterTableName;
  /** The first column of the primary key. Its values are of one organization each. */
  owner: 'organization_id' | 'workflow_id';
  /** The columns of the primary key besides `owner`, `is_day` and `period`. */
  dimensions: string[];
  /** The columns that are summed. */
  counters: string[];
}

const toCounterTable = (table: typeof callStatistic | typeof journeyStatistic | typeof usageStatistic): CounterTable => {
  const { name, columns, primaryKeys } = getTableConfig(table);
  const [owner, isDay, period, ...dimensions] = primaryKeys[0]!.columns.map((column) => column.name);
  const known = new Set(['organization_id', owner, isDay, period, ...dimensions]);
  return {
    name: name as CounterTableName,
    owner: owner as CounterTable['owner'],
    dimensions,
    counters: columns.map((column) => column.name).filter((column) => !known.has(column)),
  };
};

export const counterTables = lazily(() => [callStatistic, journeyStatistic, usageStatistic].map(toCounterTable));
