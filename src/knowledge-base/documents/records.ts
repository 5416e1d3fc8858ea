import type { z } from '@hono/zod-openapi';
import { toTimestamp } from '../../library/time/clock.ts';
import type { ChunkRow } from '../chunks/store.ts';
import type { ChunkRecord, DocumentRecord, SearchResult } from './schemas.ts';
import type { FoundChunk } from '../search/search-chunks.ts';
import type { DocumentRow } from './store.ts';

/** A document as the API shows it. */
export const toDocumentRecord = (row: DocumentRow): z.infer<typeof DocumentRecord> => ({
  id: row.id,
  document_uuid: row.uuid,
  filename: row.filename,
  // Shown together with the hash, once the file has been read.
  file_size_bytes: row.file_hash === '' ? 0 : row.size_bytes,
  file_hash: row.file_hash,
  mime_type: row.mime_type,
  processing_status: row.status,
  processing_error: row.error,
  total_chunks: row.total_chunks,
  custom_metadata: { storage_key: row.storage_key },
  parser_metadata: row.parser_metadata,
  warnings: row.warnings,
  encoding: row.encoding,
  source_url: null,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
  organization_id: row.organization_id,
  created_by: row.created_by,
  is_active: row.is_active,
});

/** A chunk as the API shows it. */
export const toChunkRecord = (row: ChunkRow, { uuid, filename }: Pick<DocumentRow, 'uuid' | 'filename'>): z.infer<typeof ChunkRecord> => ({
  ...row,
  document_uuid: uuid,
  filename,
});

/** The answer of a search. */
export const toSearchResult = (query: string, found: FoundChunk[]): z.infer<typeof SearchResult> => ({
  chunks: found.map(({ embedding_model: _model, vector_rank: _vectorRank, keyword_rank: _keywordRank, ...chunk }) => chunk),
  query,
  total_results: found.length,
});
