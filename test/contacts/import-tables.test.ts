import { describe, expect, test } from 'vitest';
import { detectLayout } from '../../src/library/delimited-text/detect-layout.ts';
import { readTable } from '../../src/library/delimited-text/read-table.ts';
import { collect, readTableOf, readFixtureText } from './import-reading.ts';

describe('tables', () => {
  test.each([
    ['commas', 'a,b\n1,2\n', ','],
    ['semicolons, with commas in the numbers', 'name;price\nx;1,5\ny;2,50\n', ';'],
    ['semicolons, with more commas than semicolons', 'name;address\nx;"a, b, c"\ny;d, e, f, g\n', ';'],
    ['commas, with a quoted header that holds a semicolon', '"a;b;c",d\n1,2\n', ','],
    ['tabs', 'a\tb\n1,5\t2;3\n', '\t'],
    ['bars', 'a|b\n1|2', '|'],
    ['one column', 'phone\n+1;+2\n', ','],
    ['semicolons, below a title', 'Our customers, November 2026\n\nname;price\nx;1,5\ny;2,50\n', ';'],
    ['semicolons, with a quote that is never closed', 'name;price\n"x;1,5\ny;2,50\n', ';'],
    ['semicolons, below a title, with decimal commas and a wider row', 'Prices 2026\nItem;Price;Note\nPot;9,90\nPan;12,50;red\n', ';'],
    ['semicolons, with decimal commas and a wider row', 'Item;Price 2,5\nPot;9,90\nPan;12,50;red\n', ';'],
    ['semicolons, below a title with a comma', 'Prices,2026\nItem;Price;Note\nPot;9,90\nPan;12,50;red\nLid;1,10\n', ';'],
    ['tabs, below a title, with decimal commas and a wider row', 'Prices 2026\nItem\tPrice\tNote\nPot\t9,90\nPan\t12,50\tred\n', '\t'],
    [
      'semicolons, below two titles, with phones and decimals',
      'Kunden 2026\nStand: Mai\nName;Telefon;Umsatz\nAda;+49;1,5\nBob;+49;2,5;x\n',
      ';',
    ],
    ['commas, of nothing but numbers', '1,2\n3,4\n', ','],
    ['commas, below a title, with semicolons in the cells', 'Tags 2026\nname,tags\nAda,1;2\nBob,3;4\n', ','],
    ['commas, with lists in the cells', 'id,tags\n1,2 red;blue\n2,3 red;blue\n', ','],
    ['prose with one semicolon', 'question\nyes\nno; never\nperhaps\n', ','],
    ['a quoted line break before the delimiter', '"a\nb";c\n"1,\n2";3\n', ';'],
    ['rows shorter and longer than the header', 'a,b,c;d\n1,2\n1,2,3,4,5\n', ','],
    ['nothing', '', ','],
  ])('the delimiter is found by looking: %s', (_, text, delimiter) => {
    expect(detectLayout(text, true).delimiter).toBe(delimiter);
  });

  test('a first line that names the delimiter is taken at its word, and counts as a row', async () => {
    const { headers, rows } = await readTableOf('sep=;\r\nname,x;price\r\nAnn;1,5\r\n');
    expect(headers).toEqual(['name,x', 'price']);
    expect(rows).toEqual([{ row_number: 1, file_row: 3, cells: ['Ann', '1,5'] }]);
  });

  test('line ends may be mixed', async () => {
    const { rows } = await readTableOf('a,b\r\n1,2\n3,4\r5,6');
    expect(rows.map(({ cells }) => cells)).toEqual([
      ['1', '2'],
      ['3', '4'],
      ['5', '6'],
    ]);
  });

  test('a quote inside a cell is a quote', async () => {
    const { rows } = await readTableOf('a,b\n5" pipe,"say ""hi"""\n1, "x, y"\n');
    expect(rows.map(({ cells }) => cells)).toEqual([
      ['5" pipe', 'say "hi"'],
      ['1', 'x, y'],
    ]);
  });

  test('a row without end and a header without end are refused, not held', async () => {
    await expect(readTableOf(`a,b\n1,2\n3,"${'x'.repeat(2 << 20)}"\n`)).rejects.toThrow(/^Row 3 is longer than 1 MiB/);
    await expect(readTableOf(`a${','.repeat(100_000)}\n1\n`)).rejects.toThrow(/^The file has 100001 columns/);
  });

  test('a reader that does not want the rest releases the text', async () => {
    let [given, isOver] = [0, false];
    async function* pieces() {
      try {
        for (yield 'phone,name\n'; ; given += 1) yield `+12123456001,${'Ann '.repeat(1000)}\n`;
      } finally {
        isOver = true;
      }
    }
    const table = await readTable(pieces());
    expect(table.sample.length).toBe(1000);
    await table.close();
    expect(isOver).toBe(true);
    expect(given).toBeLessThan(1200);
  });

  test('headers are made unique and never blank', async () => {
    expect((await readTableOf('Name,name,,Name_2, ,NAME\n1\n')).headers).toEqual([
      'Name',
      'name_2',
      'column_3',
      'Name_2_2',
      'column_5',
      'NAME_3',
    ]);
  });

  test('a text in pieces is the same table as the whole, wherever it is cut', async () => {
    const text = await readFixtureText('excel-semicolon-windows-1252.csv');
    async function* inPieces() {
      for (const character of text) yield character;
    }
    const table = await readTable(inPieces());
    expect({ headers: table.headers, delimiter: table.delimiter, rows: await collect(table.rows) }).toEqual(await readTableOf(text));
  });

  test('50,000 rows come in order, the sample first', async () => {
    const text = `phone,name\n${Array.from({ length: 50_000 }, (_, index) => `+1212345${1000 + (index % 9000)},Name ${index}\n`).join('')}`;
    const table = await readTable(text);
    expect(table.sample.length).toBe(1000);
    let last = 0;
    for await (const row of table.rows) {
      expect(row.row_number).toBe(last + 1);
      last = row.row_number;
    }
    expect(last).toBe(50_000);
  });
});
