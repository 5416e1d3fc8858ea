import type { BlockWriter } from '../block-writer.ts';
import { cleanText } from '../clean-text.ts';
import type { ReadResult } from '../document-reader.ts';
import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';
import { parseListItem } from '../text/parse-list-item.ts';
import { boldHeadingLevel } from '../detect-typed-headings.ts';
import { damaged, tooLarge } from '../../../library/text/unparsable-document.ts';
import { maxElementDepth } from '../../../library/office-files/limits.ts';
import { isPageNumber } from '../page-words.ts';
import { RichTextState, type RichTextParagraph } from './rich-text-state.ts';
import { tokenizeRichText } from './rich-text-tokens.ts';

const maxBoldHeadingLength = 100;
/** Requests go first after so many tokens, which take some milliseconds. */
const tokensPerSlice = 10_000;

/** Reads RTF: headers once, text, headings by outline level or style, lists by their marks, tables, notes after the paragraph that they stand in, footers once. */
export async function readRichText(bytes: Uint8Array, writer: BlockWriter): Promise<ReadResult> {
  const headers = new Set<string>();
  const footers = new Set<string>();
  let notes: RichTextParagraph[] = [];
  const takeParagraph = (paragraph: RichTextParagraph) => {
    if (paragraph.place === 'note') notes.push(paragraph);
    else if (paragraph.place === 'footer') footers.add(toRunningLine(paragraph));
    else if (paragraph.place === 'header') writeOnce(toRunningLine(paragraph), headers, writer);
    else {
      writeParagraph(paragraph, writer);
      const ended = notes;
      notes = [];
      for (const note of ended) writeParagraph(note, writer);
    }
  };
  const state = new RichTextState(takeParagraph, writer.warnings);
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
  for (const note of notes) writeParagraph(note, writer);
  for (const footer of footers) if (footer !== '') writer.paragraph(footer);
  for (const page of state.pagesNotKnown)
    writer.warnings.add('encoding_uncertain', { detail: `windows-1252, and is of code page ${page}, whose letters are not known` });
  // The outermost group is the document; a cut-off file never closes it.
  if (depth > 0) throw damaged('it is cut off');
  return { title: state.title };
}

function writeParagraph(paragraph: RichTextParagraph, writer: BlockWriter): void {
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
}

/** A line of a header or footer; empty without more than a page number. */
function toRunningLine({ text, row }: RichTextParagraph): string {
  const line = cleanText(row ? row.join(' | ') : text);
  return isPageNumber(line) ? '' : line;
}

function writeOnce(line: string, written: Set<string>, writer: BlockWriter): void {
  if (line !== '' && !written.has(line)) writer.paragraph(line);
  written.add(line);
}
