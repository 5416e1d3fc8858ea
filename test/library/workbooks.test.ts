import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTableOfRecords } from '../../src/library/delimited-text/table-of-records.ts';
import { chooseSheet } from '../../src/library/workbooks/choose-sheet.ts';
import { requireWorkbook } from '../../src/library/workbooks/require-workbook.ts';
import { readSheetRecords } from '../../src/library/workbooks/sheet-records.ts';
import { makeArchive, makeWord, makeWorkbook } from '../knowledge-base/parsing/make-archive.ts';
import { workbookOf, type CellSheet } from '../support/people-workbook.ts';

const isHeader = (cells: string[]) => cells.includes('Phone');

async function recordsOf(bytes: Uint8Array, name?: string) {
  const workbook = await requireWorkbook(bytes);
  const sheet = await chooseSheet(workbook, name, isHeader);
  const records = [];
  for await (const batch of readSheetRecords(workbook, sheet)) records.push(...batch);
  return { sheet: sheet.name, records };
}

const rowsOf = async (sheets: CellSheet[], formats: string[] = []) =>
  (await recordsOf(await workbookOf(sheets, formats))).records.map(({ cells }) => cells);

describe('the rows of a sheet', () => {
  test('have every cell at its place, and the number that the program shows', async () => {
    const bytes = await workbookOf([{ name: 'A', rows: [['a', null, 'c'], [], [null, ' b '], [null, null], ['x']] }]);
    expect((await recordsOf(bytes)).records).toEqual([
      { file_row: 1, cells: ['a', '', 'c'] },
      { file_row: 3, cells: ['', 'b'] },
      { file_row: 5, cells: ['x'] },
    ]);
  });

  test('hold what stands in hidden rows and columns, as a CSV of the program does', async () => {
    const sheet = {
      name: 'A',
      rows: [
        ['a', 'b'],
        ['c', 'd'],
      ],
      hidden: [2],
      columns: '<col min="2" max="2" hidden="1"/>',
    };
    expect(await rowsOf([sheet])).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  test.each([
    ['a phone number stored as number', 491511234567, 'General', '491511234567'],
    ['one that is shown as a power of ten', 491511234567, '0.00E+00', '491511234567'],
    ['one with thousands separators', 491511234567, '#,##0', '491511234567'],
    ['one with decimals', 491511234567, '0.00', '491511234567'],
    ['one whose format has the zero in front', 1511234567, '00000000000', '01511234567'],
    ['one whose format has the plus', 491511234567, '\\+0', '+491511234567'],
    ['one of fifteen digits', 123456789012345, 'General', '123456789012345'],
    ['an amount', 1234.5, '#,##0.00', '1,234.50'],
    ['a price of millions', 12_500_000, '#,##0', '12,500,000'],
    ['a day', 46_356, 'yyyy-mm-dd', '2026-11-30'],
    ['a day as people write it', 46_356, 'd mmm yyyy', '30 Nov 2026'],
    ['a share', 0.25, '0%', '25%'],
  ])('show a number with its digits: %s', async (_, number, format, shown) => {
    expect(await rowsOf([{ name: 'A', rows: [[{ number, style: 1 }]] }], [format])).toEqual([[shown]]);
  });

  test('keep texts as they are: without the marks of spreadsheets, with line breaks and resolved escapes', async () => {
    const rows = [["'+49 151 1234567", '="00123"', "'n' roll", 'two\nlines', 'one_x000D_\nother_x005F_x', '#N/A', 'a\u0000b']];
    expect(await rowsOf([{ name: 'A', rows }])).toEqual([
      ['+49 151 1234567', '00123', "'n' roll", 'two\nlines', 'one\nother_x', '#N/A', expect.stringMatching(/^a.?b$/)],
    ]);
  });

  test.each(['', '<v></v>', '<v/>'])('have a problem that names the formulas without a result, written as "%s"', async (value) => {
    const formula = { formula: '1+1', value };
    const solved = { formula: '1+1', value: '<v>2</v>' };
    const rows = [['a'], ['b', solved], ['c', formula, 'd'], [null, ...Array.from({ length: 28 }, () => formula)]];
    const advice = 'no result in the file; open the workbook in a spreadsheet program, save it and upload it again';
    expect((await recordsOf(await workbookOf([{ name: 'A', rows }]))).records).toEqual([
      { file_row: 1, cells: ['a'] },
      { file_row: 2, cells: ['b', '2'] },
      { file_row: 3, cells: ['c', '', 'd'], problem: `The formula in B3 has ${advice}` },
      { file_row: 4, cells: Array.from({ length: 29 }, () => ''), problem: `The formulas in B4, C4, D4, E4, F4, ... have ${advice}` },
    ]);
    const far = [[...Array.from({ length: 701 }, () => null), formula, formula]];
    expect((await recordsOf(await workbookOf([{ name: 'A', rows: far }]))).records).toEqual([
      expect.objectContaining({ problem: expect.stringContaining('The formulas in ZZ1, AAA1 have') }),
    ]);
  });

  test('are those that were written, whatever they are', async () => {
    const cell = fc.oneof(
      fc.constant(''),
      fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replace(/[\p{Cc}\ufffe\uffff]/gu, '').trim()),
      fc.constantFrom('a,b', 'say "hi"', 'x;y', 'tab\there', '<&>', 'Grüße', '=1+1'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(cell, { maxLength: 6 }), { minLength: 1, maxLength: 12 }), async (rows) => {
        const filled = [['first', 'row'], ...rows];
        const wanted = filled
          .map((cells) => cells.slice(0, cells.findLastIndex((text) => text !== '') + 1))
          .filter((cells) => cells.length > 0);
        expect(await rowsOf([{ name: 'A', rows: filled }])).toEqual(wanted);
      }),
      { numRuns: 100 },
    );
  });

  test('make the table that a CSV makes: titles above the header, wider rows named by their place', async () => {
    const { records } = await recordsOf(
      await workbookOf([{ name: 'A', rows: [['Our people'], [], ['Name', 'Phone'], ['Ann', '+1', null, 'x'], ['Bob', '+2']] }]),
    );
    const table = await readTableOfRecords(
      (async function* () {
        yield* records;
        return undefined;
      })(),
      { isHeader },
    );
    expect([table.titles, table.headers]).toEqual([[['Our people']], ['Name', 'Phone', 'column_3', 'column_4']]);
    expect(table.sample).toEqual([
      { row_number: 1, file_row: 4, cells: ['Ann', '+1', '', 'x'] },
      { row_number: 2, file_row: 5, cells: ['Bob', '+2'] },
    ]);
  });
});

describe('the sheet that is read', () => {
  const notes = { name: 'Read me', rows: [['These are our people'], ['Call them kindly']] };
  const leads = {
    name: 'Leads',
    rows: [
      ['Phone', 'Name'],
      ['+1', 'Ann'],
    ],
  };
  const old = {
    name: 'Old',
    rows: [
      ['Phone', 'Name'],
      ['+2', 'Bob'],
    ],
  };

  test.each<[string, CellSheet[], string | undefined, string]>([
    ['is the first with a table', [notes, leads, old], undefined, 'Leads'],
    ['is no hidden one', [{ ...old, state: 'hidden' }, leads], undefined, 'Leads'],
    ['is no empty one', [{ name: 'Empty', rows: [] }, leads], undefined, 'Leads'],
    ['may have one column, if its header is known', [notes, { name: 'Numbers', rows: [['Phone'], ['+1']] }], undefined, 'Numbers'],
    ['is the first with rows where none has a table', [{ name: 'Empty', rows: [] }, notes], undefined, 'Read me'],
    ['is the named one', [notes, leads, old], 'Old', 'Old'],
    ['is named without its case', [notes, leads, old], ' old ', 'Old'],
    ['may be hidden if it is named', [leads, { ...old, state: 'veryHidden' }], 'Old', 'Old'],
  ])('%s', async (_, sheets, name, chosen) => {
    expect((await recordsOf(await workbookOf(sheets), name)).sheet).toBe(chosen);
  });

  test('is refused with the names that there are', async () => {
    await expect(recordsOf(await workbookOf([notes, leads]), 'Lead')).rejects.toThrow(
      'The workbook has no sheet "Lead"; its sheets are: "Read me", "Leads". Name one of them',
    );
    await expect(recordsOf(await workbookOf([{ name: 'A', rows: [] }]))).rejects.toThrow('The workbook is empty');
  });
});

describe('a file that is no workbook', () => {
  const compoundFile = (stream: string) =>
    Uint8Array.from([0xd0, 0xcf, 0x11, 0xe0, ...[...'\0'.repeat(600), ...[...stream].join('\0')].map((sign) => sign.charCodeAt(0))]);

  test.each<[string, () => Uint8Array | Promise<Uint8Array>, RegExp]>([
    ['an old workbook', () => compoundFile('Workbook'), /old Excel workbook \(\.xls\).*save it as \.xlsx or \.csv/],
    ['an older one', () => compoundFile('Book'), /old Excel workbook \(\.xls\)/],
    ['one with a password', () => compoundFile('EncryptedPackage'), /protected by a password; save it without one/],
    ['a Word document', () => makeWord('<w:p/>'), /a Word document.*save the table in it/],
    ['a binary workbook', () => makeArchive({ 'xl/workbook.bin': 'x' }), /\.xlsb.*save it as \.xlsx or \.csv/],
    ['an OpenDocument file', () => makeArchive({ 'META-INF/manifest.xml': 'x', 'content.xml': 'x' }), /OpenDocument/],
    ['an archive', () => makeArchive({ 'people.csv': 'phone' }), /zip archive.*unpack it/],
    ['a file that is cut off', async () => (await makeWorkbook([])).slice(0, 300), /damaged: it is cut off/],
  ])('is refused in words: %s', async (_, make, said) => {
    await expect(requireWorkbook(await make())).rejects.toThrow(said);
  });
});
