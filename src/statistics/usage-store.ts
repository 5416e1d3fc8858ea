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
