import { describe, expect, test } from 'vitest';
import { readTable } from '../../../src/contacts/spreadsheets/read-table.ts';
import { BlockWriter } from '../../../src/knowledge-base/parsing/block-writer.ts';
import { parse } from '../../../src/knowledge-base/parsing/parse.ts';
import { makeWorkbook } from '../../knowledge-base/parsing/make-archive.ts';
import { filled } from './worst-cases.ts';

const textsOf = async (bytes: Uint8Array, name: string) => (await parse(bytes, name)).blocks.map((block) => block.text);

describe('tables', () => {
  test('a row holds the cells that it has, however many headers there are', async () => {
    const { rows } = await readTable(`${filled('h,', 3000)}h\n1,2\n`);
    for await (const { cells } of rows) expect(cells).toEqual(['1', '2']);
  });

  test('blank lines are counted as a spreadsheet program counts them', async () => {
    const { rows } = await readTable('\n\na,b\n\n\n1,2\n,\n\n3,4\n');
    const places: unknown[] = [];
    for await (const { row_number, file_row } of rows) places.push([row_number, file_row]);
    expect(places).toEqual([
      [1, 6],
      [2, 9],
    ]);
    await expect(readTable('a,b\n\n\n"1,2\n')).rejects.toThrow('A cell in row 4 begins with a quote');
  });

  test('more rows or cells than a document may hold are refused, with the limit that they meet', () => {
    const rows = new BlockWriter();
    for (let row = 0; row < 1_000_000; row += 1) rows.row([]);
    expect(() => rows.row([])).toThrow('The file is too large: it holds more than 1000000 rows of tables; split it into smaller files');
    const cells = new BlockWriter();
    const row = Array.from({ length: 10_000 }, () => '');
    for (let count = 0; count < 1000; count += 1) cells.row(row);
    expect(() => cells.row(row)).toThrow('it holds more than 10000000 cells of tables');
  });
});

describe('workbooks', () => {
  test('of a wide gap a part is kept, of a narrow one all of it', async () => {
    const rows = '<row><c r="A1"><v>1</v></c><c r="C1"><v>2</v></c><c r="XFD1"><v>3</v></c></row>';
    expect(await textsOf(await makeWorkbook([{ name: 'A', rows }]), 'a.xlsx')).toEqual(['A', `1 |  | 2 | ${' | '.repeat(20)}3`]);
  });

  test('a number format longer than a workbook can have is none', async () => {
    const rows = '<row><c r="A1" s="1"><v>1.5</v></c><c r="B1" s="2"><v>1.5</v></c></row>';
    const bytes = await makeWorkbook([{ name: 'A', rows }], { formats: [`0.${'0'.repeat(300)}`, '0.00'] });
    expect(await textsOf(bytes, 'a.xlsx')).toEqual(['A', '1.5 | 1.50']);
  });

  test('a long text that many cells show is counted as often as it is shown', async () => {
    const rows = `<row>${filled('<c t="s"><v>0</v></c>', 21 * 600)}</row>`;
    const bytes = await makeWorkbook([{ name: 'A', rows }], { texts: [`<t>${filled('ab ', 60_000)}</t>`] });
    await expect(parse(bytes, 'a.xlsx')).rejects.toThrow('it holds more than 33 million characters of text');
  });
});
