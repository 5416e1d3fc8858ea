import type { Database } from '../../database/client.ts';
import { documentColumns, toDocumentRow, type DocumentRow } from '../documents/store.ts';

/** A document, and chunks of it that search will never find again, at most `limit`. None of them can come back to life. */
export async function findObsoleteChunks(
  database: Database,
  organizationId: number,
  id: number,
  limit: number,
): Promise<{ document: DocumentRow | null; ids: number[] }> {
  const [documents, chunks] = await database.batch([
    database.prepare(`SELECT ${documentColumns} FROM knowledge_document WHERE organization_id = ? AND id = ?`, organizationId, id),
    database.prepare(
      `SELECT c.id FROM knowledge_document d CROSS JOIN knowledge_chunk c
       WHERE d.organization_id = ? AND d.id = ? AND c.document_id = d.id AND NOT (
         d.is_active AND (c.generation = d.generation OR (c.generation = d.next_generation AND d.status IN ('pending', 'processing')))
       ) LIMIT ?`,
      organizationId,
      id,
      limit,
    ),
  ]);
  const document = documents![0] ? toDocumentRow(documents![0]) : null;
  return { document, ids: chunks!.map((row) => row['id'] as number) };
}

/** False: vectors belong elsewhere since `revision` of the placement, or others have deleted the rows; nothing was done. */
export async function deleteChunks(database: Database, organizationId: number, ids: number[], revision: number): Promise<boolean> {
  const remove = database.prepare(
    `DELETE FROM knowledge_chunk WHERE id IN (SELECT value FROM json_each(?1)) AND organization_id = ?2
         AND EXISTS (SELECT 1 FROM vector_placement p WHERE p.organization_id = ?2 AND p.revision = ?3) RETURNING id`,
    JSON.stringify(ids),
    organizationId,
    revision,
  );
  const [rows] = await database.batchOnce([remove], async ({ changes }) => [changes ? [{}] : []]);
  return rows!.length > 0;
}

/** Nothing more is to be done for a document, unless something has become of it since it was read. */
export async function markFinalized(database: Database, document: DocumentRow): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE knowledge_document SET due_at = NULL
       WHERE organization_id = ? AND id = ? AND next_generation = ? AND status = ? AND is_active = ?`,
      document.organization_id,
      document.id,
      document.next_generation,
      document.status,
      document.is_active ? 1 : 0,
    ),
    'idempotent',
  );
}
