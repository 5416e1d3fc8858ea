import type { Context } from '../../context.ts';
import { searchChunks, type FoundChunk } from './search-chunks.ts';
import { formatPassages, limitPassages } from './format-passages.ts';

const maxPassages = 5;
/** The maximum of text for a model: about five chunks of the usual size. */
const maxCharacters = 10_000;
/**
 * Unrelated texts seldom have a higher similarity. The first chunk of the keyword list, such as one with a product code, is used whatever
 * its similarity is.
 */
const minSimilarity = 0.1;
const maxQueryLength = 8_000;

/** Where a passage comes from. `vector_rank` and `keyword_rank` begin at 1; null: not in that list. */
export type Receipt = {
  chunk_id: number;
  document_uuid: string;
  filename: string;
  similarity: number;
  vector_rank: number | null;
  keyword_rank: number | null;
};

/**
 * Searches the documents and formats the passages as text for a language model, with a receipt of each passage in the same order.
 * `documentUuids` null: all documents of the organization; unknown and deleted ones contain nothing. Throws as `searchChunks` does, and
 * once `signal` is aborted.
 */
export async function retrievePassages(
  context: Context,
  query: string,
  documentUuids: string[] | null,
  signal?: AbortSignal,
): Promise<{ text: string; receipts: Receipt[] }> {
  const trimmed = query.trim().slice(0, maxQueryLength);
  const found = trimmed === '' ? [] : await searchChunks(context, toChunkSearch(trimmed, documentUuids, signal));
  const kept = limitPassages(found.filter(isRelated).map(toPassage), maxCharacters);
  return { text: formatPassages(kept), receipts: kept.map(({ receipt }) => receipt) };
}

const toChunkSearch = (query: string, documentUuids: string[] | null, signal: AbortSignal | undefined) => ({
  query,
  limit: maxPassages,
  documentUuids: documentUuids?.map((uuid) => uuid.toLowerCase()),
  signal,
});

const isRelated = ({ similarity, keyword_rank }: FoundChunk): boolean => keyword_rank === 1 || similarity >= minSimilarity;

const toPassage = (chunk: FoundChunk) => ({
  filename: chunk.filename,
  headings: chunk.chunk_metadata['headings'] as string[],
  text: chunk.chunk_text,
  receipt: toReceipt(chunk),
});

const toReceipt = ({ id, document_uuid, filename, similarity, vector_rank, keyword_rank }: FoundChunk): Receipt => ({
  chunk_id: id,
  document_uuid,
  filename,
  similarity,
  vector_rank,
  keyword_rank,
});
