import { Marked, Tokenizer } from 'marked';

/** A table of more cells, filled up to its widest row, would take too much memory; it is read as text. */
const maxTableCells = 200_000;

/**
 * Markdown of GitHub, but for two things: a row that is wider than its header keeps its cells, and a footnote or note of a single word is text and no address of a link.
 */
const markdown = new Marked({ gfm: true, async: true });
markdown.use({
  tokenizer: {
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
  },
});

export const markdownToHtml = async (text: string): Promise<string> => markdown.parse(text);

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
