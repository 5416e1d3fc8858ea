import type { Database, Parameter, Statement } from '../database/client.ts';
import type { callStatistic } from '../database/schema/statistics.ts';
import type { StoredRow } from '../database/stored-row.ts';
import { maxGroupParts, maxGroupRows, periodRowsSql } from './period-rows.ts';

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
  'transfers',
  'transfers_taken',
  'transfer_seconds',
] as const;
type CallSums = Pick<CallCounters, (typeof sums)[number]>;

/** Calls with the same bucket and the same dimensions. */
export type CallGroupRow = CallSums &
  Partial<Pick<CallCounters, (typeof callDimensions)[CallDimension]>> & {
    bucket: number;
    /** JSON of `[outcome, disposition, calls]` of each outcome and disposition that calls of the group have. */
    parts: string;
    /** How many parts all groups have together; counted up to `maxGroupParts + 1`. */
    all_parts: number;
  };

const own = 's.organization_id = ?1';
const sumsSql = sums.map((name) => `sum(${name}) AS ${name}`).join(', ');

/** Telephone calls. Chats, and all runs of journeys together, are counted in the same table under directions of their own. */
const isCallSql = "direction IN ('inbound', 'outbound')";

/** Sums the telephone calls of periods (`toPeriodsJson`) by groups. One answered row more than `maxGroupRows` means that there are too many. */
export function sumCalls(
  database: Database,
  organizationId: number,
  periods: string,
  { by, filter }: { by: readonly CallDimension[]; filter: CallCounterFilter },
): Statement<CallGroupRow> {
  const columns = ['bucket', ...by.map((name) => callDimensions[name])];
  const columnsOfParts = [...new Set([...columns, 'outcome', 'disposition'])].join(', ');
  const conditions: string[] = [isCallSql];
  const parameters: Parameter[] = [];
  for (const [name, column] of Object.entries(callDimensions)) {
    const value = filter[name as CallDimension];
    if (value === undefined) continue;
    parameters.push(value);
    conditions.push(`${column} = ?${parameters.length + 2}`);
  }
  return database.prepare<CallGroupRow>(
    `WITH part AS MATERIALIZED (
       SELECT ${columnsOfParts}, ${sumsSql} FROM ${periodRowsSql('call_statistic', own)}
       WHERE ${conditions.join(' AND ')} GROUP BY ${columnsOfParts} HAVING sum(calls) <> 0 LIMIT ${maxGroupParts + 1})
     SELECT ${columns.join(', ')}, ${sumsSql}, json_group_array(json_array(outcome, disposition, calls)) AS parts,
       (SELECT count(*) FROM part) AS all_parts
     FROM part GROUP BY ${columns.join(', ')} ORDER BY bucket LIMIT ${maxGroupRows + 1}`,
    organizationId,
    periods,
    ...parameters,
  );
}

/** Calls, chats (`chat`) or ended runs of all journeys (`run`, of which `calls` is the number) of a period. */
export type WorkRow = CallSums & Pick<CallCounters, 'direction'> & { bucket: number };

/** Sums calls, chats and runs of periods (`toPeriodsJson`). `agentId` null: of all agents. */
export const sumWork = (database: Database, organizationId: number, periods: string, agentId: number | null): Statement<WorkRow> =>
  database.prepare<WorkRow>(
    `SELECT bucket, direction, ${sumsSql} FROM ${periodRowsSql('call_statistic', own)} WHERE ?3 IS NULL OR agent_id = ?3
     GROUP BY bucket, direction`,
    organizationId,
    periods,
    agentId,
  );
