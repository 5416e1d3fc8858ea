import type { Database, Statement } from '../../database/client.ts';
import { maxScannedRows, type Backlog } from './backlog.ts';
import type { Source } from './source.ts';

export const failedDocuments: Source = {
  columns: { key: 'r.uuid', at: 'r.updated_at', state: "'failed'", name: 'r.filename', why: 'r.error' },
  from: "knowledge_document r INDEXED BY knowledge_document_failed WHERE r.organization_id = ?1 AND r.status = 'failed' AND r.is_active = 1",
  order: 'id',
};

const newestSql = (isActive: 0 | 1): string =>
  `SELECT * FROM (SELECT id, organization_id, is_active, next_generation, size_bytes, due_at FROM knowledge_document INDEXED BY knowledge_document_organization
     WHERE organization_id = ?1 AND is_active = ${isActive} ORDER BY id DESC LIMIT ${maxScannedRows})`;

/** The organization's documents whose next step is due before `?2`, among the newest 5,000 that it has and the newest 5,000 that it has deleted. */
const dueDocumentsSql = `WITH looked_at AS MATERIALIZED (${newestSql(1)} UNION ALL ${newestSql(0)}), due AS (SELECT * FROM looked_at WHERE due_at < ?2)`;

/** Documents whose next step is due. */
export const documentBacklog = (database: Database, organizationId: number, now: number): Statement<Backlog> =>
  database.prepare<Backlog>(
    `${dueDocumentsSql} SELECT (SELECT count(*) FROM due) AS waiting, (SELECT min(due_at) FROM due) AS oldest_at,
       (SELECT max(rows) FROM (SELECT count(*) AS rows FROM looked_at GROUP BY is_active)) = ${maxScannedRows} AS is_partial`,
    organizationId,
    now,
  );

/** Documents of the organization whose next step is due, the longest due first, among those that the backlog counts. */
export const waitingDocuments = (
  database: Database,
  organizationId: number,
  { now, limit }: { now: number; limit: number },
): Statement<{ id: number; organization_id: number; next_generation: number; size_bytes: number }> =>
  database.prepare<{ id: number; organization_id: number; next_generation: number; size_bytes: number }>(
    `${dueDocumentsSql} SELECT id, organization_id, next_generation, size_bytes FROM due ORDER BY due_at LIMIT ?3`,
    organizationId,
    now,
    limit,
  );
