import type { PDFPageProxy } from 'unpdf/pdfjs';
import { tooLarge } from '../unparsable-document.ts';

export type TextContent = Awaited<ReturnType<PDFPageProxy['getTextContent']>>;

/** Pieces of text on a page, and characters in them: forms may draw each other, and a page far more than the file holds. */
const maxItems = 100_000;
const maxCharacters = 4 << 20;
/**
 * Each form with text that a page draws comes in a portion of its own, and takes the library as long as 500 letters; other text comes in
 * portions of about 10 pieces.
 */
const maxStreamChunks = 10_000;

/** The text of a page, counted while it comes. */
export async function readTextItems(page: Pick<PDFPageProxy, 'pageNumber' | 'streamTextContent'>): Promise<Pick<TextContent, 'items'>> {
  const items: TextContent['items'] = [];
  let characters = 0;
  let portions = 0;
  const reader = (page.streamTextContent() as ReadableStream<TextContent>).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    for (const item of read.value.items) {
      items.push(item);
      if ('str' in item) characters += item.str.length;
    }
    portions += 1;
    if (items.length <= maxItems && characters <= maxCharacters && portions <= maxStreamChunks) continue;
    // Nobody waits for what the library makes of it.
    void reader.cancel(new Error('enough')).catch(() => undefined);
    if (portions > maxStreamChunks) throw tooLarge(`its page ${page.pageNumber} draws text in more than ${maxStreamChunks} portions`);
    throw tooLarge(`its page ${page.pageNumber} holds more than ${maxItems} pieces of text or ${maxCharacters} characters`);
  }
  return { items };
}
