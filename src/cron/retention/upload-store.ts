import { isNotInTransitSql } from '../../database/transit.ts';
import { and, eq } from 'drizzle-orm';
import type { Database } from '../../database/client.ts';
import { roundRobinQuery } from '../../database/round-robin-query.ts';
import { knowledgeDocument } from '../../database/schema/knowledge-base.ts';

export interface StoredUpload {
  name: string;
  organization_id: number;
}

/** Uploads that were not checked since `before`, with organizations in turns. */
export const findOldUploads = (database: Database, before: number, limit: number): Promise<StoredUpload[]> =>
  database.all(
    database.prepare<StoredUpload>(
      roundRobinQuery('name, organization_id', `upload WHERE created_at < ? AND ${isNotInTransitSql('organization_id')}`, 'created_at'),
      before,
      limit,
    ),
  );

/** Whether a draft, or a campaign whose rows are not archived, uses the file. */
export async function isUsedByCampaign(database: Database, organizationId: number, sourceId: string): Promise<boolean> {
  const row = await database.first(
    database.prepare(
      'SELECT 1 FROM campaign INDEXED BY campaign_organization WHERE organization_id = ? AND source_id = ? AND archive IS NULL LIMIT 1',
      organizationId,
      sourceId,
    ),
  );
  return row !== null;
}

/** Whether a document uses the file. The file is then deleted with the document. */
export async function isUsedByDocument(database: Database, organizationId: number, uuid: string): Promise<boolean> {
  const query = database.orm
    .select({ id: knowledgeDocument.id })
    .from(knowledgeDocument)
    .where(and(eq(knowledgeDocument.organizationId, organizationId), eq(knowledgeDocument.uuid, uuid)));
  return (await database.run(() => query)).length > 0;
}

export async function deleteUploadRows(database: Database, names: string[]): Promise<void> {
  await database.all(
    database.prepare('DELETE FROM upload WHERE name IN (SELECT value FROM json_each(?))', JSON.stringify(names)),
    'idempotent',
  );
}

/** They are looked at again as late as if they were new. */
export async function postponeUploadCheck(database: Database, names: string[], now: number): Promise<void> {
  await database.all(
    database.prepare('UPDATE upload SET created_at = ? WHERE name IN (SELECT value FROM json_each(?))', now, JSON.stringify(names)),
    'idempotent',
  );
}
