import type { Part } from '../source.ts';

export const escapeHtml = (content: string): string => content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const htmlTable = (rows: string[][]): string =>
  `<table>${rows
    .map(
      (cells, index) =>
        `<tr>${cells.map((cell) => (index === 0 ? `<th>${escapeHtml(cell)}</th>` : `<td>${escapeHtml(cell)}</td>`)).join('')}</tr>`,
    )
    .join('')}</table>`;

const listTypes: [pattern: RegExp, type: string][] = [
  [/^[a-z]\.$/, 'a'],
  [/^[A-Z]\.$/, 'A'],
];

/** The body of a page. Lists are numbered by the browser, of which the labels say what it shows. */
function toHtmlBody(parts: Part[]): string {
  let depth = -1;
  let html = '';
  const closeTo = (wanted: number) => {
    for (; depth > wanted; depth -= 1) html += closings.pop();
  };
  const closings: string[] = [];
  for (const part of parts) {
    if (part.kind !== 'item') closeTo(-1);
    if (part.kind === 'heading') html += `<h${part.level}>${escapeHtml(part.text)}</h${part.level}>`;
    else if (part.kind === 'text') html += `<p>${escapeHtml(part.text)}</p>`;
    else if (part.kind === 'table') html += htmlTable(part.rows);
    else {
      closeTo(part.depth);
      if (depth === part.depth) html += '</li>';
      for (; depth < part.depth; depth += 1) {
        const type = listTypes.find(([pattern]) => pattern.test(part.label))?.[1];
        html += part.label === '' ? '<ul>' : `<ol${type === undefined ? '' : ` type="${type}"`}>`;
        closings.push(`</li>${part.label === '' ? '</ul>' : '</ol>'}`);
      }
      html += `<li>${escapeHtml(part.text)}`;
    }
  }
  closeTo(-1);
  return html;
}

export const toHtml = (parts: Part[], head = '<meta charset="utf-8">'): string =>
  `<!doctype html>\n<html><head>${head}</head>\n<body>\n${toHtmlBody(parts)}\n</body></html>\n`;
