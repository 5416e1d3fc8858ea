import type { BlockWriter } from '../block-writer.ts';
import type { FileFacts, ReadResult } from '../document-reader.ts';
import { parseListItem } from './parse-list-item.ts';
import { splitIntoLineBatches, decodeTextPieces } from './decode-text-pieces.ts';

/** A line of at least this length was wrapped by a program and not ended by the author. */
const minWrappedLength = 50;
const maxWrappedLength = 140;
/** Logs and lists may have no blank lines. */
const maxParagraphLines = 500;

/** Reads plain text: blank lines separate paragraphs; underlined lines and lines in capitals are headings; a form feed begins a page. */
export async function readPlainText(bytes: Uint8Array, writer: BlockWriter, { encoding }: FileFacts): Promise<ReadResult> {
  return readTextPieces(decodeTextPieces(bytes, { named: encoding, warnings: writer.warnings }), writer);
}

export async function readTextPieces(pieces: AsyncIterable<string>, writer: BlockWriter): Promise<ReadResult> {
  let paragraph: string[] = [];
  let pages = 0;
  const flush = () => {
    writeParagraph(paragraph, writer);
    paragraph = [];
  };
  for await (const lines of splitIntoLineBatches(pieces)) {
    for (const line of lines) {
      const [first = '', ...afterBreaks] = line.split('\f');
      if (first.trim() === '' || paragraph.length >= maxParagraphLines) flush();
      if (first.trim() !== '') paragraph.push(first);
      for (const rest of afterBreaks) {
        flush();
        pages = Math.max(pages, 1) + 1;
        writer.page = pages;
        if (rest.trim() !== '') paragraph.push(rest);
      }
    }
  }
  flush();
  if (pages === 0) return {};
  for (const block of writer.blocks) block.page ??= 1;
  return { pages };
}

function writeParagraph(lines: string[], writer: BlockWriter): void {
  const [first = '', second = ''] = lines;
  if (lines.length === 0) return;
  if (lines.length >= 2 && /^\s*(?:={3,}|-{3,})\s*$/.test(second) && first.trim().length <= 120) {
    writer.heading(second.includes('=') ? 1 : 2, first);
    return writeParagraph(lines.slice(2), writer);
  }
  if (lines.length === 1 && isInCapitals(first.trim())) return writer.heading(2, first);
  writeLines(lines, writer);
}

/** Writes the items of a list with their continuation lines, and the text before them. */
function writeLines(lines: string[], writer: BlockWriter): void {
  const isWrapped = looksWrapped(lines);
  let text: string[] = [];
  let isItem = false;
  const flush = () => {
    const joined = text.join(isWrapped || isItem ? ' ' : '\n');
    if (isItem) writer.listItem(joined);
    else writer.paragraph(joined);
  };
  for (const line of lines) {
    const item = parseListItem(line);
    const goesOn = item === undefined && isItem && /^\s/.test(line);
    if (item === undefined && (!isItem || goesOn || isWrapped)) {
      text.push(line.trim());
      continue;
    }
    flush();
    text = [item ?? line.trim()];
    isItem = item !== undefined;
  }
  flush();
}

/** Whether lines look wrapped: most lines but the last are long, and none is very long. */
function looksWrapped(lines: string[]): boolean {
  if (lines.length < 2) return false;
  const inner = lines.slice(0, -1).map((line) => line.trim().length);
  return inner.filter((length) => length >= minWrappedLength && length <= maxWrappedLength).length >= inner.length * 0.7;
}

function isInCapitals(line: string): boolean {
  if (line.length > 80) return false;
  const letters = line.match(/\p{L}/gu)?.length ?? 0;
  return letters >= 4 && line === line.toUpperCase() && line !== line.toLowerCase() && !/[.,;:!?]$/.test(line);
}
