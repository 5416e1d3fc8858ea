import { spacedOut } from '../search/search-words.ts';
import type { Chunk } from '../chunking/chunk.ts';

/** A chunk on its way into the database. */
export interface PageChunk {
  chunk_index: number;
  chunk_text: string;
  contextualized_text: string;
  /** Null where it is no different from `contextualized_text`. */
  search_text: string | null;
  chunk_metadata: Chunk['metadata'];
}

/** Of a page: one request to the embedding provider, one statement of at most 2 MB in UTF-8. */
const mostChunks = 100;
const mostCharacters = 600_000;

/** Chunks in the portions in which they are stored and embedded, their index with them. */
export function* pagesOf(chunks: Iterable<Chunk>): Generator<PageChunk[]> {
  let page: PageChunk[] = [];
  let characters = 0;
  let index = 0;
  for (const { chunk_text, contextualized_text, metadata } of chunks) {
    const search_text = spacedOut(contextualized_text);
    const chunk = { chunk_index: index++, chunk_text, contextualized_text, search_text, chunk_metadata: metadata };
    const size = JSON.stringify(chunk).length;
    if (page.length === mostChunks || (page.length > 0 && characters + size > mostCharacters)) {
      yield page;
      page = [];
      characters = 0;
    }
    page.push(chunk);
    characters += size;
  }
  if (page.length > 0) yield page;
}
