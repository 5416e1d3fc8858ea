import { readPayload } from '../../../src/automation-workflows/triggers/payload.ts';
import { readPeople } from '../../../src/contacts/spreadsheets/read-people.ts';
import { readTable } from '../../../src/contacts/spreadsheets/read-table.ts';
import { parse } from '../../../src/knowledge-base/parsing/parse.ts';
import { UnparsableDocument } from '../../../src/knowledge-base/parsing/unparsable-document.ts';
import { makePresentation, makeWorkbook, shapeOf, slideOf } from '../../knowledge-base/parsing/make-archive.ts';

/** What a parser could take longest over. `make` is not measured; `size` in characters or bytes, at 1x. */
export interface WorstCase {
  name: string;
  size: number;
  make(size: number): Promise<() => Promise<unknown>>;
}

const KiB = 1024;
const bytesOf = (text: string) => new TextEncoder().encode(text);
/** As often as `size` has room for. */
export const filled = (piece: string, size: number): string => piece.repeat(Math.max(1, Math.floor(size / piece.length)));

/** A document that is read, or refused in words. */
const document = (name: string, size: number, write: (size: number) => string | Promise<Uint8Array>): WorstCase => ({
  name,
  size,
  async make(wanted) {
    const written = await write(wanted);
    const bytes = typeof written === 'string' ? bytesOf(written) : written;
    return () =>
      parse(bytes, name.split(' ')[0]!).catch((error: unknown) => {
        if (!(error instanceof UnparsableDocument)) throw error;
      });
  },
});

const text = (name: string, size: number, write: (size: number) => string, read: (text: string) => Promise<unknown>): WorstCase => ({
  name,
  size,
  async make(wanted) {
    const written = write(wanted);
    return () => read(written);
  },
});

async function readAll(csv: string): Promise<void> {
  for await (const _ of (await readTable(csv)).rows);
}

async function readAllPeople(csv: string): Promise<void> {
  for await (const _ of readPeople(await readTable(csv), 'DE').rows);
}

const readForm = (form: string) => readPayload('application/x-www-form-urlencoded', bytesOf(form));
const readMultipart = (form: string) => readPayload('multipart/form-data; boundary=b', bytesOf(form));
const manyHeaders = Array.from({ length: 2000 }, (_, index) => `h${index}`).join(',');
const shared = '<row><c t="s"><v>0</v></c></row>';

export const worstCases: WorstCase[] = [
  text('form of one field', 100 * KiB, (size) => filled('a=1&', size), readForm),
  text('form of many fields', 100 * KiB, (size) => Array.from({ length: size / 8 }, (_, index) => `f${index}=1`).join('&'), readForm),
  text(
    'form in parts',
    100 * KiB,
    (size) => `${filled('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n', size)}--b--\r\n`,
    readMultipart,
  ),
  text('table with more headers than cells', 50 * KiB, (size) => `${manyHeaders}\n${filled('1\n', size)}`, readAll),
  text('table of blank lines', 200 * KiB, (size) => `a,b\n${filled('\n', size)}1,2\n`, readAll),
  text('table of empty cells', 100 * KiB, (size) => `a,b\n${filled(',,,,,,\n', size)}1,2\n`, readAll),
  text('table with a cell of blanks', 500 * KiB, (size) => `a,b\n${filled(' ', size)},1\n`, readAll),
  text('table with stacked marks in a header', 32 * KiB, (size) => `phone,a${filled('\u0301\u0323', size)}\n1,2\n`, readAllPeople),
  text('people with a long header', 64 * KiB, (size) => `phone,${filled('phone', size)}\n1,2\n`, readAllPeople),
  text('people with an address without an at sign', 64 * KiB, (size) => `phone,email\n+4930123456,${filled('a', size)}\n`, readAllPeople),
  text('people with many numbers', 64 * KiB, (size) => `phone\n${filled('+4930123456 ', size)}\n`, readAllPeople),
  document('a.csv', 200 * KiB, (size) => `a,b\n${filled('1,2\n', size)}`),
  document('a.xlsx with cells far to the right', 200 * KiB, (size) =>
    makeWorkbook([{ name: 'A', rows: filled('<row><c r="XFD1"><v>1</v></c></row>', size) }]),
  ),
  document('a.xlsx with a long number format', 64 * KiB, (size) =>
    makeWorkbook([{ name: 'A', rows: filled('<row><c r="A1" s="1"><v>1.5</v></c></row>', size) }], { formats: [filled('0.0', size)] }),
  ),
  document('a.xlsx with one text in all cells', 64 * KiB, (size) =>
    makeWorkbook([{ name: 'A', rows: filled(shared, size) }], { texts: [`<t>${filled('a ', size)}</t>`] }),
  ),
  document('a.pptx with many paragraphs', 300 * KiB, (size) =>
    makePresentation([
      slideOf(
        shapeOf(
          'body',
          Array.from({ length: size / 30 }, () => 'a'),
        ),
      ),
    ]),
  ),
  document('a.pptx with many slides', 100 * KiB, (size) =>
    makePresentation(Array.from({ length: size / 600 }, () => slideOf(shapeOf('body', ['a'])))),
  ),
  document('a.rtf in one paragraph', 1000 * KiB, (size) => `{\\rtf1 ${filled('a', size)}}`),
  document('a.rtf of cells', 200 * KiB, (size) => `{\\rtf1 \\intbl ${filled('a\\cell ', size)}\\row}`),
  document('a.rtf of groups', 500 * KiB, (size) => `{\\rtf1 ${filled('{}', size)} a}`),
  document('a.rtf with long style names', 200 * KiB, (size) => `{\\rtf1 {\\stylesheet ${filled('{\\s1 a}', size)}} a}`),
  document('a.txt with stacked marks', 64 * KiB, (size) => `a${filled('\u0301\u0323', size)}`),
  document('a.txt that begins with comments', 4 * KiB, (size) => filled('<!---->', size)),
  document('a.txt of form feeds', 300 * KiB, (size) => `a${filled('\f', size)}`),
  document('a.txt of underlined lines', 200 * KiB, (size) => filled('a\n---\n', size)),
  document('a.txt of blank lines', 300 * KiB, (size) => `a${filled(' \n', size)}b`),
  document('a.json of one object', 200 * KiB, (size) => `{${filled('"a":1,', size)}"b":1}`),
  document('a.json with a long name', 64 * KiB, (size) => `{"x":{"${filled('k', size)}":{${filled('"a":1,', size)}"b":1}}}`),
  document('a.json of objects deep in lists', 200 * KiB, (size) => `${'['.repeat(190)}${filled('{},', size)}{"a":1}${']'.repeat(190)}`),
  document('a.json of one number', 300 * KiB, (size) => `[${filled('1', size)}]`),
];
