import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { outlineOf } from '../document-support.ts';
import { lines, makePdf, type PdfText } from './make-pdf.ts';

const read = async (pages: PdfText[][]) => outlineOf(await parseDocument(makePdf(pages), 'made.pdf'));
const body = (number: number): PdfText[] =>
  lines([`Text of page ${number}, which says how kettles of the kind`, `number ${number * 7} are cleaned, and what they cost.`], 60, 600);
const bodyText = (number: number) =>
  `p Text of page ${number}, which says how kettles of the kind number ${number * 7} are cleaned, and what they cost.`;

test.each(['7', 'Page 1 of 1', '- 3 -', 'iv', 'Acme handbook 12'])('"%s" at the end of the only page is text', async (text) => {
  expect((await read([[...body(1), { text, x: 280, y: 30, size: 8 }]])).at(-1)).toContain(text.replace('- 3', '3').trim());
});

test.each([
  ['bare numbers', (number: number) => `${number + 4}`],
  ['numbers between dashes', (number: number) => `- ${number} -`],
  ['numbers of all pages', (number: number) => `Page ${number} of 4`],
  ['Roman numbers', (number: number) => ['i', 'ii', 'iii', 'iv'][number - 1]!],
])('page numbers that count with the pages are left out: %s', async (_, label) => {
  const page = (number: number): PdfText[] => [...body(number), { text: label(number), x: 280, y: 30 }];
  expect(await read([page(1), page(2), page(3), page(4)])).toEqual([1, 2, 3, 4].map(bodyText));
});

test('numbers at the same place that do not count with the pages are text', async () => {
  const page = (number: number, text: string): PdfText[] => [...body(number), { text, x: 280, y: 30 }];
  const read1 = await read([page(1, '120'), page(2, '80'), page(3, '310')]);
  for (const number of ['120', '80', '310']) expect(read1.join('\n')).toContain(number);
});

test('sums and headings with numbers at the margins of several pages are text', async () => {
  const page = (number: number): PdfText[] => [
    { text: `Step ${number}`, x: 60, y: 760, size: 14 },
    ...body(number),
    { text: `Total ${number * 10 + 3}.50`, x: 60, y: 40 },
  ];
  const found = (await read([page(1), page(2), page(3)])).join('\n');
  for (const number of [1, 2, 3]) {
    expect(found).toContain(`Step ${number}`);
    expect(found).toContain(`Total ${number * 10 + 3}.50`);
  }
});

test('a header is read once, with the page number beside it left out', async () => {
  const page = (number: number): PdfText[] => [
    { text: 'Acme handbook', x: 60, y: 770, size: 8 },
    { text: String(number), x: 540, y: 770, size: 8 },
    ...body(number),
  ];
  expect(await read([page(1), page(2), page(3)])).toEqual(['p Acme handbook', bodyText(1), bodyText(2), bodyText(3)]);
});

test.each(['007', 'x', '1'])('a cell %j at the edge of two pages is text: other cells stand beside it', async (cell) => {
  const page = (number: number): PdfText[] => [
    ...['tea', 'coffee', 'milk'].flatMap((name, row) => [
      { text: row === 0 ? cell : `a${row}`, x: 60, y: 770 - 20 * row },
      { text: `${name} ${number * 3 + row}`, x: 200, y: 770 - 20 * row },
      { text: `${number}${row}.50`, x: 400, y: 770 - 20 * row },
    ]),
    ...body(number),
  ];
  const found = (await read([page(1), page(2)])).join('\n').split('\n');
  expect(found.filter((line) => line.includes('tea'))).toEqual([`| ${cell} | tea 3 | 10.50`, `| ${cell} | tea 6 | 20.50`]);
});

test('headers of left and of right pages are read once each', async () => {
  const page = (number: number): PdfText[] => [
    { text: number % 2 === 0 ? 'Acme handbook' : 'Chapter 2: Cleaning', x: number % 2 === 0 ? 60 : 400, y: 770, size: 8 },
    ...body(number),
  ];
  const found = await read([page(1), page(2), page(3), page(4)]);
  expect(found.filter((line) => line.includes('Acme handbook'))).toHaveLength(1);
  expect(found.filter((line) => line.includes('Chapter 2: Cleaning'))).toHaveLength(1);
  expect(found).toHaveLength(6);
});

test('the same line at other heights is text on each page', async () => {
  const page = (number: number): PdfText[] => [...body(number), { text: 'See the back.', x: 60, y: 20 + number * 20 }];
  expect((await read([page(1), page(2), page(3)])).filter((line) => line.includes('See the back.'))).toHaveLength(3);
});
