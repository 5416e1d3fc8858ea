import type { Part } from '../source.ts';

/** RTF is written in ASCII: other signs stand by their number, with a fallback of one sign. */
const escapeRichText = (content: string): string =>
  content.replace(/[\\{}]/g, String.raw`\$&`).replace(/[^\0-\u007f]/g, (unit) => `\\u${(unit.charCodeAt(0) << 16) >> 16}?`);

type Escape = (content: string) => string;

/** The text as bytes of a code page, `\'e4`. */
export const escapeAs =
  (encode: (content: string) => Uint8Array): Escape =>
  (content) =>
    [...encode(content)]
      .map((byte) =>
        byte > 0x7f || byte === 0x5c || byte === 0x7b || byte === 0x7d ? `\\'${byte.toString(16)}` : String.fromCharCode(byte),
      )
      .join('');

const writeRow = (cells: string[], escape: Escape) =>
  String.raw`\trowd${cells.map((_, index) => `\\cellx${(index + 1) * 1000}`).join('')}\pard\intbl ` +
  `${cells.map((cell) => `${escape(cell)}\\cell `).join('')}\\row\n`;

/** Headings have outline levels. */
export function toRichText(parts: Part[], { head = String.raw`\ansi\ansicpg1252`, escape = escapeRichText, foot = '' } = {}): string {
  const body = parts.map((part) => {
    if (part.kind === 'heading') return String.raw`\pard\outlinelevel${part.level - 1} ${escape(part.text)}\par`;
    if (part.kind === 'text') return String.raw`\pard ${escape(part.text)}\par`;
    if (part.kind === 'table') return part.rows.map((cells) => writeRow(cells, escape)).join('');
    return String.raw`\pard{\listtext ${part.label === '' ? String.raw`\f1\'b7` : part.label}\tab}${escape(part.text)}\par`;
  });
  return String.raw`{\rtf1${head}{\fonttbl{\f0 Arial;}{\f1\fcharset2 Symbol;}}` + `\n${body.join('\n')}\n${foot}}`;
}
