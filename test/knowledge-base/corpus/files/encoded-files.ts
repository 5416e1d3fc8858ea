import { encodeText } from '../../../support/encode-text.ts';
import { encodingsOfLanguages, prose } from '../../../support/returns-policies.ts';
import { heading, item, table, text, type CorpusFile, type Part } from '../source.ts';
import { toHtml } from '../write/write-html.ts';
import { mailHeaders, mailPart, toMail, type Transfer } from '../write/write-mail.ts';
import { toDelimited, toMarkdown, toPlainText } from '../write/write-text.ts';

const canWrite = (sign: string, encoding: string): boolean => {
  try {
    return encodeText(sign, encoding).length > 0;
  } catch {
    return false;
  }
};
/** The text without the signs that an encoding lacks. */
const writable = (content: string, encoding: string): string => [...content].filter((sign) => canWrite(sign, encoding)).join('');

/** The title and the text of a policy. */
export function splitPolicy(content: string): [title: string, body: string] {
  const cut = /\s?[:：]\s*|\s(?=ลูก)/.exec(content)!;
  return [content.slice(0, cut.index), content.slice(cut.index + cut[0].length)];
}

interface Written {
  content: string | Uint8Array;
  source: Part[];
}
type WriteFile = (title: string, body: string, encoding: string) => Written;

const list = (body: string): Part[] => [item('1.', body.slice(0, 12).trim()), item('2.', `45 ${body.slice(12, 24).trim()}`)];
const rowsOf = (title: string, body: string): string[][] => [
  [title, 'No', 'EAN'],
  [body, '', '4006381333931'],
  ['', '0049 176', body.slice(0, 9).trim()],
];
const transfers: Record<number, Transfer> = { 0: '8bit', 1: 'base64', 2: 'quoted-printable' };

const writers: Record<string, WriteFile> = {
  txt: (title, body) => {
    const source = [heading(1, title), text(body), ...list(body)];
    return { source, content: toPlainText(source, '\r\n') };
  },
  csv: (title, body) => ({ source: [table(...rowsOf(title, body))], content: toDelimited(rowsOf(title, body), ';', '\r\n') }),
  md: (title, body) => {
    const source = [heading(1, title), text(body), ...list(body), table(...rowsOf(title, body))];
    return { source, content: toMarkdown(source) };
  },
  html: (title, body, encoding) => {
    const source = [heading(1, title), text(body), ...list(body), table(...rowsOf(title, body))];
    return { source, content: toHtml(source, encoding.startsWith('utf') ? '' : `<meta charset="${encoding}">`) };
  },
  tsv: (title, body) => ({ source: [table(...rowsOf(title, body))], content: toDelimited(rowsOf(title, body), '\t') }),
  json: (title, body) => ({
    source: [text(`title: ${title}`), heading(1, 'lines'), item('', body), item('', '45')],
    content: JSON.stringify({ title, lines: [body, 45] }),
  }),
  eml: (title, body, encoding) => ({
    source: [heading(1, title), text(mailHeaders), text(body)],
    content: toMail(title, mailPart('text/plain', body, { charset: encoding, transfer: transfers[body.length % 3]! }), {
      charset: encoding,
    }),
  }),
};
const types = Object.keys(writers);
/** These name their encoding. */
const namingTypes = new Set(['html', 'eml']);
/** The bytes do not tell the encoding for sure; the text is right, and the document says so. */
const unsure = new Set<string>([]);

function makeFile(language: string, type: string, encoding: string, mark = ''): CorpusFile {
  const [title, body] = splitPolicy(prose[language]!).map((part) => writable(part, encoding)) as [string, string];
  const { content, source } = writers[type]!(title, body, encoding);
  const name = `${language}.${encoding}${mark === '' ? '' : '-bom'}.${type}`;
  const isTold = encoding.startsWith('utf') || encoding === 'iso-2022-jp' || namingTypes.has(type);
  return {
    name,
    bytes: () => (typeof content === 'string' ? encodeText(mark + content, encoding) : content),
    source,
    warned: isTold ? [] : [unsure.has(name) ? 'encoding_uncertain' : 'encoding_guessed'],
  };
}

const pairs = Object.entries(encodingsOfLanguages).flatMap(([language, encodings]) =>
  encodings.map((encoding): [string, string] => [language, encoding]),
);
const languages = Object.keys(prose);
const unicode: [encoding: string, mark: string][] = [
  ['utf-8', ''],
  ['utf-8', '\ufeff'],
  ['utf-16le', '\ufeff'],
  ['utf-16be', '\ufeff'],
  ['utf-16le', ''],
  ['utf-16be', ''],
];

/** Texts of many languages in the encodings in which they are written, of all types of text in turns. */
export const encodedFiles: CorpusFile[] = [
  ...pairs.map(([language, encoding], index) => makeFile(language, types[index % types.length]!, encoding)),
  ...types
    .filter((type) => type !== 'eml')
    .flatMap((type, row) =>
      unicode.map(([encoding, mark], column) => makeFile(languages[(row * 5 + column * 7) % languages.length]!, type, encoding, mark)),
    ),
];
