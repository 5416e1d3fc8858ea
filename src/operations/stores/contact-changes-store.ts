import type { Database, Statement } from '../../database/client.ts';
import { maxScannedRows, type Backlog } from './backlog.ts';

export const contactChangeBacklog = (database: Database, organizationId: number): Statement<Backlog> =>
  database.prepare<Backlog>(
    `SELECT count(*) AS waiting, min(created_at) AS oldest_at, count(*) = ${maxScannedRows} AS is_partial
     FROM (SELECT created_at FROM contact_change WHERE organization_id = ?1 ORDER BY id LIMIT ${maxScannedRows})`,
    organizationId,
  );
