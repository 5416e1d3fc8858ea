import { z } from '@hono/zod-openapi';
import { cleanLine } from '../contacts/clean-text.ts';
import { timestamp } from '../http/area.ts';
import { listOf, pageQuery } from '../http/pagination.ts';
import { documentStatuses } from './store.ts';
import { filenameIn } from './upload/filenames.ts';

const longestFilename = 255;
const longestQuery = 8000;

const filename = z
  .string('Must be the name of a file')
  .max(1000, 'Must have at most 1000 characters')
  .transform((text) => filenameIn(cleanLine(text)) ?? '')
  .refine((name) => name !== '', 'Must be the name of a file, such as handbook.pdf')
  .refine((name) => name.length <= longestFilename, `Must have at most ${longestFilename} characters`);

export const documentUuid = z
  .uuid('Must be a UUID, as POST /knowledge-base/upload-url gives it')
  .transform((text) => text.toLowerCase())
  .openapi({ type: 'string', format: 'uuid', example: '7a0c9f9e-64a5-4a55-9f0c-0d9b8ff5c2a1' });

export const DocumentParams = z.object({ document_uuid: documentUuid });

export const NewUploadBody = z
  .object({
    filename,
    mime_type: z
      .string('Must be a mime type, such as application/pdf')
      .trim()
      .min(1, 'Must be a mime type, such as application/pdf')
      .max(200),
  })
  .openapi('NewDocumentUpload', { example: { filename: 'handbook.pdf', mime_type: 'application/pdf' } });
export type NewUpload = z.output<typeof NewUploadBody>;

export const UploadTicket = z
  .object({
    upload_url: z.string().openapi({ description: 'PUT the file here within 1800 seconds, without credentials; at most 25 MiB' }),
    document_uuid: z.string(),
    storage_key: z.string(),
  })
  .openapi('DocumentUpload');

export const UploadReceipt = z
  .object({
    status: z.literal('uploaded'),
    document_uuid: z.string(),
    bytes: z.int(),
    sha256: z.string().openapi({ description: 'Of what arrived, in hex' }),
  })
  .openapi('DocumentUploadReceipt');

export const ProcessDocumentBody = z
  .object({ document_uuid: documentUuid, storage_key: z.string('Must be the storage_key of POST /knowledge-base/upload-url').max(1024) })
  .openapi('ProcessDocument');
export type ProcessDocumentInput = z.output<typeof ProcessDocumentBody>;

export const DocumentRecord = z
  .object({
    id: z.int(),
    document_uuid: z.string(),
    filename: z.string(),
    file_size_bytes: z.int().openapi({ description: '0 until the file has been read' }),
    file_hash: z.string().openapi({ description: 'SHA-256 in hex; empty until the file has been read' }),
    mime_type: z.string().openapi({ description: 'As declared, then as found by content' }),
    processing_status: z.enum(documentStatuses),
    processing_error: z
      .string()
      .nullable()
      .openapi({ description: 'Why it failed and what to do; while `processing`, why it is tried again' }),
    total_chunks: z.int().openapi({ description: 'Those that search finds' }),
    custom_metadata: z.object({ storage_key: z.string() }),
    parser_metadata: z.record(z.string(), z.unknown()),
    source_url: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    organization_id: z.int(),
    created_by: z.int(),
    is_active: z.boolean(),
  })
  .openapi('KnowledgeDocument');

export const DocumentQuery = z.object({
  ...pageQuery,
  status: z.enum(documentStatuses).optional(),
  search: z.string().trim().max(200).optional().openapi({ description: 'Part of the filename' }),
});
export const DocumentList = listOf('documents', DocumentRecord);

const chunkFields = {
  id: z.int(),
  document_id: z.int(),
  chunk_text: z.string(),
  contextualized_text: z
    .string()
    .nullable()
    .openapi({ description: 'Title, headings and text: what is embedded and what words are looked for in' }),
  chunk_index: z.int(),
  chunk_metadata: z
    .record(z.string(), z.unknown())
    .openapi({ example: { headings: ['Returns', 'Refund window'], page: 3, char_start: 120, char_end: 640 } }),
  filename: z.string(),
  document_uuid: z.string(),
};

export const ChunkRecord = z.object({ ...chunkFields, embedding_model: z.string() }).openapi('KnowledgeChunk');
export const ChunkQuery = z.object(pageQuery);
export type ChunkQuery = z.output<typeof ChunkQuery>;
export const ChunkList = listOf('chunks', ChunkRecord);

export const searchModes = ['hybrid', 'vector', 'keyword'] as const;
export type SearchMode = (typeof searchModes)[number];

export const SearchBody = z
  .object({
    query: z
      .string()
      .trim()
      .min(1, 'Must have at least one character that is no blank')
      .max(longestQuery, `Must have at most ${longestQuery} characters; ask for less in one query`),
    limit: z.int('Must be an integer').min(1, 'Must be 1 or more').max(50, 'Must be 50 or less').default(5),
    document_uuids: z
      .array(documentUuid)
      .min(1, 'Name at least one document, or leave it out to search in all')
      .max(100, 'Name at most 100 documents')
      .nullish()
      .openapi({ description: 'Only in these; unknown ones hold nothing. All when absent' }),
    min_similarity: z.number().min(-1).max(1).nullish().openapi({ description: 'Leaves out chunks with a smaller `similarity`' }),
    mode: z
      .enum(searchModes)
      .nullish()
      .openapi({ description: '`hybrid` (when absent): by meaning and by words, fused by reciprocal rank' }),
  })
  .openapi('KnowledgeSearch', { example: { query: 'How long can customers send an item back?', limit: 5 } });

const SearchChunk = z
  .object({ ...chunkFields, similarity: z.number().openapi({ description: 'Cosine similarity of query and chunk, -1 to 1' }) })
  .openapi('SearchChunk');

export const SearchResult = z
  .object({ chunks: z.array(SearchChunk), query: z.string(), total_results: z.int() })
  .openapi('KnowledgeSearchResult');
