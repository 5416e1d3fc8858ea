/** Characters that open inline markup. The library searches the end of each separately, which takes quadratic time. */
const markupCharacters = /[*_`~<[\]!$\\]/g;
const maxMarkupCharacters = 400;
const maxLineLength = 1 << 14;
const isDelimiterRow = (line: string): boolean => line.includes('-') && /^[\s|:-]+$/.test(line);
const startsNewBlock = /^\s*(?:[-*+]|\d{1,9}[.)]|#{1,6})\s/;

/** Splits paragraphs with hundreds of such characters by blank lines. Cells of tables and items of lists are short anyway. */
export class MarkdownLimiter {
  private count = 0;
  private before = '';
  private isInTable = false;

  /** `line`, or several with blank ones between them. */
  limitLine(line: string): string {
    const own = line.match(markupCharacters)?.length ?? 0;
    this.isInTable = line.includes('|') && (this.isInTable || (isDelimiterRow(line) && countCells(line) === countCells(this.before)));
    this.before = line;
    if (this.isInTable && own <= maxMarkupCharacters && line.length <= maxLineLength) return line;
    if (line.trim() === '' || startsNewBlock.test(line)) this.count = 0;
    this.count += own;
    if (this.count <= maxMarkupCharacters && line.length <= maxLineLength) return line;
    this.count = own;
    return own <= maxMarkupCharacters && line.length <= maxLineLength ? `\n${line}` : `\n${splitLine(line).join('\n\n')}\n`;
  }
}

const countCells = (row: string): number =>
  row
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|').length;

function splitLine(line: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let count = 0;
  for (const { index } of line.matchAll(/[*_`~<[\]!$\\]|$/g)) {
    count += 1;
    for (; index - start >= maxLineLength; start += maxLineLength) parts.push(line.slice(start, start + maxLineLength));
    if (count <= maxMarkupCharacters) continue;
    parts.push(line.slice(start, index));
    [start, count] = [index, 1];
  }
  parts.push(line.slice(start));
  return parts;
}
