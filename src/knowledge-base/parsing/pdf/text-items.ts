import type { PDFPageProxy } from 'unpdf/pdfjs';
import { tooLarge } from '../unparsable-document.ts';

export type TextContent = Awaited<ReturnType<PDFPageProxy['getTextContent']>>;

/** Pieces of text on a page, and characters in them: forms may draw each other, and a page far more than the file holds. */
const mostItems = 100_000;
const mostCharacters = 4 << 20;

/** The text of a page, counted while it comes. */
export async function readTextItems(page: PDFPageProxy): Promise<Pick<TextContent, 'items'>> {
  const items: TextContent['items'] = [];
  let characters = 0;
  const reader = (page.streamTextContent() as ReadableStream<TextContent>).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    for (const item of read.value.items) {
      items.push(item);
      if ('str' in item) characters += item.str.length;
    }
    if (items.length <= mostItems && characters <= mostCharacters) continue;
    // Nobody waits for what the library makes of it.
    void reader.cancel(new Error('enough')).catch(() => undefined);
    throw tooLarge(`its page ${page.pageNumber} holds more than ${mostItems} pieces of text or ${mostCharacters} characters`);
  }
  return { items };
}
