/** Signs that open something in a line. The library looks for the end of each anew, in the square of their number. */
const signs = /[*_`~<[\]!$\\]/g;
const mostSigns = 400;
const longestLine = 1 << 14;
const isDelimiterRow = (line: string): boolean => line.includes('-') && /^[\s|:-]+$/.test(line);
const beginsAnew = /^\s*(?:[-*+]|\d{1,9}[.)]|#{1,6})\s/;

/** Cuts paragraphs of hundreds of signs by blank lines, so that each is short. A table's cells and a list's items are short by themselves. */
export class DenseMarkdown {
  private count = 0;
  private before = '';
  private isInTable = false;

  /** `line`, or several with blank ones between them. */
  bounded(line: string): string {
    const own = line.match(signs)?.length ?? 0;
    this.isInTable = line.includes('|') && (this.isInTable || (isDelimiterRow(line) && cellsIn(line) === cellsIn(this.before)));
    this.before = line;
    if (this.isInTable && own <= mostSigns && line.length <= longestLine) return line;
    if (line.trim() === '' || beginsAnew.test(line)) this.count = 0;
    this.count += own;
    if (this.count <= mostSigns && line.length <= longestLine) return line;
    this.count = own;
    return own <= mostSigns && line.length <= longestLine ? `\n${line}` : `\n${partsOf(line).join('\n\n')}\n`;
  }
}

const cellsIn = (row: string): number =>
  row
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|').length;

function partsOf(line: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let count = 0;
  for (const { index } of line.matchAll(/[*_`~<[\]!$\\]|$/g)) {
    count += 1;
    for (; index - start >= longestLine; start += longestLine) parts.push(line.slice(start, start + longestLine));
    if (count <= mostSigns) continue;
    parts.push(line.slice(start, index));
    [start, count] = [index, 1];
  }
  parts.push(line.slice(start));
  return parts;
}
