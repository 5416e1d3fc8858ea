import { z } from '@hono/zod-openapi';
import { cleanLine } from '../../library/text/clean-text.ts';
import { createdAt, organizationId, updatedAt } from '../../http/router.ts';
import { listSchema, pageQuery } from '../../http/pagination.ts';
import { encodingDescription, encodingLabel } from '../../library/text/encodings/encoding-label.ts';
import { warningCodes } from '../parsing/warnings.ts';
import { documentStatuses } from './store.ts';
import { extractFilename } from '../upload/file-names-and-types.ts';

const maxFilenameLength = 255;
const maxQueryLength = 8000;

const filename = z
  .string('Must be the name of a file')
  .max(1000, 'Must have at most 1000 characters')
  .transform((text) => extractFilename(cleanLine(text)) ?? '')
  .refine((name) => name !== '', 'Must be the name of a file, such as handbook.pdf')
  .refine((name) => name.length <= maxFilenameLength, `Must have at most ${maxFilenameLength} characters`)
  .describe('Name of the file with its ending: pdf, docx, pptx, xlsx, csv, tsv, txt, md, html, json, rtf or eml.');

const documentUuid = z
  .uuid('Must be a UUID, as POST /knowledge-base/upload-url gives it')
  .transform((text) => text.toLowerCase())
  .openapi({ type: 'string', format: 'uuid' })
  .describe('The UUID that POST /knowledge-base/upload-url gave the document.');

export const DocumentParams = z.object({ document_uuid: documentUuid });
const documentUuidField = z.string().describe('UUID of the document, by which paths name it.');
const storageKeyDescription = 'Where the file is stored, as POST /knowledge-base/upload-url answered it.';

export const NewUploadBody = z
  .object({
    filename,
    mime_type: z
      .string('Must be a mime type, such as application/pdf')
      .trim()
      .min(1, 'Must be a mime type, such as application/pdf')
      .max(200)
      .describe('Type of the file, such as `application/pdf`. What is in the file decides in the end.'),
  })
  .openapi('NewDocumentUpload');
export type NewUpload = z.output<typeof NewUploadBody>;

export const UploadTicket = z
  .object({
    upload_url: z.string().describe('Send the file here by PUT within 1800 seconds (30 minutes), without credentials; at most 25 MiB.'),
    document_uuid: documentUuidField,
    storage_key: z.string().describe('Where the file will be stored. process-document asks for it.'),
  })
  .describe('Where to send the file. There is no document before process-document.')
  .openapi('DocumentUpload');

export const UploadReceipt = z
  .object({
    status: z.literal('uploaded').describe('Always `uploaded`.'),
    document_uuid: documentUuidField,
    bytes: z.int().describe('Size of the file in bytes.'),
    sha256: z.string().describe('SHA-256 of what arrived, in hex.'),
  })
  .describe('The file is stored; process-document makes a document of it.')
  .openapi('DocumentUploadReceipt');

const encodingOptionDescription = `Encoding of a text (csv, tsv, txt, md, html, json), ${encodingDescription}; found by its bytes when left out or null.`;
const encodingOption = encodingLabel.nullish().describe(encodingOptionDescription);

export const ProcessDocumentBody = z
  .object({
    document_uuid: documentUuid,
    storage_key: z.string('Must be the storage_key of POST /knowledge-base/upload-url').max(1024).describe(storageKeyDescription),
    encoding: encodingOption,
  })
  .openapi('ProcessDocument');
export const ReprocessBody = z
  .object({
    encoding: encodingOption.describe(
      `Encoding of a text (csv, tsv, txt, md, html, json), ${encodingDescription}. Absent: as it was; null: found by its bytes again.`,
    ),
  })
  .openapi('ReprocessDocument');
export type ReprocessInput = z.output<typeof ReprocessBody>;

export type ProcessDocumentInput = z.output<typeof ProcessDocumentBody>;

export const DocumentRecord = z
  .object({
    id: z.int().describe('Id of the document; chunks refer to it as `document_id`.'),
    document_uuid: documentUuidField,
    filename: z.string().describe('Name of the file.'),
    file_size_bytes: z.int().describe('Size of the file in bytes; 0 until the file has been read.'),
    file_hash: z.string().describe('SHA-256 of the file in hex; empty until the file has been read.'),
    mime_type: z.string().describe('Type of the file: as declared at first, then as found in the file.'),
    processing_status: z
      .enum(documentStatuses)
      .describe('`pending`: waits its turn; `processing`: is read; `completed`: search finds it; `failed`: see `processing_error`.'),
    processing_error: z.string().nullable().describe('Why it failed and what to do; while `processing`, why it is tried again; else null.'),
    total_chunks: z.int().describe('How many passages of it search finds; 0 until it is `completed`.'),
    custom_metadata: z.object({ storage_key: z.string().describe(storageKeyDescription) }).describe('What is kept with the document.'),
    parser_metadata: z
      .record(z.string(), z.unknown())
      .describe('What was found while reading it, such as format, title and number of pages; `{}` before.'),
    warnings: z
      .array(
        z
          .object({
            code: z.enum(warningCodes).describe('What happened.'),
            count: z.int().describe('How many pages, images, symbols, rows or characters; 1 for the encoding.'),
            message: z.string().describe('The same in a sentence, with the first places and the next step.'),
          })
          .openapi('DocumentWarning', {
            example: {
              code: 'pages_without_text',
              count: 2,
              message: '2 pages have no text; if they are scans, run text recognition (OCR) over the file and upload it again',
            },
          }),
      )
      .describe('What was left out of the text that search finds, or may be read wrongly; `[]` when all was read, and before.'),
    encoding: z.string().nullable().describe('The encoding that was named for the file; null: it is found by the bytes.'),
    source_url: z.string().nullable().describe('Always null: documents come from uploads alone.'),
    created_at: createdAt,
    updated_at: updatedAt,
    organization_id: organizationId,
    created_by: z.int().describe('Id of the user who uploaded it; with an API key, who minted the key.'),
    is_active: z.boolean().describe('False: it was deleted, and nothing finds it any more.'),
  })
  .describe('A file that agents look things up in.')
  .openapi('KnowledgeDocument');

export const DocumentQuery = z.object({
  ...pageQuery,
  status: z.enum(documentStatuses).optional().describe('Only documents with this `processing_status`.'),
  search: z.string().trim().max(200).optional().describe('Part of the filename.'),
});
export const DocumentList = listSchema('documents', DocumentRecord);

const chunkFields = {
  id: z.int().describe('Id of the chunk.'),
  document_id: z.int().describe('Id of the document from which it is.'),
  chunk_text: z.string().describe('The passage as it stands in the document.'),
  contextualized_text: z
    .string()
    .nullable()
    .describe('Title of the document, headings and passage: what is embedded and what words are looked for in; null: the passage alone.'),
  chunk_index: z.int().describe('Place of the passage in its document, from 0.'),
  chunk_metadata: z
    .record(z.string(), z.unknown())
    .describe(
      '`headings` above it, from the outermost; its `page`, from 1, where the file has pages; `char_start` and `char_end`, its place in the text.',
    ),
  filename: z.string().describe('Name of the file from which it is.'),
  document_uuid: documentUuidField,
};

export const ChunkRecord = z
  .object({ ...chunkFields, embedding_model: z.string().describe('The model by which its meaning was made a vector of 1536 numbers.') })
  .describe('A passage of a document, about 400 tokens long.')
  .openapi('KnowledgeChunk');
export const ChunkQuery = z.object(pageQuery);
export type ChunkQuery = z.output<typeof ChunkQuery>;
export const ChunkList = listSchema('chunks', ChunkRecord, 'in the order of the document');

const searchModes = ['hybrid', 'vector', 'keyword'] as const;
export type SearchMode = (typeof searchModes)[number];

export const SearchBody = z
  .object({
    query: z
      .string()
      .trim()
      .min(1, 'Must have at least one character that is no blank')
      .max(maxQueryLength, `Must have at most ${maxQueryLength} characters; ask for less in one query`)
      .describe('A question or words, up to 8000 characters.'),
    limit: z
      .int('Must be an integer')
      .min(1, 'Must be 1 or more')
      .max(100, 'Must be 100 or less')
      .default(5)
      .describe('How many chunks to answer at most.'),
    document_uuids: z
      .array(documentUuid)
      .min(1, 'Name at least one document, or leave it out to search in all')
      .max(100, 'Name at most 100 documents')
      .nullish()
      .describe('Searches in these documents alone, up to 100; ids that do not exist hold nothing. Absent or null: in all.'),
    min_similarity: z
      .number()
      .min(-1)
      .max(1)
      .nullish()
      .describe('Leaves out chunks with a smaller `similarity`, from -1 to 1. Absent or null: none are left out.'),
    mode: z
      .enum(searchModes)
      .nullish()
      .describe('`vector`: by meaning; `keyword`: by words (BM25); `hybrid`, when absent: both, fused by reciprocal rank.'),
  })
  .openapi('KnowledgeSearch');

const SearchChunk = z
  .object({ ...chunkFields, similarity: z.number().describe('Cosine similarity of query and chunk, from -1 to 1; 1 means the same.') })
  .describe('A passage that was found.')
  .openapi('SearchChunk');

export const SearchResult = z
  .object({
    chunks: z.array(SearchChunk).describe('The best passages, best first.'),
    query: z.string().describe('The query that was answered.'),
    total_results: z.int().describe('How many chunks this answer has.'),
  })
  .describe('The passages that fit the query best.')
  .openapi('KnowledgeSearchResult');
