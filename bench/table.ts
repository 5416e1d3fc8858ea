/** A Markdown table. A column with a number in the first row is right-aligned. */
export function table(heads: string[], rows: string[][]): string[] {
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]!.length)));
  const isText = (column: number) => !/^[\d.]+$/.test(rows[0]![column]!);
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => (isText(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (isText(column) ? `-${'-'.repeat(width)}-` : `-${'-'.repeat(width)}:`)).join('|')}|`;
  return [line(heads), rule, ...rows.map(line)];
}
