import type { BlockWriter } from '../block-writer.ts';
import { readHtmlPieces } from '../html/read-html.ts';
import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';
import type { FileFacts, ReadResult } from '../document-reader.ts';
import { MarkdownLimiter } from './markdown-limiter.ts';
import { markdownToHtml } from './markdown-to-html.ts';
import { splitIntoLineBatches, decodeTextPieces } from './decode-text-pieces.ts';

/** In characters. Markdown is converted in parts of this length, because the library needs ten times the text in memory. */
const partLength = 1 << 16;

/** Reads Markdown as HTML, which Markdown may contain anyway. */
export async function readMarkdown(bytes: Uint8Array, writer: BlockWriter, { encoding }: FileFacts): Promise<ReadResult> {
  let title: string | undefined;
  for await (const part of splitMarkdown(decodeTextPieces(bytes, { named: encoding, warnings: writer.warnings }))) {
    const { text, title: named, settings } = splitFrontMatter(title === undefined ? part : `\n${part}`);
    title ??= named;
    writer.paragraph(settings);
    await readHtmlPieces([await markdownToHtml(text)], writer);
    await yieldToEventLoop();
  }
  return { title };
}

/** Splits before a heading or at a blank line, never inside a code fence. */
async function* splitMarkdown(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let lines: string[] = [];
  let length = 0;
  let fence: string | undefined;
  const dense = new MarkdownLimiter();
  for await (const batch of splitIntoLineBatches(pieces)) {
    for (const given of batch) {
      const line = fence === undefined ? dense.limitLine(given) : given;
      if (length >= partLength && fence === undefined && (line.trim() === '' || /^#{1,6}\s/.test(line))) {
        yield lines.join('\n');
        lines = [];
        length = 0;
      }
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) fence = fence === undefined ? mark : undefined;
      lines.push(line);
      length += line.length + 1;
    }
  }
  yield lines.join('\n');
}

/** Front matter between two lines of dashes. Its title is the document's title; `settings`: its other lines. */
function splitFrontMatter(text: string): { text: string; title: string; settings: string } {
  const [whole = '', lines = ''] = /^---\n([^]*?)\n(?:---|\.\.\.)(?:\n|$)/.exec(text) ?? [];
  const titleLine = /^title:\s*(["']?)(.+?)\1\s*$/m.exec(lines);
  return { text: text.slice(whole.length), title: titleLine?.[2] ?? '', settings: lines.replace(titleLine?.[0] ?? '', '') };
}
