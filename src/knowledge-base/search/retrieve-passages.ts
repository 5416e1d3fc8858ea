import type { Context } from '../../context.ts';
import { searchChunks, type FoundChunk } from './search-chunks.ts';
import { formatPassages, limitPassages } from './format-passages.ts';

const maxPassages = 5;
/** What a model reads of them: as many chunks as are usually found. */
const maxCharacters = 10_000;
/** Texts that have nothing to do with each other seldom come above this. What fits the words of a query best, as a code does, is given whatever it is. */
const minSimilarity = 0.1;
const maxQueryLength = 8_000;

/** What a passage was found by. Fields are named as in the answer of a search; `vector_rank` and `keyword_rank` from 1, null: not in that list. */
export type Receipt = {
  chunk_id: number;
  document_uuid: string;
  filename: string;
  similarity: number;
  vector_rank: number | null;
  keyword_rank: number | null;
};

/**
 * What the documents tell about a query, as text for a language model, and a receipt of each passage in it, in its order. Null: in all
 * documents of the organization; those that are unknown, deleted or another's hold nothing. Throws as a search does, and once `signal` is
 * aborted.
 */
export async function retrievePassages(
  context: Context,
  query: string,
  documentUuids: string[] | null,
  signal?: AbortSignal,
): Promise<{ text: string; receipts: Receipt[] }> {
  const asked = query.trim().slice(0, maxQueryLength);
  const found = asked === '' ? [] : await searchChunks(context, toChunkSearch(asked, documentUuids, signal));
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
