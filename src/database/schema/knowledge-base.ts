import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { flag, json, moment } from './columns.ts';

/** One uploaded file. Lists show it from process-document on. `generation` is the generation whose chunks search may show; 0: none yet. */
export const knowledgeDocument = sqliteTable(
  'knowledge_document',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    uuid: text('uuid').notNull(),
    filename: text('filename').notNull(),
    storageKey: text('storage_key').notNull(),
    /** The type declared at upload, later the type found by content. */
    mimeType: text('mime_type').notNull(),
    sizeBytes: integer('size_bytes').notNull().default(0),
    /** SHA-256 in hex; empty until it was read. */
    fileHash: text('file_hash').notNull().default(''),
    status: text('status').$type<'pending' | 'processing' | 'completed' | 'failed'>().notNull(),
    /** A sentence that a user can act on. */
    error: text('error'),
    totalChunks: integer('total_chunks').notNull().default(0),
    generation: integer('generation').notNull().default(0),
    /** The generation that is being processed. Every processing raises it, so that a late step of an earlier generation changes nothing. */
    nextGeneration: integer('next_generation').notNull().default(1),
    parserMetadata: json<Record<string, unknown>>('parser_metadata').notNull(),
    /** What was left out of the generation that search shows, or may be read wrongly: `{ code, count, message }`. */
    warnings: json<{ code: string; count: number; message: string }[]>('warnings').notNull().default([]),
    /** The encoding of the file that the uploader named. Null: it is found by the bytes. */
    encoding: text('encoding'),
    isActive: flag('is_active').notNull().default(true),
    createdBy: integer('created_by').notNull(),
    /** When the next step is due. Long after this moment, the step's message is lost. Null: there is no next step. */
    dueAt: moment('due_at'),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (table) => [
    uniqueIndex('knowledge_document_uuid').on(table.organizationId, table.uuid),
    index('knowledge_document_organization').on(table.organizationId, table.isActive),
    index('knowledge_document_hash')
      .on(table.organizationId, table.fileHash)
      .where(sql`file_hash <> ''`),
    index('knowledge_document_deleted')
      .on(table.updatedAt)
      .where(sql`is_active = 0`),
    index('knowledge_document_due')
      .on(table.dueAt)
      .where(sql`due_at IS NOT NULL`),
    index('knowledge_document_failed')
      .on(table.organizationId)
      .where(sql`status = 'failed' AND is_active = 1`),
  ],
);

/** A passage of a document. Its vector's id is `id`, so an id is never given again: a late deletion must not meet another's vector. */
export const knowledgeChunk = sqliteTable(
  'knowledge_chunk',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    organizationId: integer('organization_id').notNull(),
    documentId: integer('document_id').notNull(),
    generation: integer('generation').notNull(),
    chunkIndex: integer('chunk_index').notNull(),
    chunkText: text('chunk_text').notNull(),
    /** Title, headings and text, which are embedded and searched. */
    contextualizedText: text('contextualized_text').notNull(),
    /** The same with blanks between the signs of writings that have no blanks between words; null where there are none. */
    searchText: text('search_text'),
    /** Further terms by which the chunk is found, with blanks between them; null: none. */
    searchTerms: text('search_terms'),
    /** `{ headings, page, char_start, char_end }` */
    chunkMetadata: json<Record<string, unknown>>('chunk_metadata').notNull(),
    /** Null: the vector does not exist yet. */
    embeddingModel: text('embedding_model'),
  },
  (table) => [uniqueIndex('knowledge_chunk_place').on(table.documentId, table.generation, table.chunkIndex)],
);

/** Which index an organization's vectors are in, and how far a move to another one is. No row: it has no vectors, or they were put before there were rows. */
export const vectorPlacement = sqliteTable(
  'vector_placement',
  {
    organizationId: integer('organization_id').primaryKey(),
    /** The index that search reads. Null: decided at the first use. */
    keptIn: text('kept_in').$type<'embedded' | 'vectorize'>(),
    /** `copying`: also written to. `clearing`: also removed from. */
    other: text('other').$type<'embedded' | 'vectorize'>(),
    phase: text('phase').$type<'copying' | 'clearing'>(),
    /** The index that the operator wants. Null: the current one. */
    moveTo: text('move_to').$type<'embedded' | 'vectorize'>(),
    /** Increased with each change of the indexes that are written to. Work under an older number does not count. */
    revision: integer('revision').notNull().default(0),
    /** `{ document, generation, chunk, tail }` of the last chunk that is done; null: none. */
    cursor: json<{ document: number; generation: number; chunk: number; tail: number[] }>('cursor'),
    total: integer('total').notNull().default(0),
    moved: integer('moved').notNull().default(0),
    /** How many chunks had no vector to move. */
    missing: integer('missing').notNull().default(0),
    /** Uuids of their documents, 100 at most. */
    missingDocuments: json<string[]>('missing_documents').notNull().default([]),
    /** How often an index was checked without success. */
    looks: integer('looks').notNull().default(0),
    error: text('error'),
    /** When the next step is due, and by when the one under way should be done. Null: nothing is to be done. */
    dueAt: moment('due_at'),
    startedAt: moment('started_at'),
    finishedAt: moment('finished_at'),
  },
  (table) => [
    index('vector_placement_due')
      .on(table.dueAt)
      .where(sql`due_at IS NOT NULL`),
  ],
);
