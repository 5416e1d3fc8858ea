import { Marked, Tokenizer } from 'marked';
import type { TokenizerObject } from 'marked';
import { MarkdownTags } from './markdown-tags.ts';

/** A table of more cells, filled up to its widest row, would take too much memory; it is read as text. */
const maxTableCells = 200_000;

/**
 * Markdown of GitHub, but for three things: a row that is wider than its header keeps its cells, a footnote or note of a single word is text and no address of a link,
 * and words in angle brackets are tags only if they name elements.
 */
export async function markdownToHtml(text: string): Promise<string> {
  const tags = new MarkdownTags(text);
  const markdown = new Marked({ gfm: true, async: true });
  markdown.use({
    tokenizer: {
      ...tokenizer,
      html: (src) => (tags.beginsWithWord(src) || tags.beginsWithOpenComment(src) ? undefined : false),
      tag: (src) => (src.startsWith('<') && tags.beginsWithWord(src) ? undefined : false),
    },
    renderer: { html: ({ text: html }) => tags.keepWords(html) },
  });
  return markdown.parse(text);
}

const tokenizer: TokenizerObject = {
  table(src) {
    const found = this.rules.block.table.exec(src);
    if (!found) return undefined;
    const [raw, header = '', delimiters = '', body = ''] = found;
    const width = countCells(header);
    const rows = body.split('\n');
    const widest = rows.reduce((most, row) => Math.max(most, countCells(row)), width);
    if (widest * rows.length > maxTableCells) return undefined;
    if (widest === width) return false;
    const [wideHeader, wideDelimiters] = [widen(header, ' |', widest - width), widen(delimiters, '---|', widest - width)];
    const table = Tokenizer.prototype.table.call(this, `${wideHeader}\n${wideDelimiters}\n${body}`);
    return table && { ...table, raw: withoutLineEnds(raw) };
  },
  def: (src) => (isNote(src) ? undefined : false),
};

/** `[^1]: Giftcards` and `[Note]: Important` define no address. */
function isNote(src: string): boolean {
  const [whole, label = '', address = ''] = /^ {0,3}\[([^\]\n]{1,200})\]:[ \t]*\n?[ \t]*(\S{1,200})/.exec(src) ?? [];
  return whole !== undefined && (label.startsWith('^') || !/[./#:@?<]/.test(address));
}

/** The cells of a row, whether or not bars stand at its ends. */
function countCells(row: string): number {
  const cells = row.trim().replace(/\\./g, '').replace(/^\|/, '').replace(/\|$/, '');
  return cells.split('|').length;
}

function widen(row: string, cell: string, count: number): string {
  const trimmed = row.trimEnd();
  return `${trimmed.endsWith('|') && !trimmed.endsWith('\\|') ? trimmed : `${trimmed} |`}${cell.repeat(count)}`;
}

function withoutLineEnds(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}
