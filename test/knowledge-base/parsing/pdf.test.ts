import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { failureOf, outlineOf } from '../document-support.ts';
import { lines, makePdf } from './make-pdf.ts';
import type { PdfText } from './make-pdf.ts';

const read = (pages: PdfText[][], info?: string) => parseDocument(makePdf(pages, info), 'made.pdf');

const left = [
  'The warranty covers every part of the kettle for',
  'three years from the day on which it was bought.',
  'Limescale is not covered, since it comes from the',
  'water and not from the kettle, and can be cleaned.',
];
const right = [
  'Refunds reach the account that paid within five',
  'business days. Shipping is refunded only where the',
  'parcel came later than promised or was damaged by',
  'the carrier on its way to the customer.',
];

test('columns are read one after the other, below a title over both', async () => {
  const page = [{ text: 'Returns and warranty', x: 200, y: 740, size: 18 }, ...lines(left, 60, 700), ...lines(right, 330, 700)];
  expect(outlineOf(await read([page]))).toEqual(['h1 Returns and warranty', `p ${left.join(' ')}`, `p ${right.join(' ')}`]);
});

test('columns are read one after the other, however the file has them in order', async () => {
  const page = left.flatMap((text, index) => [
    ...lines([right[index] ?? ''], 330, 700 - index * 12),
    ...lines([text], 60, 700 - index * 12),
  ]);
  expect(outlineOf(await read([page]))).toEqual([`p ${left.join(' ')}`, `p ${right.join(' ')}`]);
});

test('text over the whole width parts two pairs of columns', async () => {
  const over = 'This notice stands over the whole page and belongs to neither of the columns above it or below it, as one sees.';
  const page = [
    ...lines(left, 60, 740),
    ...lines(right, 330, 740),
    { text: over, x: 60, y: 650 },
    ...lines(right, 60, 600),
    ...lines(left, 330, 600),
  ];
  const [first, second] = [left.join(' '), right.join(' ')];
  expect(outlineOf(await read([page]))).toEqual([`p ${first}`, `p ${second}`, `p ${over}`, `p ${second}`, `p ${first}`]);
});

test('a table is read row by row, and a cell of two lines is one cell', async () => {
  const row = (cells: string[], y: number) => cells.map((text, index) => ({ text, x: 60 + index * 160, y }));
  const page = [
    ...row(['Model', 'Colour', 'Price'], 700),
    ...row(['K-200', 'black or white,', '49.90'], 680),
    { text: 'matt', x: 220, y: 668 },
    ...row(['K-300', 'steel', '89.00'], 648),
  ];
  const { blocks } = await read([page]);
  expect(blocks).toEqual([
    {
      kind: 'table',
      header: 'Model | Colour | Price',
      isContinued: false,
      text: 'Model | Colour | Price\nK-200 | black or white, matt | 49.90\nK-300 | steel | 89.00',
      page: 1,
    },
  ]);
});

test('cells of whole sentences are distinguished from columns by their common beginnings', async () => {
  const pairs = [
    [['Question'], ['Answer']],
    [
      ['How long does shipping take for', 'a parcel to Berlin or Lisbon?'],
      ['Three working days. Parcels to', 'islands take five, with a number', 'for following them on their way.'],
    ],
    [
      ['May I change the address after', 'my order was placed?'],
      ['Yes, until the parcel is handed', 'to the carrier.'],
    ],
    [
      ['What does the warranty of the', 'kettle cover, and for how long?'],
      ['Everything but limescale, for', 'three years. Keep the receipt.'],
    ],
  ];
  let y = 700;
  const page = pairs.flatMap(([question = [], answer = []]) => {
    const texts = [...lines(question, 60, y), ...lines(answer, 300, y)];
    y -= Math.max(question.length, answer.length) * 12 + 10;
    return texts;
  });
  expect(outlineOf(await read([page]))).toEqual(
    pairs.map(([question = [], answer = []]) => `| ${question.join(' ')} | ${answer.join(' ')}`),
  );
});

test('numbers on the right of a column belong to the heading on its left; close cells are separated by the columns of other rows', async () => {
  const row = (cells: [x: number, text: string][], y: number) => cells.map(([x, text]) => ({ text, x, y }));
  const page = [
    ...row(
      [
        [60, 'Item'],
        [95, 'Description'],
        [260, 'Price'],
        [420, 'Pieces'],
      ],
      700,
    ),
    ...row(
      [
        [60, 'K-200'],
        [95, 'Kettle'],
        [340, '49.90'],
        [420, '2'],
      ],
      680,
    ),
    ...row(
      [
        [60, 'S-1'],
        [95, 'Shipping'],
        [345, '5.90'],
        [420, '1'],
      ],
      660,
    ),
    ...row(
      [
        [60, 'Sum'],
        [335, '105.70'],
      ],
      640,
    ),
  ];
  expect(outlineOf(await read([page]))).toEqual([
    '| Item | Description | Price | Pieces',
    '| K-200 | Kettle | 49.90 | 2',
    '| S-1 | Shipping | 5.90 | 1',
    '| Sum |  | 105.70',
  ]);
});

test('a heading between two tables parts them, and a list below one is no part of it', async () => {
  const row = (cells: string[], y: number) => cells.map((text, index) => ({ text, x: 60 + index * 120, y }));
  const page = [
    ...row(['', 'Berlin', 'Lisbon'], 700).slice(1),
    ...row(['Mon-Fri', '10-19', '10-20'], 685),
    ...row(['Sat', '10-16', 'closed'], 670),
    { text: 'Staff', x: 60, y: 640, size: 14 },
    ...row(['Ada', 'Berlin'], 620),
    ...row(['Bob', 'Lisbon'], 605),
    ...lines(['1. Go to the counter.', '2. Show the receipt.'], 60, 580),
  ];
  expect(outlineOf(await read([page]))).toEqual([
    '| | Berlin | Lisbon',
    '| Mon-Fri | 10-19 | 10-20',
    '| Sat | 10-16 | closed',
    'h1 Staff',
    '| Ada | Berlin',
    '| Bob | Lisbon',
    '- 1. Go to the counter.',
    '- 2. Show the receipt.',
  ]);
});

test('larger letters and bold lines are headings, by their size', async () => {
  const page = [
    { text: 'Handbook', x: 60, y: 740, size: 20 },
    { text: 'Returns', x: 60, y: 700, size: 14 },
    ...lines(left, 60, 675),
    { text: 'Damaged parcels', x: 60, y: 610, isBold: true },
    ...lines(right, 60, 590),
  ];
  expect(outlineOf(await read([page])).filter((line) => line.startsWith('h'))).toEqual(['h1 Handbook', 'h2 Returns', 'h3 Damaged parcels']);
});

test('page numbers and repeated heads are left out, and a sentence over two pages is whole', async () => {
  const page = (number: number, texts: string[]) => [
    { text: 'Acme handbook, confidential', x: 60, y: 770, size: 8 },
    ...lines(texts, 60, 720),
    { text: `Page ${number} of 3`, x: 280, y: 30, size: 8 },
  ];
  const document = await read([page(1, left.slice(0, 3)), page(2, left.slice(3)), page(3, right)]);
  expect(outlineOf(document)).toEqual(['p Acme handbook, confidential', `p ${left.join(' ')}`, `p ${right.join(' ')}`]);
  expect(document.blocks.map((block) => block.page)).toEqual([1, 1, 3]);
});

test('words broken at the end of a line are joined, words with a hyphen keep it', async () => {
  const texts = [
    'A well-known shop gives its cus-',
    'tomers a long time to think it over, and it is a well-',
    'known fact that few of them send anything back at all.',
  ];
  expect(outlineOf(await read([lines(texts, 60, 700)]))).toEqual([
    'p A well-known shop gives its customers a long time to think it over, and it is a well-known fact that few of them send anything back at all.',
  ]);
});

test('lists with bullets and numbers are distinguished from text', async () => {
  const texts = [
    'Bring with you:',
    '\u2022 the receipt',
    '\u2022 the parcel, in the packaging that',
    '   it came in',
    '1. Go to the counter.',
    '2. Show the receipt.',
  ];
  const bytes = lines(
    texts.map((text) => text.replace('\u2022', '\\225')),
    60,
    700,
  );
  const document = await parseDocument(unescapedBullets(makePdf([bytes])), 'list.pdf');
  expect(outlineOf(document)).toEqual([
    'p Bring with you:',
    '- the receipt',
    '- the parcel, in the packaging that it came in',
    '- 1. Go to the counter.',
    '- 2. Show the receipt.',
  ]);
});

/** The helper escapes backslashes; octal 225 is the bullet of WinAnsiEncoding. Lengths in the file may then be off, which readers bear. */
const unescapedBullets = (bytes: Uint8Array) => new TextEncoder().encode(new TextDecoder().decode(bytes).replaceAll('\\\\225', '\\225 '));

test('text along the margin is kept apart from the lines beside it', async () => {
  const page = [{ text: 'Draft of May', x: 30, y: 300, turned: true }, ...lines(left, 60, 700)];
  expect(outlineOf(await read([page]))).toEqual([`p ${left.join(' ')}`, 'p Draft of May']);
});

test('pages without text say that they need text recognition', async () => {
  expect(await failureOf(makePdf([[], []]), 'scan.pdf')).toMatchObject({
    code: 'no_text',
    message: 'There is no text on its 2 pages, only pictures or scans; run text recognition (OCR) over the file and upload it again',
  });
  expect((await read([[], lines(left, 60, 700)])).metadata).toEqual({ type: 'pdf', pages: 2, pages_without_text: 1 });
});

test('the title in the file is taken, unless a program wrote it', async () => {
  const page = [{ text: 'Kettles', x: 60, y: 740, size: 20 }, ...lines(left, 60, 700)];
  expect((await read([page], '/Title (Kettle handbook)')).title).toBe('Kettle handbook');
  expect((await read([page], '/Title (Microsoft Word - kettle_v7.docx)')).title).toBe('Kettles');
});
