import { isNotInTransitSql } from '../../database/transit.ts';
import { and, eq } from 'drizzle-orm';
import type { Database } from '../../database/client.ts';
import { knowledgeDocument } from '../../database/schema/knowledge-base.ts';
import { generationParameters, inProgressCondition, type DocumentGeneration } from '../documents/generation.ts';
import { documentColumns, toDocumentRow, type DocumentRow, type StoredDocument } from '../documents/store.ts';
import type { PageManifest } from './page-storage.ts';

/** Begins a step, due at `dueAt` (epoch ms); null when the generation is no longer in progress. */
export async function beginStep(database: Database, document: DocumentGeneration, now: number, dueAt: number): Promise<DocumentRow | null> {
  const row = await database.first(
    database.prepare<StoredDocument>(
      `UPDATE knowledge_document AS d SET status = 'processing', due_at = ?5, updated_at = ?4 WHERE ${inProgressCondition} RETURNING ${documentColumns}`,
      ...generationParameters(document),
      now,
      dueAt,
    ),
    'idempotent',
  );
  return row && toDocumentRow(row);
}

/**
 * Records the file's hash and size, unless another active document of the organization has the same content: then answers its filename.
 * One statement compares and writes, so of two documents with the same content only one is recorded.
 */
export async function recordHash(
  database: Database,
  document: DocumentGeneration,
  file: { hash: string; bytes: number },
): Promise<string | null> {
  const selectDuplicate = `SELECT o.filename FROM knowledge_document o WHERE o.organization_id = ?1 AND o.file_hash = ?4 AND o.file_hash <> '' AND o.id <> ?2
    AND o.is_active = 1 AND (o.generation > 0 OR o.status IN ('pending', 'processing'))`;
  const [, duplicates] = await database.batch(
    [
      database.prepare(
        `UPDATE knowledge_document AS d SET file_hash = ?4, size_bytes = ?5 WHERE ${inProgressCondition} AND NOT EXISTS (${selectDuplicate})`,
        ...generationParameters(document),
        file.hash,
        file.bytes,
      ),
      database.prepare<{ filename: string }>(
        `${selectDuplicate} AND EXISTS (SELECT 1 FROM knowledge_document d WHERE ${inProgressCondition}) ORDER BY o.id LIMIT 1`,
        ...generationParameters(document),
        file.hash,
      ),
    ],
    'idempotent',
  );
  return duplicates[0]?.filename ?? null;
}

/** Whether the generation is in progress. */
export async function isInProgress(database: Database, document: DocumentGeneration): Promise<boolean> {
  const statement = database.prepare(`SELECT 1 FROM knowledge_document d WHERE ${inProgressCondition}`, ...generationParameters(document));
  return (await database.first(statement)) !== null;
}

/** Makes search use the new chunks from now on. The old chunks become due for removal. */
export async function publishGeneration(
  database: Database,
  document: DocumentGeneration,
  { chunks, mime_type, parser_metadata, warnings = [] }: Pick<PageManifest, 'chunks' | 'mime_type' | 'parser_metadata' | 'warnings'>,
  now: number,
): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE knowledge_document AS d SET generation = ?3, status = 'completed', error = NULL, total_chunks = ?4, mime_type = ?5,
         parser_metadata = ?6, warnings = ?8, due_at = ?7, updated_at = ?7 WHERE ${inProgressCondition}`,
      ...generationParameters(document),
      chunks,
      mime_type,
      JSON.stringify(parser_metadata),
      now,
      JSON.stringify(warnings),
    ),
    'idempotent',
  );
}

/** Ends a generation as failed. Search keeps the chunks of the generation before. `hash`: the file's, if not recorded before. */
export async function failGeneration(
  database: Database,
  document: DocumentGeneration,
  { error, hash }: { error: string; hash: string | null },
  now: number,
): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE knowledge_document AS d SET status = 'failed', error = ?4, file_hash = coalesce(?5, d.file_hash), due_at = ?6, updated_at = ?6
       WHERE ${inProgressCondition}`,
      ...generationParameters(document),
      error,
      hash,
      now,
    ),
    'idempotent',
  );
}

/** Ends a generation as failed with the error of its last try, or `otherwise`, followed by `advice`. */
export async function failWithLastError(
  database: Database,
  document: DocumentGeneration,
  { otherwise, advice }: { otherwise: string; advice: string },
  now: number,
): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE knowledge_document AS d SET status = 'failed', error = coalesce(d.error, ?4) || ?5, due_at = ?6, updated_at = ?6
       WHERE ${inProgressCondition}`,
      ...generationParameters(document),
      otherwise,
      advice,
      now,
    ),
    'idempotent',
  );
}

/** Records the error of a step, and when its next try should be done (epoch ms). */
export async function recordFailedAttempt(database: Database, document: DocumentGeneration, error: string, dueAt: number): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE knowledge_document AS d SET error = ?4, due_at = ?5 WHERE ${inProgressCondition}`,
      ...generationParameters(document),
      error,
      dueAt,
    ),
    'idempotent',
  );
}

/** Sets when the next step should be done (epoch ms). */
export async function setDueAt(database: Database, document: DocumentGeneration, dueAt: number): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE knowledge_document AS d SET due_at = ?4 WHERE ${inProgressCondition}`,
      ...generationParameters(document),
      dueAt,
    ),
    'idempotent',
  );
}

/** Documents whose message seems lost, the longest overdue first. Each becomes due again at `dueAt` (epoch ms). */
export async function claimOverdueDocuments(
  database: Database,
  before: number,
  dueAt: number,
  limit: number,
): Promise<Pick<DocumentRow, 'id' | 'organization_id' | 'next_generation' | 'size_bytes'>[]> {
  return database.all(
    database.prepare<Pick<DocumentRow, 'id' | 'organization_id' | 'next_generation' | 'size_bytes'>>(
      `UPDATE knowledge_document SET due_at = ? WHERE id IN (
         SELECT id FROM knowledge_document WHERE due_at IS NOT NULL AND due_at < ? AND ${isNotInTransitSql('organization_id')} ORDER BY due_at LIMIT ?
       ) RETURNING id, organization_id, next_generation, size_bytes`,
      dueAt,
      before,
      limit,
    ),
    'read-back',
  );
}

/** A document and at most `limit` of its chunks that search never uses again. */
export async function findObsoleteChunks(
  database: Database,
  organizationId: number,
  id: number,
  limit: number,
): Promise<{ document: DocumentRow | null; ids: number[] }> {
  const [documents, chunks] = await database.batch([
    database.prepare<StoredDocument>(
      `SELECT ${documentColumns} FROM knowledge_document WHERE organization_id = ? AND id = ?`,
      organizationId,
      id,
    ),
    database.prepare<{ id: number }>(
      `SELECT c.id FROM knowledge_document d CROSS JOIN knowledge_chunk c
       WHERE d.organization_id = ? AND d.id = ? AND c.document_id = d.id AND NOT (
         d.is_active AND (c.generation = d.generation OR (c.generation = d.next_generation AND d.status IN ('pending', 'processing')))
       ) LIMIT ?`,
      organizationId,
      id,
      limit,
    ),
  ]);
  const document = documents[0] ? toDocumentRow(documents[0]) : null;
  return { document, ids: chunks.map((chunk) => chunk.id) };
}

/** Marks a document as having no further step, unless it changed since it was read. */
export async function markFinalized(database: Database, document: DocumentRow): Promise<void> {
  const query = database.orm
    .update(knowledgeDocument)
    .set({ dueAt: null })
    .where(
      and(
        eq(knowledgeDocument.organizationId, document.organization_id),
        eq(knowledgeDocument.id, document.id),
        eq(knowledgeDocument.nextGeneration, document.next_generation),
        eq(knowledgeDocument.status, document.status),
        eq(knowledgeDocument.isActive, document.is_active),
      ),
    );
  await database.write(() => query, 'idempotent');
}
