/// <reference types="vite/client" />
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTable } from '../../src/library/delimited-text/read-table.ts';
import { sourceOf } from '../campaigns/source-reading.ts';
import { readContactsOf, readTableOf } from '../contacts/import-reading.ts';
import { makeWorkbook } from '../knowledge-base/parsing/make-archive.ts';
import { parseDocument } from '../../src/knowledge-base/parsing/parse-document.ts';

const files = import.meta.glob<string>('../fixtures/tables/*.csv', { query: '?raw', import: 'default', eager: true });
const fixture = (name: string) => files[`../fixtures/tables/${name}.csv`]!;
const rowsOf = async (text: string) => (await readTableOf(text)).rows.map(({ cells }) => cells);
const brokenRows = async (text: string) => (await readTableOf(text)).rows.flatMap((row) => (row.problem ? [row.file_row] : []));
const documentTexts = async (text: string) =>
  (await parseDocument(new TextEncoder().encode(text), 'a.csv')).blocks.map((block) => block.text);

describe('tables are as wide as their widest row', () => {
  test('a cell right of the last header has a column with the name of its place', async () => {
    const { headers, rows } = await readTableOf(fixture('row-wider-than-its-header'));
    expect(headers).toEqual(['Item', 'Price', 'column_3']);
    expect(rows.map(({ cells }) => cells)).toEqual([['Tea', '2.50', 'only on Mondays']]);
    expect(await documentTexts(fixture('row-wider-than-its-header'))).toEqual(['Item | Price\nTea | 2.50 | only on Mondays']);
  });

  test('a title above the header is no header, and its text is kept', async () => {
    const table = await readTable(fixture('table-wider-than-its-first-row'));
    expect([table.titles, table.headers]).toEqual([[['Hotel Alpha price list']], ['Item', 'Price', 'Note']]);
    expect(await documentTexts(fixture('table-wider-than-its-first-row'))).toEqual([
      'Hotel Alpha price list',
      'Item | Price | Note\nTea | 2.50 | only on Mondays\nCoffee | 3.00 | free refill',
    ]);
  });

  test('a workbook has its header below the title, too, and each cell of its widest row', async () => {
    const cell = (column: string, row: number, text: string) => `<c r="${column}${row}" t="inlineStr"><is><t>${text}</t></is></c>`;
    const rows = [['Price list'], ['Item', 'Price'], ['Tea', '2.50', 'only on Mondays'], ['Milk', '1.00']]
      .map((cells, row) => `<row r="${row + 1}">${cells.map((text, column) => cell('ABC'[column]!, row + 1, text)).join('')}</row>`)
      .join('');
    const { blocks } = await parseDocument(await makeWorkbook([{ name: 'Sheet1', rows }]), 'prices.xlsx');
    expect(blocks).toMatchObject([
      { text: 'Price list', header: null },
      { text: 'Item | Price\nTea | 2.50 | only on Mondays\nMilk | 1.00', header: 'Item | Price' },
    ]);
  });

  test.each([
    ['a title filled up with delimiters', 'Price list 2026,,\nItem,Price,Note\nTea,2.50,x\n', 'Item'],
    [
      'lines of names and values',
      'Report,Leads\nDate,2026-11-30\n\nName,Phone,City,Zip,Mail\nAnn,+1,Rome,1,a@b.c\nBob,+2,Bern,2,b@b.c\n',
      'Name',
    ],
    ['a header of one column above wider rows', 'phone\n+14155551003,Ann\n+14155551004,Bob\n', 'phone'],
    ['a header of one word above rows of words', 'name\nAnn,Smith\nBob,Jones\n', 'name'],
    ['a header shorter than the rows', 'a,b\n1,2,3,4\n1,2,3,4\n', 'a'],
    ['rows without names', 'Our numbers\n1,2\n3,4\n', 'Our numbers'],
  ])('the header is found: %s', async (_, text, first) => {
    expect((await readTable(text)).headers[0]).toBe(first);
  });

  test('a campaign has the cells without a header as variables, those beyond the sample, too', async () => {
    const lines = Array.from({ length: 1200 }, (_, index) => `+1415555${1000 + index},Ann${index === 1150 ? ',x,y' : ''}`);
    const { rows } = await sourceOf(`phone,name\n${lines.join('\n')}\n`);
    expect(rows[1150]!.variables).toEqual({ name: 'Ann', column_3: 'x', column_4: 'y' });
    expect(rows[1149]!.variables).toEqual({ name: 'Ann' });
  });

  test('a title that is a word for phones is a title where a wider row of names below is a header, too', async () => {
    const isHeader = (cells: string[]) => cells.some((cell) => /phone/i.test(cell));
    const headersOf = async (text: string) => (await readTable(text, { isHeader })).headers;
    expect(await headersOf('Phone numbers,\n\nName,Phone\nAnn,+12125550100\n')).toEqual(['Name', 'Phone']);
    expect(await headersOf('Phone numbers\nName,Phone\nAnn,+12125550100\n')).toEqual(['Name', 'Phone']);
    expect(await headersOf('Phone,\n+12125550100,by phone\n+12125550101,\n')).toEqual(['Phone', 'column_2']);
    expect(await headersOf('Phone\n+12125550100\n')).toEqual(['Phone']);
  });

  test('people and campaigns know their headers below titles', async () => {
    const text = 'Kundenliste\nMusterfirma\n\nName;Telefon\nAnn;+4930123456\nBob;+4930123457\n';
    expect((await sourceOf(text)).rows.map(({ row_number, phone }) => [row_number, phone])).toEqual([
      [1, '+4930123456'],
      [2, '+4930123457'],
    ]);
    expect((await sourceOf('Liste\nWer;Wohin\nAnn;+4930123456\n', { phone_column: 'wohin' })).rows[0]!.phone).toBe('+4930123456');
    expect((await readContactsOf(text)).all.map(({ file_row }) => file_row)).toEqual([5, 6]);
  });
});

describe('one broken quote is at most one bad row', () => {
  const people = [
    { phone: '+14155551003', first_name: 'Ann', custom_fields: { note: '5" pipe' } },
    { phone: '+14155551004', first_name: 'Bob', custom_fields: { note: 'fine' } },
  ];

  test('a quote in a quoted cell that is not doubled is read as it stands where the cells are clear', async () => {
    expect((await readContactsOf(fixture('misplaced-quote'))).contacts).toEqual(people);
    expect((await sourceOf(fixture('misplaced-quote'))).rows.map(({ state, variables }) => [state, variables['note']])).toEqual([
      ['pending', '5" pipe'],
      ['pending', 'fine'],
    ]);
    expect(await documentTexts(fixture('misplaced-quote'))).toEqual([
      'phone | first_name | note\n+14155551003 | Ann | 5" pipe\n+14155551004 | Bob | fine',
    ]);
  });

  test('quotes behind backslashes are read where they are the dialect of the file', async () => {
    expect(await rowsOf(fixture('backslash-quotes'))).toEqual([
      ['+14155551005', 'Ann', 'Said "hi" to me'],
      ['+14155551006', 'Bob', 'fine'],
    ]);
    expect(await rowsOf('a,b\n"ends with \\"","x"\n"C:\\\\dir \\"a\\", b",2\n"two\nlines \\"x\\"",3\n')).toEqual([
      ['ends with "', 'x'],
      ['C:\\dir "a", b', '2'],
      ['two\nlines "x"', '3'],
    ]);
    expect(await rowsOf('path,b\n"C:\\",1\n"D:\\dir\\",2\n')).toEqual([
      ['C:\\', '1'],
      ['D:\\dir\\', '2'],
    ]);
  });

  const unclosed = 'phone,name,note\n+14155551003,"Ann,x\n+14155551004,Bob,"says ""hi"", twice"\n+14155551005,Cy,"two\nlines"\n';

  test('a quote that is never closed is one bad row with its number, and the rows after it are read', async () => {
    expect(await rowsOf(unclosed)).toEqual([
      ['+14155551003', '"Ann', 'x'],
      ['+14155551004', 'Bob', 'says "hi", twice'],
      ['+14155551005', 'Cy', 'two\nlines'],
    ]);
    expect(await brokenRows(unclosed)).toEqual([2]);
    const { rows } = await sourceOf(unclosed);
    expect(rows.map(({ row_number, state }) => [row_number, state])).toEqual([
      [1, 'failed'],
      [2, 'pending'],
      [3, 'pending'],
    ]);
    expect(rows[0]).toMatchObject({
      phone: '+14155551003',
      reason: expect.stringMatching(/^broken_row: A cell of the row begins with a quote/),
    });
    expect((await readContactsOf(unclosed)).refused).toMatchObject([{ file_row: 2, reason: 'broken_row', phone: '+14155551003' }]);
    expect((await documentTexts(unclosed)).join('\n')).toContain('+14155551003 | "Ann | x\n+14155551004 | Bob');
  });

  test.each([
    ['in the header', 'a,"b\n1,2\n3,4\n', [], 2],
    ['in the last row', 'a,b\n1,2\n"3,4', [3], 2],
    ['in every row', `a,b\n${'"1,2\n'.repeat(500)}`, Array.from({ length: 500 }, (_, index) => index + 2), 500],
    ['with more cells than columns', 'a,b\n"x "y", z",2\n3,4\n', [2], 2],
    ['in two rows far apart', `a,b,c\n1,"2,3\n${'4,5,6\n'.repeat(900)}7,8",9\n1,2,3\n`, [2], 903],
    ['in more than a mebibyte', `a,b\n"1,2\n${'3,4\n'.repeat(400_000)}`, [2], 400_001],
  ])('%s', async (_, text, broken, count) => {
    const { rows } = await readTableOf(text);
    expect(rows.length).toBe(count);
    expect(rows.flatMap((row) => (row.problem ? [row.file_row] : []))).toEqual(broken);
  });

  test('a quoted cell may have many lines', async () => {
    const letter = 'Dear Ann,\nthank you, for your order,\n\nthe pipe, of 5", is on its way\nYours, Bob\n'.replace('"', '""');
    expect(await rowsOf(`id,text,city\n1,"${letter}",Rome\n2,x,Bern\n`)).toEqual([
      ['1', letter.trim().replace('""', '"'), 'Rome'],
      ['2', 'x', 'Bern'],
    ]);
  });

  test('a row of too many cells is a bad row, not a refused file', async () => {
    const { rows } = await sourceOf(`phone,name\n+14155551003${',x'.repeat(3000)}\n+14155551004,Bob\n`);
    expect(rows.map(({ state, reason }) => [state, reason])).toEqual([
      ['failed', 'broken_row: The row has 3001 cells, which is more than 2000'],
      ['pending', null],
    ]);
  });

  const piece = fc.constantFrom('"', '""', '\\"', ',', '\n', '\r\n', ' ', 'a', 'b1', "'");
  const garbled = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));

  test('any text is read to its end, wherever it is cut, and no letter is lost', async () => {
    await fc.assert(
      fc.asyncProperty(garbled, fc.integer({ min: 1, max: 9 }), async (text, size) => {
        const whole = `first,second\n${text}`;
        async function* inPieces() {
          for (let start = 0; start < whole.length; start += size) yield whole.slice(start, start + size);
        }
        const letters = (of: string) => of.match(/[ab1]/g) ?? [];
        const { rows } = await readTableOf(whole);
        expect(letters(rows.flatMap(({ cells }) => cells).join('\n'))).toEqual(letters(text));
        const again: unknown[] = [];
        for await (const row of (await readTable(inPieces())).rows) again.push(row);
        expect(again).toEqual(rows);
      }),
      { numRuns: 500 },
    );
  });

  const cell = fc.array(fc.constantFrom('"', ',', '\n', ';', 'x', ' y', '7', '\\ '), { maxLength: 6 }).map((pieces) => pieces.join(''));

  test('what is well written is read as the parser reads it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 12 }), async (rows) => {
        const written = rows.map((cells) => ['r', ...cells].map((text) => `"${text.replaceAll('"', '""')}"`).join(',')).join('\n');
        const text = `one,two,three,four\n${written}\n`;
        const parsed = (parse(text, { trim: true }) as string[][]).slice(1).map((cells) => cells.map((part) => part.trim()));
        const read = await rowsOf(text);
        expect(read.map((cells) => [...cells, '', '', ''].slice(0, 4))).toEqual(parsed);
      }),
      { numRuns: 300 },
    );
  });
});
