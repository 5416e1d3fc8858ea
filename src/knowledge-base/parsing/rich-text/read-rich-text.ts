import type { BlockWriter } from '../block-writer.ts';
import { cleanText } from '../clean-text.ts';
import type { ReadResult } from '../document-reader.ts';
import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';
import { parseListItem } from '../text/parse-list-item.ts';
import { boldHeadingLevel } from '../detect-typed-headings.ts';
import { damaged, tooLarge } from '../../../library/text/unparsable-document.ts';
import { maxElementDepth } from '../../../library/office-files/limits.ts';
import { RichTextState } from './rich-text-state.ts';
import { tokenizeRichText } from './rich-text-tokens.ts';

const maxBoldHeadingLength = 100;
/** Requests go first after so many tokens, which take some milliseconds. */
const tokensPerSlice = 10_000;

/** Reads RTF: text, headings by outline level or style, lists by their marks, tables. */
export async function readRichText(bytes: Uint8Array, writer: BlockWriter): Promise<ReadResult> {
  const state = new RichTextState((paragraph) => {
    const text = cleanText(paragraph.text);
    if (paragraph.row) return writer.row(paragraph.row);
    if (text === '') return;
    if (paragraph.level > 0) return writer.heading(paragraph.level, text);
    // The mark before an item; a bullet may be any character of a font.
    if (paragraph.mark !== undefined)
      return writer.listItem(/[\p{L}\p{N}]/u.test(paragraph.mark) ? `${paragraph.mark.trim()} ${text}` : text);
    if (paragraph.isBold && text.length <= maxBoldHeadingLength && !/[.:;,]$/.test(text)) return writer.heading(boldHeadingLevel, text);
    const item = parseListItem(text);
    if (item === undefined) writer.paragraph(text);
    else writer.listItem(item);
  });
  let depth = 0;
  let tokens = 0;
  for (const token of tokenizeRichText(bytes)) {
    if (++tokens % tokensPerSlice === 0) await yieldToEventLoop();
    if (token.kind === 'open') {
      depth += 1;
      if (depth > maxElementDepth)
        throw tooLarge(`its groups lie more than ${maxElementDepth} deep in each other`, 'save it in a simpler form');
      state.open();
    } else if (token.kind === 'close') {
      depth -= 1;
      state.close();
    } else if (token.kind === 'word') state.word(token.word, token.number);
    else state.bytes(token.bytes);
  }
  state.end();
  // The outermost group is the document; a cut-off file never closes it.
  if (depth > 0) throw damaged('it is cut off');
  return { title: state.title };
}
