import type { Chunk } from '../chunks/chunk-document.ts';
import { toIndexedText } from '../keywords/search-terms.ts';
import type { NewChunk } from '../chunks/store.ts';

/** Limits of a page: one request to the embedding provider, one statement of at most 2 MB in UTF-8. */
const maxChunks = 100;
const maxCharacters = 600_000;

/** Splits chunks into the pages in which they are stored and embedded, and numbers them. */
export function* splitIntoPages(chunks: Iterable<Chunk>): Generator<NewChunk[]> {
  let page: NewChunk[] = [];
  let characters = 0;
  let index = 0;
  for (const { chunk_text, contextualized_text, metadata } of chunks) {
    const indexed = toIndexedText(contextualized_text);
    const chunk = { chunk_index: index++, chunk_text, contextualized_text, ...indexed, chunk_metadata: metadata };
    const size = JSON.stringify(chunk).length;
    if (page.length === maxChunks || (page.length > 0 && characters + size > maxCharacters)) {
      yield page;
      page = [];
      characters = 0;
    }
    page.push(chunk);
    characters += size;
  }
  if (page.length > 0) yield page;
}
