import type { Part } from '../source.ts';

const marked = (label: string, content: string, depth: number) => `${'  '.repeat(depth)}${label === '' ? '-' : label} ${content}`;

/** Plain text, with underlined headings. Tables have a line a row. */
export function toPlainText(parts: Part[], lineEnd = '\n'): string {
  const blocks = parts.map((part, index) => {
    if (part.kind === 'heading') return `${part.text}\n${(part.level === 1 ? '=' : '-').repeat(12)}\n`;
    if (part.kind === 'text') return `${part.text}\n`;
    if (part.kind === 'table') return `${part.rows.map((cells) => cells.join('  ')).join('\n')}\n`;
    return `${marked(part.label, part.text, part.depth)}${parts[index + 1]?.kind === 'item' ? '' : '\n'}`;
  });
  return `${blocks.join('\n')}\n`.replaceAll('\n', lineEnd);
}

export function toMarkdown(parts: Part[]): string {
  const blocks = parts.map((part, index) => {
    if (part.kind === 'heading') return `${'#'.repeat(part.level)} ${part.text}\n`;
    if (part.kind === 'text') return `${part.text}\n`;
    if (part.kind === 'table') return `${markdownTable(part.rows)}\n`;
    return `${'    '.repeat(part.depth)}${part.label === '' ? '-' : part.label} ${part.text}${parts[index + 1]?.kind === 'item' ? '' : '\n'}`;
  });
  return `${blocks.join('\n')}\n`;
}

const markdownRow = (cells: string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`).replaceAll('\n', '<br>')).join(' | ')} |`;

export const markdownTable = ([header = [], ...rows]: string[][]): string =>
  [markdownRow(header), `|${header.map(() => '---').join('|')}|`, ...rows.map(markdownRow)].join('\n');

/** `end`: the line end. A cell is quoted where it must be. */
export const toDelimited = (rows: string[][], delimiter = ',', end = '\n'): string =>
  rows
    .map((cells) => cells.map((cell) => (/["\r\n]/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell)))
    .map((cells) => cells.join(delimiter) + end)
    .join('');
