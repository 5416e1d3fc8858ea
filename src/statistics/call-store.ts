import type { Database, Parameter, Statement } from '../database/client.ts';
import type { callStatistic } from '../database/schema/statistics.ts';
import type { StoredRow } from '../database/stored-row.ts';
import { maxGroupRows, periodRowsSql } from './period-rows.ts';

type CallCounters = StoredRow<typeof callStatistic>;

/** What calls are grouped by, by its name in the API, with its column. */
export const callDimensions = {
  workflow_id: 'agent_id',
  campaign_id: 'campaign_id',
  automation_workflow_id: 'journey_id',
  own_number: 'own_number',
  direction: 'direction',
  outcome: 'outcome',
  disposition: 'disposition',
} as const satisfies Record<string, keyof CallCounters>;
export type CallDimension = keyof typeof callDimensions;

/** Only calls with these values. */
export type CallCounterFilter = Partial<Record<CallDimension, string | number | undefined>>;

/** Sums of the counters, of calls with the same bucket, dimensions, outcome and disposition. */
export type CallGroupRow = Pick<
  CallCounters,
  | 'outcome'
  | 'disposition'
  | 'calls'
  | 'talk_seconds'
  | 'line_seconds'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'cost_micros'
  | 'unpriced_calls'
  | 'questions'
  | 'unanswered_questions'
> &
  Partial<Pick<CallCounters, (typeof callDimensions)[CallDimension]>> & { bucket: number };

const own = 's.organization_id = ?1';
const sums = [
  'calls',
  'talk_seconds',
  'line_seconds',
  'prompt_tokens',
  'completion_tokens',
  'cost_micros',
  'unpriced_calls',
  'questions',
  'unanswered_questions',
] as const;

/**
 * Sums the counters of periods (`toPeriodsJson`). `hasChats`: text chats, too, whose direction is `chat`. One answered row more than `maxGroupRows` means
 * that there are too many.
 */
export function sumCalls(
  database: Database,
  organizationId: number,
  periods: string,
  { by, filter, hasChats = false }: { by: readonly CallDimension[]; filter: CallCounterFilter; hasChats?: boolean },
): Statement<CallGroupRow> {
  const columns = [...new Set(['bucket', ...by.map((name) => callDimensions[name]), 'outcome', 'disposition'])].join(', ');
  const conditions: string[] = [hasChats ? 'true' : "direction <> 'chat'"];
  const parameters: Parameter[] = [];
  for (const [name, column] of Object.entries(callDimensions)) {
    const value = filter[name as CallDimension];
    if (value === undefined) continue;
    parameters.push(value);
    conditions.push(`${column} = ?${parameters.length + 2}`);
  }
  return database.prepare<CallGroupRow>(
    `SELECT ${columns}, ${sums.map((name) => `sum(${name}) AS ${name}`).join(', ')} FROM ${periodRowsSql('call_statistic', own)}
     WHERE ${conditions.join(' AND ')} GROUP BY ${columns} HAVING sum(calls) <> 0 ORDER BY bucket LIMIT ${maxGroupRows + 1}`,
    organizationId,
    periods,
    ...parameters,
  );
}
