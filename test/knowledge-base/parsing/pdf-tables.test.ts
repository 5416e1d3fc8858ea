import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { smallPdf } from '../../fixtures/documents/small-pdfs.ts';
import { outlineOf } from '../document-support.ts';
import { makeTablePdf, wrapText, type DrawnTable } from './make-drawn-table.ts';
import { drawing } from './make-raw-pdf.ts';

const read = async (table: DrawnTable) => outlineOf(await parseDocument(makeTablePdf(table), 'table.pdf'));
const toLines = (rows: string[][]) => rows.map((row) => `| ${row.slice(0, row.findLastIndex((cell) => cell !== '') + 1).join(' | ')}`);

test.each(['table-with-tight-rows.pdf', 'table-with-tight-rows-and-rules.pdf'] as const)('%s has six rows of three cells', async (name) => {
  expect(outlineOf(await parseDocument(smallPdf(name), name))).toEqual([
    '| Name | Title | Amount',
    '| Anna Schmidt | District director | 37,499.96',
    '| Bob Miller | Clerk | 21,000.00',
    '| Cy Twombly | Intern | 446.87',
    '| Di Prima | Clerk | 20,100.00',
    '| Ed Ruscha | Adviser | 9,000.00',
  ]);
});

const price = fc.tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 10, max: 99 })).map(([euros, cents]) => `${euros}.${cents}`);
const word = fc.constantFrom('kettle', 'lamp', 'chair', 'window', 'garden', 'hose', 'steel', 'cover', 'cable', 'office', 'berlin', 'spare');
const text = (max: number) =>
  fc.array(word, { minLength: 1, maxLength: max }).map((words) => words.join(' ').replace(/^./, (letter) => letter.toUpperCase()));

/** Every row has its first and its last cell, which is a price, as rows of real tables have. `maxWords`: of other cells. */
const tables = (rules: DrawnTable['rules'][], maxWords: number) =>
  fc
    .record({ columns: fc.integer({ min: 2, max: 5 }), rows: fc.integer({ min: 2, max: 9 }), size: fc.integer({ min: 8, max: 11 }) })
    .chain(({ columns, rows, size }) =>
      fc.record({
        size: fc.constant(size),
        rules: fc.constantFrom(...rules),
        fillsRules: fc.boolean(),
        widths: fc.array(fc.integer({ min: 70, max: Math.floor(460 / columns) }), { minLength: columns, maxLength: columns }),
        rightAligned: fc.boolean().map((isRight) => Array.from({ length: columns }, (_, column) => isRight && column === columns - 1)),
        gaps: fc.constantFrom<number[]>([1.2], [2], [1.3, 2.1, 1.6], [1.2, 1.2, 2.4]),
        cells: fc.array(
          fc.tuple(
            text(maxWords),
            fc.array(fc.oneof({ weight: 4, arbitrary: text(maxWords) }, { weight: 1, arbitrary: fc.constant('') }), {
              minLength: columns - 2,
              maxLength: columns - 2,
            }),
            price,
          ),
          { minLength: rows, maxLength: rows },
        ),
      }),
    );

function toTable({ cells, ...table }: Omit<DrawnTable, 'rows'> & { cells: [string, string[], string][] }, isWrapped: boolean): DrawnTable {
  const header = table.widths.map((_, column) => ['Name', 'Title', 'City', 'Model', 'Notes'][column]!);
  header[header.length - 1] = 'Price';
  const own = cells.map(([first, others, last]) => [first, ...others, last]);
  const cut = (cell: string, column: number) => (isWrapped ? cell : wrapText(cell, table.size, table.widths[column]!)[0]!);
  return { ...table, rows: [header, ...own.map((row) => row.map(cut))] };
}

test('tables in drawn lines are read cell by cell, however their rows are spaced and their cells wrapped', async () => {
  await fc.assert(
    fc.asyncProperty(tables(['all'], 7), async (made) => {
      const table = toTable(made, true);
      expect(await read(table)).toEqual(toLines(table.rows));
    }),
    { numRuns: 60, seed: 16 },
  );
});

test('rows with a line below each are read row by row, with cells of several lines', async () => {
  await fc.assert(
    fc.asyncProperty(tables(['across'], 5), async (made) => {
      const table = toTable(made, true);
      expect(await read(table)).toEqual(toLines(table.rows));
    }),
    { numRuns: 60, seed: 16 },
  );
});

test('tables without drawn lines between the rows are read by their columns, however their rows are spaced', async () => {
  await fc.assert(
    fc.asyncProperty(tables(['none', 'header'], 3), async (made) => {
      const table = toTable(made, false);
      expect(await read(table)).toEqual(toLines(table.rows));
    }),
    { numRuns: 100, seed: 16 },
  );
});

const described: string[][] = [
  ['Model', 'What it is for', 'Price'],
  ['K-100', 'Boils a litre of water in three minutes and keeps it warm', '19.90'],
  ['K-200', 'Boils two litres', '29.90'],
  ['K-300 for offices and kitchens', 'Two', '39.90'],
  ['K-400', 'With a thermometer, a timer, a cover and a long cable for gardens', '49.90'],
];

test.each([1.4, 1.7, 2.2])(
  'without drawn lines, cells in the middle of their rows are told by the space between rows (%s)',
  async (gap) => {
    const table: DrawnTable = { rows: described, widths: [90, 110, 60], size: 10, rules: 'none', gaps: [gap], isInMiddle: true };
    expect(await read(table)).toEqual(toLines(described));
    expect(await read({ ...table, isCentred: true })).toEqual(toLines(described));
  },
);

test('a table of two columns, whose short cells stand in the middle of their rows, is no text in two columns', async () => {
  const rows = [
    ['Kind', 'Price'],
    ['Cover hose kettle cable of steel', '2433.16'],
    ['Berlin lamp', '8270.60'],
    ['Chair spare chair for an office', '1877.12'],
    ['Garden kettle with a spare cover', '9989.76'],
  ];
  expect(await read({ rows, widths: [90, 80], size: 10, rules: 'none', gaps: [1.8], isInMiddle: true })).toEqual(toLines(rows));
});

test('no word of a table is lost or read twice, whatever its lines, spaces and empty cells', async () => {
  await fc.assert(
    fc.asyncProperty(tables(['all', 'across', 'header', 'none'], 6), fc.boolean(), fc.boolean(), async (made, isCentred, isInMiddle) => {
      const table = { ...toTable(made, true), isCentred, isInMiddle };
      const words = (lines: string[]) =>
        lines
          .join(' ')
          .split(/[\s|]+/)
          .toSorted();
      expect(words((await read(table)).map((line) => line.replace(/^(?:p|-|h\d|\|) /, '')))).toEqual(
        words(table.rows.map((row) => row.join(' '))),
      );
    }),
    { numRuns: 100, seed: 16 },
  );
});

const prices: DrawnTable = {
  rows: [
    ['Model', 'Colour', 'Price'],
    ['K-100', 'black', '19.90'],
    ['K-200', 'white', '29.90'],
    ['K-300', 'steel', '39.90'],
    ['K-400', 'red', '49.90'],
    ['K-500', 'blue', '59.90'],
  ],
  widths: [100, 100, 100],
  size: 10,
  rules: 'none',
  gaps: [1.5],
};

test.each([
  ['none', true],
  ['none', false],
  ['all', true],
  ['all', false],
  ['across', true],
  ['across', false],
] as const)(
  'a table (lines: %s) goes on on the next page under the same header, which is repeated there (%s) or not',
  async (rules, repeatsHeader) => {
    const bytes = makeTablePdf({ ...prices, rules, repeatsHeader, breakBefore: 3 });
    const { blocks } = await parseDocument(bytes, 'table.pdf');
    expect(blocks).toEqual([
      {
        kind: 'table',
        header: 'Model | Colour | Price',
        isContinued: false,
        page: 1,
        text: 'Model | Colour | Price\nK-100 | black | 19.90\nK-200 | white | 29.90',
      },
      {
        kind: 'table',
        header: 'Model | Colour | Price',
        isContinued: true,
        page: 2,
        text: 'K-300 | steel | 39.90\nK-400 | red | 49.90\nK-500 | blue | 59.90',
      },
    ]);
  },
);

test('a merged cell is read where it begins; one at the left of several rows stands before each', async () => {
  const show = (x: number, y: number, words: string) => `BT /F1 10 Tf ${x} ${y} Td (${words}) Tj ET`;
  const line = (x0: number, y0: number, x1: number, y1: number) => `${x0} ${y0} m ${x1} ${y1} l S`;
  const content = [
    show(66, 704, 'Region'),
    show(180, 704, 'Sales of both years'),
    show(66, 674, 'North'),
    show(166, 684, '2023'),
    show(266, 684, '10'),
    show(166, 664, '2024'),
    show(266, 664, '12'),
    line(60, 720, 360, 720),
    line(60, 700, 360, 700),
    line(160, 680, 360, 680),
    line(60, 660, 360, 660),
    line(60, 660, 60, 720),
    line(160, 660, 160, 720),
    line(260, 660, 260, 700),
    line(360, 660, 360, 720),
  ];
  expect(outlineOf(await parseDocument(drawing(content.join('\n')), 'table.pdf'))).toEqual([
    '| Region | Sales of both years',
    '| North | 2023 | 10',
    '| North | 2024 | 12',
  ]);
});

test('a frame around text, and lines below headings, make no table', async () => {
  const show = (y: number, words: string) => `BT /F1 10 Tf 66 ${y} Td (${words}) Tj ET`;
  const content = [
    show(704, 'Returns are free of charge within thirty days of the'),
    show(692, 'day on which the parcel came to its customer.'),
    show(640, 'Opening hours'),
    show(620, 'We are here from nine to five on all working days.'),
    '60 680 300 40 re S',
    '66 636 m 130 636 l S',
  ];
  expect(outlineOf(await parseDocument(drawing(content.join('\n')), 'frame.pdf'))).toEqual([
    'p Returns are free of charge within thirty days of the day on which the parcel came to its customer.',
    'p Opening hours',
    'p We are here from nine to five on all working days.',
  ]);
});

const below = (pitch: number, gap: number, left: number, words: string[]) => {
  const rows = ['Zebra 1 2', 'Yak 3 4', 'Xerus 5 6', 'Wombat 7 8'].map((row) => row.split(' '));
  const show = (x: number, y: number, shown: string) => `BT /F1 10 Tf ${x} ${y} Td (${shown}) Tj ET`;
  const table = rows.flatMap((row, index) => row.map((cell, column) => show(100 + column * 100, 700 - index * pitch, cell)));
  const last = 700 - (rows.length - 1) * pitch - gap;
  return { rows, bytes: drawing([...table, ...words.map((line, index) => show(left, last - index * 12, line))].join(' ')) };
};

test.each([
  [18, 21, 78, ['End words']],
  [18, 18, 78, ['End words']],
  [12, 14, 78, ['End words']],
  [12, 12, 100, ['Prices include tax.']],
  [14, 18, 100, ['Free.', 'Prices include tax.']],
  [18, 18, 100, ['All of these prices include tax and are valid until the end of the year', 'in which the order was made.']],
])(
  'a paragraph right below a table without lines is none of its cells (rows of %s, %s below, from %s)',
  async (pitch, gap, left, words) => {
    const { rows, bytes } = below(pitch, gap, left, words);
    const lines = outlineOf(await parseDocument(bytes, 'table.pdf'));
    expect(lines.slice(0, rows.length)).toEqual(toLines(rows));
    expect(lines.slice(rows.length).join(' ').replaceAll('p ', '')).toBe(words.join(' '));
  },
);
