import type { PDFPageProxy } from 'unpdf/pdfjs';
import { MarkedItems, type MarkedContent } from './marked-items.ts';
import type { TextContent } from './text-content.ts';
import { tooLarge } from '../../../library/text/unparsable-document.ts';

/** The texts of a page in the order of the file, and the fonts whose lines are written downwards. */
export interface PageText {
  items: TextContent['items'];
  verticalFonts: Set<string>;
  /** Texts that stand for something that is drawn without letters. */
  unplaced: string[];
  /** How many parts with text belong to layers that are not shown. */
  hiddenParts: number;
}

/**
 * The maximum of text items on a page, and of their characters. Forms may draw each other, so a page may draw far more than the file
 * holds.
 */
const maxItems = 100_000;
/** The maximum of items with the marks of their content, of which a text may have several. */
const maxPieces = 400_000;
const maxCharacters = 4 << 20;
/**
 * The maximum of chunks on a page. The library sends each form with text as a chunk, which costs as much as 500 letters; other text comes
 * in chunks of about 10 items.
 */
const maxStreamChunks = 10_000;

/** Characters that stand for no letter: controls, private ones, and half pairs. */
const unreadable = /(?![\t\n\r])[\p{Cc}\p{Co}\p{Cs}\ufffe\uffff]/gu;
/** The bullets of Word, which come from symbol fonts. */
const bullets: Record<string, string> = { '\uf0b7': '•', '\uf0a7': '▪' };

/** The text with the letters that mean nothing in the file as damaged ones, so that they are counted and not dropped. */
const showUnreadable = (text: string): string => text.replace(unreadable, (sign) => bullets[sign] ?? '\ufffd');

/** Reads the text of a page. Throws `UnparsableDocument` for too much. */
export async function readTextItems(
  page: Pick<PDFPageProxy, 'pageNumber' | 'streamTextContent'>,
  content: MarkedContent,
): Promise<PageText> {
  const marked = new MarkedItems(content);
  const items: TextContent['items'] = [];
  const verticalFonts = new Set<string>();
  let characters = 0;
  let chunks = 0;
  let pieces = 0;
  const reader = (page.streamTextContent({ includeMarkedContent: true }) as ReadableStream<TextContent>).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    for (const found of read.value.items) {
      pieces += 1;
      const item = marked.read(found);
      if (!item) continue;
      items.push(item);
      characters += item.str.length;
      item.str = showUnreadable(item.str);
    }
    for (const [font, { vertical }] of Object.entries(read.value.styles)) if (vertical) verticalFonts.add(font);
    chunks += 1;
    if (items.length <= maxItems && pieces <= maxPieces && characters <= maxCharacters && chunks <= maxStreamChunks) continue;
    // The result of cancelling the stream is ignored.
    void reader.cancel(new Error('enough')).catch(() => undefined);
    if (chunks > maxStreamChunks) throw tooLarge(`its page ${page.pageNumber} draws text in more than ${maxStreamChunks} chunks`);
    throw tooLarge(`its page ${page.pageNumber} holds more than ${maxItems} pieces of text or ${maxCharacters} characters`);
  }
  return { items, verticalFonts, unplaced: marked.unplaced, hiddenParts: marked.hiddenParts };
}
