import type { Database, Statement } from '../../database/client.ts';
import type { knowledgeDocument } from '../../database/schema/knowledge-base.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import type { DocumentWarning } from '../parsing/warnings.ts';
import { countLimit, cutPage, type PageResult, type CursorPosition } from '../../http/pagination.ts';

export const documentStatuses = ['pending', 'processing', 'completed', 'failed'] as const;
export type DocumentStatus = (typeof documentStatuses)[number];

/** A document's row with the columns of `documentColumns`. They are explained in `database/schema/knowledge-base.ts`. */
export type StoredDocument = StoredRow<typeof knowledgeDocument>;

/** A document. Moments in epoch ms. */
export interface DocumentRow extends Omit<StoredDocument, 'status' | 'parser_metadata' | 'warnings' | 'is_active'> {
  status: DocumentStatus;
  parser_metadata: Record<string, unknown>;
  warnings: DocumentWarning[];
  is_active: boolean;
}

export const documentColumns = `id, organization_id, uuid, filename, storage_key, mime_type, size_bytes, file_hash, status, error, total_chunks,
  generation, next_generation, parser_metadata, warnings, encoding, is_active, created_by, due_at, created_at, updated_at`;

export const toDocumentRow = (row: StoredDocument): DocumentRow => ({
  ...row,
  status: row.status as DocumentStatus,
  parser_metadata: JSON.parse(row.parser_metadata) as Record<string, unknown>,
  warnings: JSON.parse(row.warnings) as DocumentWarning[],
  is_active: row.is_active === 1,
});

/** The document with this uuid, deleted ones included. */
export async function findDocument(database: Database, organizationId: number, uuid: string): Promise<DocumentRow | null> {
  const row = await database.first(selectDocument(database, organizationId, uuid));
  return row && toDocumentRow(row);
}

const selectDocument = (database: Database, organizationId: number, uuid: string): Statement<StoredDocument> =>
  database.prepare<StoredDocument>(
    `SELECT ${documentColumns} FROM knowledge_document WHERE organization_id = ? AND uuid = ?`,
    organizationId,
    uuid,
  );

/** Runs `update` once and answers the changed document; null when it changed none. */
async function applyUpdateOnce(
  database: Database,
  organizationId: number,
  uuid: string,
  update: Statement<StoredDocument>,
): Promise<DocumentRow | null> {
  const [rows] = await database.batchOnce([update], async ({ changes }) =>
    changes ? database.batch([selectDocument(database, organizationId, uuid)]) : [[]],
  );
  return rows[0] ? toDocumentRow(rows[0]) : null;
}

/** The uuids, in lower case, of the organization's active documents among `uuids`. */
export async function findActiveUuids(database: Database, organizationId: number, uuids: string[]): Promise<Set<string>> {
  const rows = await database.all(
    database.prepare<{ uuid: string }>(
      `SELECT d.uuid FROM json_each(?) j CROSS JOIN knowledge_document d
       WHERE d.organization_id = ? AND d.uuid = lower(j.value) AND d.is_active = 1`,
      JSON.stringify(uuids),
      organizationId,
    ),
  );
  return new Set(rows.map(({ uuid }) => uuid));
}

export type NewDocument = Pick<DocumentRow, 'uuid' | 'filename' | 'storage_key' | 'mime_type' | 'size_bytes' | 'encoding' | 'created_by'>;

/** Inserts a document unless its uuid exists. Answers the stored document and whether this call inserted it. */
export async function insertDocument(
  database: Database,
  organizationId: number,
  document: NewDocument,
  now: number,
): Promise<{ document: DocumentRow; isNew: boolean }> {
  let isLost = false;
  const statements = [
    database.prepare(
      `INSERT INTO knowledge_document (organization_id, uuid, filename, storage_key, mime_type, size_bytes, status, parser_metadata,
         created_by, due_at, created_at, updated_at, encoding)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'pending', '{}', ?7, ?8, ?8, ?8, ?9)
       ON CONFLICT (organization_id, uuid) DO NOTHING RETURNING id`,
      organizationId,
      document.uuid,
      document.filename,
      document.storage_key,
      document.mime_type,
      document.size_bytes,
      document.created_by,
      now,
      document.encoding,
    ),
    database.prepare<StoredDocument>(
      `SELECT ${documentColumns} FROM knowledge_document WHERE organization_id = ? AND uuid = ?`,
      organizationId,
      document.uuid,
    ),
  ] as const;
  const [inserted, found] = await database.batch(statements, 'knowledge_document.uuid', () => (isLost = true));
  const stored = toDocumentRow(found[0]!);
  // After a lost answer, a document that was created at `now` is the one of this call.
  return { document: stored, isNew: inserted.length > 0 || (isLost && stored.created_at === now) };
}

/** One page of active documents, newest first. An organization has at most thousands, so no index covers status and filename. */
export async function listDocuments(
  database: Database,
  organizationId: number,
  filter: { status?: DocumentStatus | undefined; search?: string | undefined },
  page: { limit: number; offset: number; after?: CursorPosition | undefined },
): Promise<PageResult<DocumentRow>> {
  const where =
    'organization_id = ?1 AND is_active = 1 AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR instr(lower(filename), lower(?3)) > 0)';
  const parameters = [organizationId, filter.status ?? null, filter.search || null];
  const [rows, counted] = await database.batch([
    database.prepare<StoredDocument>(
      `SELECT ${documentColumns} FROM knowledge_document WHERE ${where} AND id < ?4 ORDER BY id DESC LIMIT ?5 OFFSET ?6`,
      ...parameters,
      page.after?.id ?? Number.MAX_SAFE_INTEGER,
      page.limit + 1,
      page.offset,
    ),
    database.prepare<{ total: number }>(
      `SELECT count(*) AS total FROM (SELECT 1 FROM knowledge_document WHERE ${where} LIMIT ${countLimit + 1})`,
      ...parameters,
    ),
  ]);
  const { total } = counted[0]!;
  const found = cutPage(rows.map(toDocumentRow), page.limit, ({ id }) => ({ value: null, id }));
  return { ...found, total: Math.min(total, countLimit), totalCapped: total > countLimit };
}

/** Deactivates a document, whose chunks become due for removal; null when no active document has the uuid. */
export async function deactivateDocument(
  database: Database,
  organizationId: number,
  uuid: string,
  now: number,
): Promise<DocumentRow | null> {
  const update = database.prepare<StoredDocument>(
    `UPDATE knowledge_document SET is_active = 0, due_at = ?1, updated_at = ?1
       WHERE organization_id = ?2 AND uuid = ?3 AND is_active = 1 RETURNING ${documentColumns}`,
    now,
    organizationId,
    uuid,
  );
  return applyUpdateOnce(database, organizationId, uuid, update);
}

/** Begins a new generation of a completed or failed document; otherwise null. `encoding`: undefined keeps the one that was named, null drops it. Search uses the old chunks until it is published. */
export async function beginGeneration(
  database: Database,
  organizationId: number,
  uuid: string,
  encoding: string | null | undefined,
  now: number,
): Promise<DocumentRow | null> {
  const update = database.prepare<StoredDocument>(
    `UPDATE knowledge_document SET status = 'pending', error = NULL, next_generation = next_generation + 1, due_at = ?1, updated_at = ?1,
         encoding = CASE WHEN ?4 THEN ?5 ELSE encoding END
       WHERE organization_id = ?2 AND uuid = ?3 AND is_active = 1 AND status IN ('completed', 'failed') RETURNING ${documentColumns}`,
    now,
    organizationId,
    uuid,
    encoding === undefined ? 0 : 1,
    encoding ?? null,
  );
  return applyUpdateOnce(database, organizationId, uuid, update);
}
