import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRange } from '../../simulators/google-sheets/ranges.ts';
import { sheet } from '../../src/providers/apps/sheet.ts';
import { parseSheetUrl, sheetUrl } from '../../src/providers/apps/sheet-address.ts';
import { cellRange, columnLetters, firstRowOf, rowRange } from '../../src/providers/apps/sheet-ranges.ts';
import { fakeConnection, startWorld, success } from './broker-world.ts';

const leads = 'simulated-leads';
const messy = 'simulated-messy';

async function start(more: { scopes?: string } = {}) {
  const world = await startWorld();
  const connection = await world.connect('sheet', more);
  const at = (path: string, method: string, body: object) => world.at(`/googlesheets${path}`, { method, body: JSON.stringify(body) });
  return { ...world, connection, at, ...sheet(connection) };
}

describe('search', () => {
  test('lists spreadsheets, the newest first, without those that are deleted', async () => {
    const { search } = await start();
    expect(await search({ query: '' })).toEqual({
      files: [
        { id: leads, name: 'Leads', url: `${sheetUrl(leads)}?usp=drivesdk`, modifiedAt: '2026-11-02T09:00:00.000Z', isTrashed: false },
        { id: messy, name: 'Messy', url: `${sheetUrl(messy)}?usp=drivesdk`, modifiedAt: '2026-11-01T09:00:00.000Z', isTrashed: false },
      ],
      nextPageToken: null,
    });
  });

  test('goes on from page to page', async () => {
    const { search } = await start();
    const first = await success(search({ query: '', pageSize: 1 }));
    const second = await success(search({ query: '', pageSize: 1, pageToken: first.nextPageToken! }));
    expect([first.files[0]!.name, second.files[0]!.name, second.nextPageToken]).toEqual(['Leads', 'Messy', null]);
    expect(await search({ query: '', pageToken: 'nonsense' })).toMatchObject({ failure: 'rejected' });
  });

  test('finds parts of names, with quotes and backslashes as they are, and what is in the bin no more', async () => {
    const { search, at } = await start();
    const namesOf = async (query: string) => (await success(search({ query }))).files.map(({ name }) => name);
    expect(await namesOf('lea')).toEqual(['Leads']);
    expect(await namesOf("' or trashed=true")).toEqual([]);
    await at(`/drive/v3/files/${messy}`, 'PATCH', { name: String.raw`Ada's \ list and name` });
    expect(await namesOf(String.raw`a's \ li`)).toEqual([String.raw`Ada's \ list and name`]);
    await at(`/drive/v3/files/${messy}`, 'PATCH', { trashed: true });
    expect(await namesOf('')).toEqual(['Leads']);
  });

  test('needs a scope of Drive, without which the sheets themselves can be read', async () => {
    const { search, tabs } = await start({ scopes: 'https://www.googleapis.com/auth/spreadsheets' });
    expect(await search({ query: '' })).toEqual({
      failure: 'insufficient_permissions',
      code: 'insufficientPermissions',
      message: 'Request had insufficient authentication scopes.',
    });
    expect(await success(tabs(leads))).toMatchObject({ title: 'Leads' });
  });
});

describe('a file', () => {
  test('in the bin can still be read, so the bin is asked about', async () => {
    const { file, headers, at } = await start();
    await at(`/drive/v3/files/${leads}`, 'PATCH', { trashed: true });
    expect(await file(leads)).toMatchObject({ file: { isTrashed: true, name: 'Leads' } });
    expect(await success(headers(leads, 'Leads'))).toMatchObject({ headers: expect.any(Array) });
  });

  test('that is deleted is reported in the words of the provider, by every call', async () => {
    const { tabs, headers, readRows, appendRows, updateCells, file } = await start();
    const gone = { failure: 'rejected', message: 'sheet: Requested entity was not found.', code: 'NOT_FOUND' };
    const part = { spreadsheetId: 'deleted', tab: 'Leads' };
    expect(await tabs('deleted')).toEqual(gone);
    expect(await headers('deleted', 'Leads')).toEqual(gone);
    expect(await readRows({ ...part, fromRow: 2, rows: 10, columns: 3 })).toEqual(gone);
    expect(await appendRows({ ...part, rows: [['a']] })).toEqual(gone);
    expect(await updateCells({ ...part, cells: [{ row: 1, column: 0, value: 'a' }] })).toEqual(gone);
    expect(await file('deleted')).toMatchObject({ failure: 'rejected', code: 'notFound' });
  });

  test('of another kind is refused', async () => {
    const { tabs } = await start();
    expect(await tabs('workbook')).toMatchObject({
      failure: 'rejected',
      message: 'sheet: This operation is not supported for this document',
    });
  });

  test('to which access was lost is no matter of scopes', async () => {
    const { tabs, plan } = await start();
    const body = { error: { code: 403, message: 'The caller does not have permission', status: 'PERMISSION_DENIED' } };
    await plan({ provider: 'googlesheets', status: 403, body });
    expect(await tabs(leads)).toEqual({
      failure: 'rejected',
      code: 'PERMISSION_DENIED',
      message: 'sheet: The caller does not have permission',
    });
  });
});

describe('tabs and headers', () => {
  test('come in their order, whatever stands in their names', async () => {
    const { tabs, headers } = await start();
    expect(await tabs(leads)).toEqual({
      title: 'Leads',
      tabs: [
        { id: 0, title: 'Leads', rows: 1000, columns: 26 },
        { id: 7, title: "Last year's", rows: 1000, columns: 26 },
      ],
    });
    expect(await headers(leads, 'Leads')).toEqual({ headers: ['Full Name', 'Mobile No.', 'E-mail', 'Company', 'City'] });
    expect(await headers(leads, "Last year's")).toEqual({ headers: [] });
    expect(await headers(messy, 'Sheet 1')).toEqual({ headers: ['Name', 'Phone', 'Name', '', 'Notes'] });
    expect(await headers(messy, 'Sheet 1', 3)).toEqual({ headers: ['Grace', '+19172005001', 'Hopper'] });
  });

  test('of a tab that was renamed are refused by its name', async () => {
    const { headers, at } = await start();
    const rename = { updateSheetProperties: { properties: { sheetId: 0, title: 'Prospects' }, fields: 'title' } };
    await at(`/v4/spreadsheets/${leads}:batchUpdate`, 'POST', { requests: [rename] });
    expect(await headers(leads, 'Leads')).toEqual({
      failure: 'rejected',
      code: 'INVALID_ARGUMENT',
      message: "sheet: Unable to parse range: 'Leads'!1:1",
    });
    expect(await success(headers(leads, 'Prospects'))).toMatchObject({ headers: { length: 5 } });
  });

  test('leave out a tab that has no grid, such as a chart', async () => {
    const { connection } = fakeConnection(() => ({
      data: {
        properties: { title: 'T' },
        sheets: [
          { properties: { sheetId: 2, title: 'B', index: 2, gridProperties: { rowCount: 5, columnCount: 2 } } },
          { properties: { sheetId: 1, title: 'Chart', index: 1, sheetType: 'OBJECT' } },
          { properties: { sheetId: 0, title: 'A', index: 0, gridProperties: { rowCount: 5, columnCount: 2 } } },
        ],
      },
    }));
    const { tabs } = await success(sheet(connection).tabs('1'));
    expect(tabs.map(({ title }) => title)).toEqual(['A', 'B']);
  });
});

describe('rows', () => {
  test('come part by part, and none beyond the last one or the grid', async () => {
    const { readRows } = await start();
    const part = { spreadsheetId: leads, tab: 'Leads', columns: 5 };
    const rowsFrom = async (fromRow: number, rows: number) => (await success(readRows({ ...part, fromRow, rows }))).rows;
    expect((await rowsFrom(2, 1))[0]).toEqual([
      'Amara Adeyemi',
      '+19172000100',
      'amara.adeyemi.0@leads.example.com',
      'Northwind',
      'Lisbon',
    ]);
    expect(await rowsFrom(2, 100)).toHaveLength(100);
    expect(await rowsFrom(102, 100)).toHaveLength(20);
    expect(await rowsFrom(122, 100)).toEqual([]);
    expect(await rowsFrom(2_000, 100)).toEqual([]);
    expect(await success(readRows({ ...part, tab: "Last year's", fromRow: 1, rows: 10 }))).toEqual({ headers: [], rows: [] });
  });

  test('are as ragged as they are; numbers of a plain column keep all digits, and text stays as it is', async () => {
    const { readRows } = await start();
    const part = { spreadsheetId: messy, tab: 'Sheet 1', fromRow: 2, rows: 50, columns: 5 };
    const shown = await success(readRows(part));
    expect(shown.rows[0]).toEqual(['Ada', '9.19877E+11', 'Lovelace', 'x', 'calls back']);
    const { rows } = await success(readRows({ ...part, plainColumns: [1] }));
    expect(rows).toEqual([
      ['Ada', '919876543210', 'Lovelace', 'x', 'calls back'],
      ['Grace', '+19172005001', 'Hopper'],
      ['Edsger'],
      [],
      ['', '19172005002'],
      ['Alan', ' (917) 200-5003 ', 'Turing', '', '=1+1'],
      ['Barbara', 'n/a', 'Liskov', 'TRUE'],
    ]);
  });

  describe('of which some are read as they are stored', () => {
    const part = { spreadsheetId: '1', tab: 'T', fromRow: 2, rows: 2, columns: 2, plainColumns: [1] };
    const shown = (...rows: string[][]) => ({ data: { valueRanges: [{ values: [['Name', 'Phone']] }, { values: rows }] } });
    const stored = (...cells: (string | number)[]) => ({ data: { valueRanges: [{ values: cells.map((cell) => [cell]) }] } });
    const movedIn = (reading: number) => [shown(['Ada', `+${reading}`]), stored(`+${reading + 10}`)];
    const answering = (answers: { data: object }[]) => fakeConnection(() => answers.shift()!);

    test('are read again when a row was moved in between', async () => {
      const [one, two] = [shown(['Ada', '+1'], ['Bob', '+2']), shown(['Bob', '+2'])];
      const { connection, asked } = answering([one, stored('+2'), two, stored('+2')]);
      expect(await sheet(connection).readRows(part)).toEqual({ headers: ['Name', 'Phone'], rows: [['Bob', '+2']] });
      expect(asked).toHaveLength(4);
    });

    test('are not given while they keep being moved', async () => {
      const { connection, waits } = answering([1, 2, 3, 4, 5, 6].flatMap(movedIn));
      expect(await sheet(connection).readRows(part)).toMatchObject({ failure: 'unavailable' });
      expect(waits).toEqual([125, 250, 500, 1_000]);
    });

    test('are given after a pause when others append a lot', async () => {
      const { connection, waits } = answering([...[1, 2, 3, 4].flatMap(movedIn), shown(['Ada', '+1']), stored('+1')]);
      expect(await sheet(connection).readRows(part)).toMatchObject({ rows: [['Ada', '+1']] });
      expect(waits).toEqual([125, 250, 500]);
    });

    test('are given when they only look different', async () => {
      const answers = [1, 2].flatMap(() => [shown(['Ada', 'Tel. +1']), stored('+1')]);
      expect(await sheet(answering(answers).connection).readRows(part)).toMatchObject({ rows: [['Ada', '+1']] });
    });

    test('come with the headers of the same moment, also where the grid ends above them', async () => {
      const { readRows } = await start();
      const rows = { spreadsheetId: leads, tab: 'Leads', rows: 10, columns: 5, plainColumns: [1] };
      const headers = ['Full Name', 'Mobile No.', 'E-mail', 'Company', 'City'];
      expect(await success(readRows({ ...rows, fromRow: 2 }))).toMatchObject({ headers });
      expect(await success(readRows({ ...rows, fromRow: 2_000 }))).toEqual({ headers, rows: [] });
    });
  });

  test('are read range by range where the ranges do not all arrive, and given once two readings are alike', async () => {
    const cells: Record<string, unknown[][]> = { A: [['Name', 'Phone']], B: [['Ada', '+1']] };
    const { connection, asked } = fakeConnection(({ url, query }) => {
      // As a proxy does that keeps one of two parameters of a name.
      if (url.endsWith(':batchGet'))
        return {
          data: {
            valueRanges: [query!['ranges']!]
              .flat()
              .slice(-1)
              .map(() => ({ values: cells['B'] })),
          },
        };
      return { data: { values: decodeURIComponent(url).endsWith('1:1') ? cells['A'] : cells['B'] } };
    });
    const part = { spreadsheetId: 's', tab: 'Leads', fromRow: 2, rows: 1, columns: 2 };
    expect(await sheet(connection).readRows(part)).toEqual({ headers: ['Name', 'Phone'], rows: [['Ada', '+1']] });
    expect(asked).toHaveLength(6);
  });

  test('come in one request where all ranges arrive', async () => {
    const { connection, asked } = fakeConnection(() => ({ data: { valueRanges: [{ values: [['Name']] }, { values: [['Ada']] }] } }));
    const part = { spreadsheetId: 's', tab: 'Leads', fromRow: 2, rows: 1, columns: 1 };
    expect(await sheet(connection).readRows(part)).toEqual({ headers: ['Name'], rows: [['Ada']] });
    expect(asked).toHaveLength(1);
  });

  test('whose answer makes no sense are unavailable', async () => {
    const { connection, asked } = fakeConnection(() => ({ data: { valueRanges: [{ values: 'x' }] } }));
    expect(await sheet(connection).readRows({ spreadsheetId: '1', tab: 'T', fromRow: 1, rows: 1, columns: 1 })).toMatchObject({
      failure: 'unavailable',
    });
    expect(asked).toHaveLength(3);
  });

  test('are added below the last one, as text', async () => {
    const { appendRows, readRows } = await start();
    const row = ['=HYPERLINK("https://evil.test")', '+14155552671', '-1', '', 'München'];
    expect(await appendRows({ spreadsheetId: leads, tab: 'Leads', rows: [row, ['second']] })).toEqual({ row: 122 });
    const part = { spreadsheetId: leads, tab: 'Leads', fromRow: 122, rows: 5, columns: 5 };
    expect(await success(readRows({ ...part, plainColumns: [1] }))).toMatchObject({ rows: [row, ['second']] });
    expect(await appendRows({ spreadsheetId: leads, tab: "Last year's", rows: [['first']] })).toEqual({ row: 1 });
  });

  test('are added to the table below a title, not to that of the title', async () => {
    const { appendRows, received } = await start();
    await success(appendRows({ spreadsheetId: leads, tab: 'Leads', headerRow: 3, rows: [['below']] }));
    expect(decodeURIComponent((await received('googlesheets')).at(-1)!.path)).toContain("'Leads'!A3:append");
  });

  test('are never added twice, and an unknown outcome is said to be one', async () => {
    const { appendRows, plan, received } = await start();
    await plan({ provider: 'googlesheets', match: { method: 'POST' }, drop_response: true });
    expect(await appendRows({ spreadsheetId: leads, tab: 'Leads', rows: [['once']] })).toMatchObject({
      failure: 'unavailable',
      outcomeUnknown: true,
    });
    expect(await received('googlesheets')).toHaveLength(1);
  });

  test('are changed cell by cell, and the same change twice is once', async () => {
    const { updateCells, readRows, plan } = await start();
    await plan({ provider: 'googlesheets', match: { method: 'POST' }, drop_response: true });
    const cells = [
      { row: 2, column: 1, value: '+14155552671' },
      { row: 2, column: 4, value: '=1' },
    ];
    expect(await updateCells({ spreadsheetId: leads, tab: 'Leads', cells })).toEqual({ updated: 2 });
    const { rows } = await success(readRows({ spreadsheetId: leads, tab: 'Leads', fromRow: 2, rows: 1, columns: 5 }));
    expect([rows[0]![1], rows[0]![4]]).toEqual(['+14155552671', '=1']);
  });

  test('cannot be written with a scope that only reads', async () => {
    const { appendRows, headers } = await start({ scopes: 'https://www.googleapis.com/auth/spreadsheets.readonly' });
    expect(await success(headers(leads, 'Leads'))).toMatchObject({ headers: { length: 5 } });
    expect(await appendRows({ spreadsheetId: leads, tab: 'Leads', rows: [['a']] })).toMatchObject({ failure: 'insufficient_permissions' });
  });
});

describe('an address', () => {
  test.each([
    ['https://docs.google.com/spreadsheets/d/1AbC-d_9xyz/edit#gid=123', { spreadsheetId: '1AbC-d_9xyz', tabId: 123 }],
    ['https://docs.google.com/spreadsheets/d/1AbC-d_9xyz/edit?gid=5#gid=5', { spreadsheetId: '1AbC-d_9xyz', tabId: 5 }],
    ['https://docs.google.com/spreadsheets/d/1AbC-d_9xyz/edit?gid=0', { spreadsheetId: '1AbC-d_9xyz', tabId: 0 }],
    ['https://docs.google.com/spreadsheets/u/1/d/1AbC-d_9xyz', { spreadsheetId: '1AbC-d_9xyz' }],
    ['  https://docs.google.com/spreadsheets/d/deleted/edit ', { spreadsheetId: 'deleted' }],
    [sheetUrl('1AbC-d_9xyz'), { spreadsheetId: '1AbC-d_9xyz' }],
    ['https://docs.google.com/spreadsheets/d/e/2PACX-1vR/pubhtml', null],
    ['https://docs.google.com/document/d/1AbC-d_9xyz/edit', null],
    ['https://evil.test/spreadsheets/d/1AbC-d_9xyz/edit', null],
    ['https://docs.google.com/spreadsheets/d/..%2f..%2fdrive/edit', null],
    ['1AbC-d_9xyz', null],
    ['', null],
  ])('%s is read as %j', (text, expected) => {
    expect(parseSheetUrl(text)).toEqual(expected);
  });
});

describe('a range', () => {
  test('names exactly its cells, whatever the tab is called', () => {
    const title = fc.string({ minLength: 1, maxLength: 20, unit: fc.constantFrom('a', 'B', '1', "'", '!', ' ', ':', 'ü', '"', '$') });
    fc.assert(
      fc.property(title, fc.nat(700), fc.nat(300), fc.nat(700), fc.nat(300), (name, row, column, moreRows, moreColumns) => {
        const tabs = ['other', name].map((text, id) => ({ id, title: text, rowCount: 5_000, columnCount: 2_000, cells: [] }));
        const [from, to] = [
          { row: row + 1, column },
          { row: row + 1 + moreRows, column: column + moreColumns },
        ];
        const read = parseRange(cellRange(name, from, to), tabs);
        expect([read.tab.title, read.firstRow, read.firstColumn, read.lastRow, read.lastColumn]).toEqual([
          name,
          from.row,
          from.column,
          to.row,
          to.column,
        ]);
        expect(parseRange(rowRange(name, row + 1), tabs)).toMatchObject({
          firstRow: row + 1,
          lastRow: row + 1,
          firstColumn: 0,
          lastColumn: 1999,
        });
      }),
    );
  });

  test('has letters as a spreadsheet has them', () => {
    expect([0, 25, 26, 51, 52, 701, 702, 18_277].map(columnLetters)).toEqual(['A', 'Z', 'AA', 'AZ', 'BA', 'ZZ', 'AAA', 'ZZZ']);
  });

  test('begins at its first row, also where the name of the tab holds digits', () => {
    expect(['Leads!A122:E122', "'2026!A5'!B7", 'Leads!A1', "'x'!12:12", 'nonsense'].map(firstRowOf)).toEqual([122, 7, 1, 12, undefined]);
  });
});
