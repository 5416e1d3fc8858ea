import { makeWord } from '../../parsing/make-archive.ts';
import type { Part } from '../source.ts';
import { escapeHtml } from './write-html.ts';

const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

export const wordRun = (content: string, properties = ''): string =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${escapeHtml(content)}</w:t></w:r>`;
export const wordParagraph = (content: string, properties = ''): string => paragraphOf(wordRun(content), properties);
export const paragraphOf = (runs: string, properties = ''): string => `<w:p><w:pPr>${properties}</w:pPr>${runs}</w:p>`;

/** `content`: paragraphs, or a text with a paragraph for each line. */
export const wordCell = (content: string, properties = ''): string =>
  `<w:tc><w:tcPr>${properties}</w:tcPr>${
    content.startsWith('<w:')
      ? content
      : content
          .split('\n')
          .map((line) => wordParagraph(line))
          .join('')
  }</w:tc>`;
export const wordRow = (cells: string[], properties = ''): string => `<w:tr><w:trPr>${properties}</w:trPr>${cells.join('')}</w:tr>`;
export const wordTable = (rows: string[]): string => `<w:tbl><w:tblPr/>${rows.join('')}</w:tbl>`;

const styles = `<w:styles ${w}>${[1, 2, 3, 4, 5, 6]
  .map((level) => `<w:style w:type="paragraph" w:styleId="H${level}"><w:name w:val="heading ${level}"/></w:style>`)
  .join('')}</w:styles>`;

export interface NumberedLevel {
  text: string;
  format?: string;
  start?: number;
  more?: string;
}

/** Lists are numbered from 1, in the order of `lists`; `more`: what a list overrides. */
export const numberingPart = (lists: { levels: NumberedLevel[]; more?: string }[]): string =>
  `<w:numbering ${w}>${lists
    .map(({ levels }, index) => `<w:abstractNum w:abstractNumId="${index}">${levels.map(writeLevel).join('')}</w:abstractNum>`)
    .join('')}${lists
    .map(({ more = '' }, index) => `<w:num w:numId="${index + 1}"><w:abstractNumId w:val="${index}"/>${more}</w:num>`)
    .join('')}</w:numbering>`;

const writeLevel = ({ text, format = 'decimal', start = 1, more = '' }: NumberedLevel, index: number): string =>
  `<w:lvl w:ilvl="${index}"><w:start w:val="${start}"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`;

/** List 1 has the labels `1.`, `1.1` and `(a)`, list 2 bullets. */
const usualNumbering = numberingPart([
  { levels: [{ text: '%1.' }, { text: '%1.%2' }, { text: '(%3)', format: 'lowerLetter' }] },
  { levels: [0, 1, 2].map(() => ({ text: '•', format: 'bullet' })) },
]);

export const listProperties = (list: number, depth: number): string =>
  `<w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="${list}"/></w:numPr>`;

function toWordBody(parts: Part[]): string {
  return parts
    .map((part) => {
      if (part.kind === 'heading') return wordParagraph(part.text, `<w:pStyle w:val="H${part.level}"/>`);
      if (part.kind === 'text') return wordParagraph(part.text);
      if (part.kind === 'item') return wordParagraph(part.text, listProperties(part.label === '' ? 2 : 1, part.depth));
      return wordTable(part.rows.map((cells) => wordRow(cells.map((cell) => wordCell(cell)))));
    })
    .join('');
}

/** `body`: parts, or WordprocessingML. `more`: parts of the archive, by their names. */
export const toWord = (body: Part[] | string, more: Record<string, string> = {}): Promise<Uint8Array> =>
  makeWord(typeof body === 'string' ? body : toWordBody(body), {
    'word/styles.xml': styles,
    'word/numbering.xml': usualNumbering,
    ...more,
  });

export const wordPart = (root: string, content: string): string => `<w:${root} ${w}>${content}</w:${root}>`;
