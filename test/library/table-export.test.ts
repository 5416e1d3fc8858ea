import * as fc from 'fast-check';
import JSZip from 'jszip';
import { expect, test } from 'vitest';
import { chooseColumns } from '../../src/library/table-export/choose-columns.ts';
import { formatTable, type ExportColumn, type ExportFormat } from '../../src/library/table-export/format-table.ts';
import { writeWorkbook, type SheetValue } from '../../src/library/table-export/write-workbook.ts';
import { readWorkbook } from '../support/read-workbook.ts';

async function* pagesOf<Row>(rows: Row[], size = 2): AsyncGenerator<Row[]> {
  for (let start = 0; start < rows.length; start += size) yield rows.slice(start, start + size);
}

async function bytesOf(pieces: AsyncIterable<string | Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece.slice());
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const workbookOf = (header: string[], rows: SheetValue[][], limits?: Parameters<typeof writeWorkbook>[3]) =>
  bytesOf(writeWorkbook('Calls', header, pagesOf(rows), limits));

test('a workbook reads back as the same texts and numbers', async () => {
  const rows = [
    ['Ada', 41, '+12125550100'],
    ['', -2.5, '=HYPERLINK("http://x")'],
    ['Zoë & <Söhne>', 0, ' blank at both ends '],
  ];
  const [sheet] = await readWorkbook(await workbookOf(['name', 'count', 'text'], rows));
  expect(sheet).toEqual({ name: 'Calls', rows: [['name', 'count', 'text'], ...rows.map((cells) => cells.map(String))] });
});

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const controlCharacters = /[\0-\x08\x0b\x0c\x0e-\x1f]/g;

test('any workbook is a valid archive, and any of its texts reads back as it was', async () => {
  // The reader takes these private characters for signs of symbol fonts.
  const text = fc.string({ unit: 'binary', maxLength: 30 }).map((value) =>
    value
      .toWellFormed()
      .replaceAll(controlCharacters, '')
      .replaceAll(/[\uf000-\uf0ff]/g, ''),
  );
  const escape = fc.constantFrom('_x0041_', '_x000A_', 'a_x005F_b', ']]>', '&amp;', '\r\n', '\t', '');
  const value = fc.oneof(
    text,
    escape,
    fc.integer({ min: -1e9, max: 1e9 }).map((quarters) => quarters / 4),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(value, { minLength: 3, maxLength: 3 }), { maxLength: 9 }), async (rows) => {
      const bytes = await workbookOf(['a', 'b', 'c'], rows);
      await JSZip.loadAsync(bytes, { checkCRC32: true });
      const [sheet] = await readWorkbook(bytes);
      const read = sheet!.rows.slice(1).map((cells) => [0, 1, 2].map((column) => cells[column] ?? ''));
      expect(read).toEqual(rows.map((cells) => cells.map(String)).filter((cells) => cells.some((cell) => cell !== '')));
    }),
    { numRuns: 60 },
  );
});

test('control characters, which XML cannot carry, are written as escapes', async () => {
  const parts = await JSZip.loadAsync(await workbookOf(['a'], [['a\u0000b\u001fc\ufffe']]));
  expect(await parts.file('xl/worksheets/sheet1.xml')!.async('string')).toContain('>a_x0000_b_x001F_c_xFFFE_</t>');
});

test('rows beyond the limit of a sheet go on in the next one, with the header', async () => {
  const rows = [1, 2, 3, 4, 5].map((number) => [number]);
  const sheets = await readWorkbook(await workbookOf(['number'], rows, { rows: 3, characters: 1e6 }));
  expect(sheets).toEqual([
    { name: 'Calls', rows: [['number'], ['1'], ['2']] },
    { name: 'Calls 2', rows: [['number'], ['3'], ['4']] },
    { name: 'Calls 3', rows: [['number'], ['5']] },
  ]);
  const short = await readWorkbook(await workbookOf(['number'], rows, { rows: 100, characters: 10 }));
  expect(short.flatMap((sheet) => sheet.rows.slice(1).flat())).toEqual(['1', '2', '3', '4', '5']);
  expect(short.length).toBeGreaterThan(1);
});

test('a workbook without rows has one sheet with the header', async () => {
  expect(await readWorkbook(await workbookOf(['a', 'b'], []))).toEqual([{ name: 'Calls', rows: [['a', 'b']] }]);
});

test('a text that is longer than a cell takes is cut, between characters, and says so', async () => {
  const [sheet] = await readWorkbook(await workbookOf(['a'], [['x'.repeat(32_767)], [`${'x'.repeat(32_765)}😀y`]]));
  const [fits, cut] = [sheet!.rows[1]![0]!, sheet!.rows[2]![0]!];
  expect(fits).toHaveLength(32_767);
  expect([cut.length, cut.endsWith('x…'), cut.isWellFormed()]).toEqual([32_766, true, true]);
});

test('an error of the source is the error of the workbook', async () => {
  async function* failing(): AsyncGenerator<SheetValue[][]> {
    yield [['a']];
    throw new Error('the rows are out of reach');
  }
  await expect(bytesOf(writeWorkbook('Calls', ['a'], failing()))).rejects.toThrow('the rows are out of reach');
});

test('a workbook of many rows is written while it is read: a few pages are ahead of the reader, whatever its size', async () => {
  const pageRows = 1000;
  const pageCount = 200;
  let produced = 0;
  async function* pages(): AsyncGenerator<SheetValue[][]> {
    for (; produced < pageCount; produced++)
      yield Array.from({ length: pageRows }, (_, row) => [
        produced * pageRows + row,
        crypto.randomUUID(),
        'She asks for an offer',
        '+12125550100',
      ]);
  }
  let bytes = 0;
  let ahead = 0;
  for await (const piece of writeWorkbook('Calls', ['row', 'id', 'summary', 'phone'], pages())) {
    bytes += piece.byteLength;
    // Each page has about 40 bytes a row that cannot be packed.
    ahead = Math.max(ahead, produced - bytes / (pageRows * 20));
  }
  expect(produced).toBe(pageCount);
  expect(bytes).toBeGreaterThan(pageCount * pageRows * 20);
  expect(ahead).toBeLessThan(10);
}, 60_000);

test('a reader that stops has no more rows read', async () => {
  let produced = 0;
  async function* pages(): AsyncGenerator<SheetValue[][]> {
    for (; produced < 10_000; produced++) yield Array.from({ length: 200 }, () => [crypto.randomUUID()]);
  }
  const pieces = writeWorkbook('Calls', ['id'], pages());
  for (let piece = 0; piece < 6; piece++) await pieces.next();
  await pieces.return(undefined);
  const before = produced;
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(produced).toBe(before);
  expect(produced).toBeLessThan(1000);
});

interface Person {
  name: string;
  score: number | null;
  tags: string[];
}
const columns: ExportColumn<Person>[] = [
  { name: 'name', value: ({ name }) => name },
  { name: 'score', value: ({ score }) => score },
  { name: 'tags', value: ({ tags }) => tags },
];
const people: Person[] = [
  { name: '+1 Ada', score: 4.5, tags: ['a', 'b'] },
  { name: 'Bob, "B"', score: null, tags: [] },
];
const tableOf = async (format: ExportFormat) =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
    await bytesOf(formatTable(format, { name: 'People', columns, pages: pagesOf(people, 1) })),
  );

test('each format has every row: CSV with safe cells, JSON lines with values of their own type', async () => {
  expect(await tableOf('csv')).toBe('\ufeffname,score,tags\r\n"\'+1 Ada",4.5,"[""a"",""b""]"\r\n"Bob, ""B""",,[]\r\n');
  expect(await tableOf('jsonl')).toBe('{"name":"+1 Ada","score":4.5,"tags":["a","b"]}\n{"name":"Bob, \\"B\\"","score":null,"tags":[]}\n');
});

test('columns come in the order that is asked for; an unknown one is refused with the nearest name', () => {
  const names = (wanted?: string[]) => chooseColumns(columns, wanted).map(({ name }) => name);
  expect(names()).toEqual(['name', 'score', 'tags']);
  expect(names(['tags', 'name'])).toEqual(['tags', 'name']);
  expect(() => names(['scores'])).toThrow('There is no column "scores"; did you mean "score"?');
  expect(() => names(['zzzzzz'])).toThrow('the columns are name, score, tags');
});
