import type { PDFPageProxy } from 'unpdf/pdfjs';
import { tooLarge } from '../unparsable-document.ts';

export type TextContent = Awaited<ReturnType<PDFPageProxy['getTextContent']>>;

/** Pieces of text on a page, and characters in them: forms may draw each other, and a page far more than the file holds. */
const mostItems = 100_000;
const mostCharacters = 4 << 20;
/**
 * Each form with text that a page draws comes in a portion of its own, and takes the library as long as 500 letters; other text comes in
 * portions of about 10 pieces.
 */
const mostPortions = 10_000;

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
    if (items.length <= mostItems && characters <= mostCharacters && portions <= mostPortions) continue;
    // Nobody waits for what the library makes of it.
    void reader.cancel(new Error('enough')).catch(() => undefined);
    if (portions > mostPortions) throw tooLarge(`its page ${page.pageNumber} draws text in more than ${mostPortions} portions`);
    throw tooLarge(`its page ${page.pageNumber} holds more than ${mostItems} pieces of text or ${mostCharacters} characters`);
  }
  return { items };
}
