// @module-tag soak
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readTable } from '../../../src/library/delimited-text/read-table.ts';
import { BlockWriter } from '../../../src/knowledge-base/parsing/block-writer.ts';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { readTextItems } from '../../../src/knowledge-base/parsing/pdf/text-items.ts';
import { makePdf } from '../../knowledge-base/parsing/make-pdf.ts';
import { drawing, drawingWithBookmarks, drawingWithMeanings, formOf, someText } from '../../knowledge-base/parsing/make-raw-pdf.ts';
import { makeWord, makeWorkbook } from '../../knowledge-base/parsing/make-archive.ts';
import { fillWith } from './worst-cases.ts';

const textsOf = async (bytes: Uint8Array, name: string) => (await parseDocument(bytes, name)).blocks.map((block) => block.text);

describe('tables', () => {
  test('a row holds the cells that it has, however many headers there are', async () => {
    const { rows } = await readTable(`${fillWith('h,', 3000)}h\n1,2\n`);
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
    expect((await readTable('a,b\n\n\n"1,2\n')).sample).toMatchObject([{ file_row: 4, problem: expect.stringContaining('never closed') }]);
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
    const rows = `<row>${fillWith('<c t="s"><v>0</v></c>', 21 * 600)}</row>`;
    const bytes = await makeWorkbook([{ name: 'A', rows }], { texts: [`<t>${fillWith('ab ', 60_000)}</t>`] });
    await expect(parseDocument(bytes, 'a.xlsx')).rejects.toThrow('it holds more than 33 million characters of text');
  });
});

describe('Word documents', () => {
  const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

  test('what the library cannot be given at once is read as bare text', async () => {
    const runs = `<w:p>${fillWith('<w:r><w:t>a</w:t></w:r>', 23 * 40_000)}</w:p>`;
    expect(await textsOf(await makeWord(paragraph('before') + runs + paragraph('after')), 'a.docx')).toEqual([
      'before',
      'a'.repeat(40_000),
      'after',
    ]);
    const nested = '<w:tbl><w:tr><w:tc>'.repeat(100) + paragraph('deep') + '</w:tc></w:tr></w:tbl>'.repeat(100);
    expect(await textsOf(await makeWord(nested), 'a.docx')).toEqual(['deep']);
  });

  test('parts end where elements are many, and what is around them is opened again', async () => {
    const rows = Array.from(
      { length: 9000 },
      (_, index) => `<w:tr><w:tc>${paragraph(`r${index}`)}</w:tc><w:tc>${paragraph('b')}</w:tc></w:tr>`,
    );
    const texts = await textsOf(await makeWord(`<w:tbl>${rows.join('')}</w:tbl>${paragraph('after')}`), 'a.docx');
    expect(texts.join('\n').split('\n')).toEqual([...rows.map((_, index) => `r${index} | b`), 'after']);
  });
});

describe('Markdown', () => {
  test('a table and a list of any length stay what they are', async () => {
    const rows = Array.from({ length: 600 }, (_, index) => `| *r${index}* | [b](c) |`);
    const items = Array.from({ length: 600 }, (_, index) => `- *i${index}*`);
    const { blocks } = await parseDocument(
      new TextEncoder().encode(`| a | b |\n|---|---|\n${rows.join('\n')}\n\n${items.join('\n')}\n`),
      'a.md',
    );
    expect(blocks.filter(({ kind }) => kind === 'table').flatMap(({ text }) => text.split('\n'))).toHaveLength(601);
    expect(blocks.filter(({ kind }) => kind === 'list_item')).toHaveLength(600);
  });

  test('nothing of a line of very many signs is lost', async () => {
    const line = Array.from({ length: 2000 }, (_, index) => `\\*${index}`).join(' ');
    expect((await textsOf(new TextEncoder().encode(line), 'a.md')).join(' ').match(/\d+/g)).toEqual(line.match(/\d+/g));
  });
});

describe('PDFs', () => {
  const pdf = (text = 'a', times = 1) => makePdf(Array.from({ length: times }, () => [{ text, x: 50, y: 700 }]));
  /** With a stream before the end mark, which no page uses. */
  const withStream = (dictionary: string, packed: Uint8Array) => {
    const mark = new TextEncoder().encode(`9999 0 obj\n<< ${dictionary} >>\nstream\n`);
    const end = new TextEncoder().encode('\nendstream\nendobj\n');
    const whole = pdf();
    return Buffer.concat([whole.subarray(0, 9), mark, packed, end, whole.subarray(9)]);
  };

  test('with more pages than are read, it is refused', async () => {
    await expect(parseDocument(pdf('a', 5001), 'a.pdf')).rejects.toThrow(
      'The file is too large: it has 5001 pages, which is more than 5000;',
    );
  });

  test.each([
    ['/Filter [/FlateDecode /FlateDecode]', 'a stream in it is packed more than once'],
    ['/F#69lter [/Fl /LZW]', 'a stream in it is packed more than once'],
    ['/Filter [/AHx /A85 /AHx /Fl]', 'a stream in it has more than 3 filters'],
    ['/Filter 5 0 R', 'a stream in it names its filters elsewhere'],
  ])('a stream with %s is refused before it is unpacked', async (dictionary, reason) => {
    await expect(parseDocument(withStream(dictionary, new Uint8Array(8)), 'a.pdf')).rejects.toThrow(reason);
  });

  test('a stream that unpacks to more than a reader can hold is refused, and little of it is held meanwhile', async () => {
    const packed = deflateSync(new Uint8Array(200 << 20));
    const before = process.memoryUsage().rss;
    await expect(parseDocument(withStream('/Filter /FlateDecode', packed), 'a.pdf')).rejects.toThrow('takes more than 64 MiB unpacked');
    expect(process.memoryUsage().rss - before).toBeLessThan(150 << 20);
  });

  test('a page of more pieces than are put in order is refused with its number', async () => {
    const texts = Array.from({ length: 100_001 }, (_, index) => ({
      text: `${index}`,
      x: 50 + (index % 7) * 80,
      y: 700 - (index % 50) * 12,
    }));
    await expect(parseDocument(makePdf([texts]), 'a.pdf')).rejects.toThrow('its page 1 holds more than 100000 pieces of text');
  });

  const knownAs = '/XObject << /X 6 0 R >>';
  const doubling = (count: number) =>
    Array.from({ length: count }, (_, index) => formOf(`${someText} /X Do /X Do`, index + 1 < count ? 7 + index : undefined));

  test.each([
    ['states saved in each other', drawing(`${'q '.repeat(201)}${someText}`), 'its page 1 saves more than 200 graphics states'],
    [
      'states that one stream saves again and again',
      drawing(`q ${someText}`, '', [], `/Contents [${'4 0 R '.repeat(201)}]`),
      'its page 1 saves more than 200 graphics states',
    ],
    [
      'states that a form saves',
      drawing(`q ${someText} /X Do`, knownAs, [formOf(`${'q '.repeat(200)}${someText}`)]),
      'its page 1 saves more than 200 graphics states',
    ],
    [
      'forms that draw each other twice',
      drawing(`${someText} /X Do`, knownAs, doubling(30)),
      'its pages draw more than 256 MiB of commands',
    ],
    [
      'forms that draw each other in a circle',
      drawing(`${someText} /X Do`, knownAs, [formOf(`${someText} /X Do`, 6)]),
      'forms in it draw each other more than 50 deep',
    ],
    [
      'a form with text drawn again and again',
      drawing(`${'/X Do '.repeat(2100)}${someText}`, knownAs, [formOf(someText)]),
      'its pages draw more than 200 times the commands that the file has bytes',
    ],
    ['a predictor', drawing(['/Filter /FlateDecode /DecodeParms << /Predictor 12 >>', deflateSync(someText)]), 'packed with a predictor'],
    [
      'wide ranges in a font',
      drawingWithMeanings('1 beginbfrange <0000> <FFFF> <0000> endbfrange\n'.repeat(33)),
      'a table of its fonts stands for more than 2097152 characters',
    ],
    [
      'a range with a long meaning',
      drawingWithMeanings(`1 beginbfrange <0000> <FFFF> <${'0041'.repeat(40)}> endbfrange`),
      'a table of its fonts stands for more than 2097152 characters',
    ],
    ['wide ranges of widths', drawingWithMeanings('', '[0 100000000 500]'), 'a table of its fonts stands for more than 2097152 characters'],
    [
      'wide ranges in very many fonts',
      drawingWithMeanings('1 beginbfrange <0000> <FFFF> <0000> endbfrange\n'.repeat(30), '[]', 60),
      'the tables of its fonts stand for too many characters',
    ],
  ])('with %s, it is refused', async (_what, bytes, reason) => {
    await expect(parseDocument(bytes, 'a.pdf')).rejects.toThrow(reason);
  });

  test.each([
    ['saved and restored states', drawing(`${'q Q '.repeat(5000)}${'q '.repeat(200)}${someText}${' Q'.repeat(200)}`)],
    ['very many markers', drawing(`${someText} ${'/X Do '.repeat(50_000)}`, knownAs, [formOf('0 0 m 1 1 l S')])],
    ['a form in many forms', drawing(`${someText} /X Do`, knownAs, doubling(8))],
    ['hexadecimal digits', drawing(['/Filter /ASCIIHexDecode', `${Buffer.from(someText).toString('hex')}>`])],
    ['bookmarks that lie deep in each other', drawingWithBookmarks(5000)],
  ])('with %s, it is read', async (_what, bytes) => {
    expect(await textsOf(bytes, 'a.pdf')).toEqual(['hello']);
  });

  test('a page whose text comes in more chunks than pages of forms have is refused with its number', async () => {
    const pageOf = (count: number) => {
      let left = count;
      const chunks = new ReadableStream({
        pull(controller) {
          if (left === 0) controller.close();
          else controller.enqueue({ items: [], styles: {} });
          left -= 1;
        },
      });
      return { pageNumber: 7, streamTextContent: () => chunks };
    };
    const unmarked = { texts: [], structured: new Map<string, number>(), layers: { isHidden: () => false } };
    expect(await readTextItems(pageOf(10_000), unmarked)).toMatchObject({ items: [] });
    await expect(readTextItems(pageOf(10_001), unmarked)).rejects.toThrow('its page 7 draws text in more than 10000 chunks');
  });

  test('a font may name all its signs', async () => {
    const bytes = drawingWithMeanings('1 beginbfrange <0000> <FFFF> <0000> endbfrange', '[0 [500 600] 2 65535 500]');
    expect(await textsOf(bytes, 'a.pdf')).toEqual(['hello', 'A']);
  });

  test('bookmarks that lie in each other tell the levels', async () => {
    const { blocks } = await parseDocument(drawingWithBookmarks(3), 'a.pdf');
    expect(blocks).toMatchObject([{ kind: 'heading', level: 3, text: 'hello' }]);
  });

  test('a stream of repetitions that unpacks to more than a reader can hold is refused', async () => {
    const runs = new Uint8Array(1_100_000).fill(0x81);
    await expect(parseDocument(withStream('/Filter /RunLengthDecode', runs), 'a.pdf')).rejects.toThrow('takes more than 64 MiB unpacked');
  });
});
