import type { Database, Statement } from '../database/client.ts';
import { maxGroupRows, periodRowsSql } from './period-rows.ts';

/** What was used in a period, of one kind. */
export interface UsageRow {
  bucket: number;
  kind: 'message' | 'document';
  name: string;
  items: number;
  bytes: number;
}

/** The messages and documents of periods (`toPeriodsJson`). */
export const sumUsage = (database: Database, organizationId: number, periods: string): Statement<UsageRow> =>
  database.prepare<UsageRow>(
    `SELECT bucket, kind, name, sum(items) AS items, sum(bytes) AS bytes FROM ${periodRowsSql('usage_statistic', 's.organization_id = ?1')}
     GROUP BY bucket, kind, name HAVING sum(items) <> 0 LIMIT ${maxGroupRows + 1}`,
    organizationId,
    periods,
  );

/** The ended runs of journeys in a period, with the tokens of their language models. */
export interface JourneyUsageRow {
  bucket: number;
  runs: number;
  prompt_tokens: number;
  completion_tokens: number;
}

/** The ended runs of all journeys of the organization by period. */
export const sumJourneyUsage = (database: Database, organizationId: number, periods: string): Statement<JourneyUsageRow> =>
  database.prepare<JourneyUsageRow>(
    `SELECT bucket, sum(runs) AS runs, sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens
     FROM ${periodRowsSql('journey_statistic', 's.workflow_id IN (SELECT id FROM automation_workflow WHERE organization_id = ?1)')}
     GROUP BY bucket LIMIT ${maxGroupRows + 1}`,
    organizationId,
    periods,
  );
