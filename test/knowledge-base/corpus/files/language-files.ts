import { prose } from '../../../support/returns-policies.ts';
import { heading, item, table, text, type CorpusFile, type Part } from '../source.ts';
import { toHtml } from '../write/write-html.ts';
import { toPdf } from '../write/write-pdf.ts';
import { toPresentation } from '../write/write-presentation.ts';
import { toRichText } from '../write/write-rich-text.ts';
import { toMarkdown, toPlainText } from '../write/write-text.ts';
import { toWord } from '../write/write-word.ts';
import { toWorkbook } from '../write/write-workbook.ts';
import { splitPolicy } from './encoded-files.ts';

const more = {
  en: 'Returns: within 45 days the customer may bring back any item that was not opened, and gets the whole price of it.',
  vi: 'Chính sách đổi trả: khách hàng có thể trả lại sản phẩm trong vòng 45 ngày mà không cần nêu lý do. Cảm ơn quý khách đã mua hàng.',
  hi: 'वापसी नीति: ग्राहक 45 दिनों के भीतर बिना कारण बताए सामान वापस कर सकता है। धन्यवाद और फिर से पधारें।',
};
const languages = ['en', 'de', 'ru', 'el', 'tr', 'he', 'ar', 'th', 'ja', 'ko', 'zh-Hans', 'vi', 'hi'] as const;
const policies: Record<string, string> = { ...prose, ...more };

/** The words of a text, or pieces of it where there are no blanks. */
const wordsOf = (body: string): string[] => body.match(/[\p{Script=Han}\p{Script=Hiragana}]{2,4}|[\p{Script=Thai}]{4,6}|[\p{L}\p{M}]+/gu)!;
const word = (words: string[], index: number): string => words[index % words.length]!;

/** `labels`: of four items, of which the second and the third lie below the first. `levels`: of the three headings. */
function handbook(language: string, labels: string[], levels = [1, 2, 2]): Part[] {
  const [title, body] = splitPolicy(policies[language]!);
  const words = wordsOf(body);
  return [
    heading(levels[0]!, title),
    text(body),
    heading(levels[1]!, `${word(words, 0)} ${word(words, 1)}`),
    item(labels[0]!, word(words, 2)),
    item(labels[1]!, `${word(words, 3)} 12`, 1),
    item(labels[2]!, word(words, 4), 1),
    item(labels[3]!, word(words, 5)),
    heading(levels[2]!, `${word(words, 1)} ${word(words, 3)}`),
    table(...priceRows(words)),
  ];
}

const priceRows = (words: string[]): string[][] => [
  [word(words, 0), word(words, 1), 'EAN'],
  [word(words, 2), '', '4006381333931'],
  [`${word(words, 3)} ${word(words, 4)}`, word(words, 5), '0.5'],
  ['', word(words, 1), '491761234567'],
];

const makers: Record<string, (language: string) => Pick<CorpusFile, 'bytes' | 'source'>> = {
  docx: (language) => {
    const source = handbook(language, ['1.', '1.1', '1.2', '2.']);
    return { source, bytes: () => toWord(source) };
  },
  pptx: (language) => {
    const source = handbook(language, ['1.', 'a)', 'b)', '2.'], [1, 1, 1]);
    return { source, bytes: () => toPresentation(source) };
  },
  xlsx: (language) => {
    const [title, body] = splitPolicy(policies[language]!);
    const sheets = [
      { name: title.slice(0, 31), rows: priceRows(wordsOf(body)) },
      {
        name: word(wordsOf(body), 0),
        rows: [
          ['No', title],
          ['1', body],
        ],
      },
    ];
    return { source: sheets.flatMap(({ name, rows }) => [heading(1, name), table(...rows)]), bytes: () => toWorkbook(sheets) };
  },
  html: (language) => {
    const source = handbook(language, ['1.', 'a.', 'b.', '2.']);
    return { source, bytes: () => new TextEncoder().encode(toHtml(source)) };
  },
  md: (language) => {
    const source = handbook(language, ['1.', '1.', '2.', '2.']);
    return { source, bytes: () => new TextEncoder().encode(toMarkdown(source)) };
  },
  rtf: (language) => {
    const source = handbook(language, ['1.', '1.1.', '1.2.', '2.']);
    return { source, bytes: () => new TextEncoder().encode(toRichText(source)) };
  },
  txt: (language) => {
    const source = handbook(language, ['1.', 'a)', 'b)', '2.']).filter(({ kind }) => kind !== 'table');
    return { source: [...source, text('end 2026')], bytes: () => new TextEncoder().encode(toPlainText([...source, text('end 2026')])) };
  },
  pdf: (language) => {
    const source = handbook(language, ['1.', 'a)', 'b)', '2.']);
    return { source, bytes: () => toPdf(source) };
  },
};

/** In a PDF, letters of these stand in the order in which they are drawn. */
const drawnFromTheRight = new Set(['he', 'ar']);

/** One handbook, with headings, a list on two levels and a table with empty cells and long numbers, in many languages and types. */
export const languageFiles: CorpusFile[] = languages.flatMap((language) =>
  Object.entries(makers)
    .filter(([type]) => type !== 'pdf' || !drawnFromTheRight.has(language))
    .map(([type, make]) => ({ name: `handbook.${language}.${type}`, ...make(language) })),
);
