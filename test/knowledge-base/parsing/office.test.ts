import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { failureOf, outlineOf } from '../document-support.ts';
import { makePresentation, makeWord, makeWorkbook, shapeOf, slideOf, wordParagraph } from './make-archive.ts';

const cell = (reference: string, value: number | string, more = '') => `<c r="${reference}" ${more}><v>${value}</v></c>`;

test('a workbook shows dates, prices and shares as the program shows them', async () => {
  const rows =
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>Share</t></is></c><c r="D1" t="str"><v>Open</v></c></row>' +
    `<row r="2">${cell('A2', 45_366, 's="1"')}${cell('B2', 1249.5, 's="2"')}${cell('C2', 0.125, 's="3"')}${cell('D2', 1, 't="b"')}</row>` +
    `<row r="3">${cell('A3', 45_367, 's="1"')}${cell('B3', 0.1 + 0.2)}${cell('D3', '#N/A', 't="e"')}</row>`;
  const bytes = await makeWorkbook([{ name: 'Sheet1', rows }], {
    texts: ['<t>Day</t><rPh><t>spoken</t></rPh>', '<r><t>Pri</t></r><r><t>ce</t></r>'],
    formats: ['yyyy-mm-dd', '[$€-407] #,##0.00', '0.0%'],
  });
  expect(outlineOf(await parseDocument(bytes, 'prices.xlsx'))).toEqual([
    '| Day | Price | Share | Open',
    '| 2024-03-15 | € 1.249,50 | 12.5% | TRUE',
    '| 2024-03-16 | 0.3',
  ]);
});

test('a workbook that counts from 1904 shows the same days', async () => {
  const bytes = await makeWorkbook([{ name: 'Days', rows: `<row>${cell('A1', 45_366 - 1462, 's="1"')}${cell('B1', 7)}</row>` }], {
    formats: ['yyyy-mm-dd'],
    from1904: true,
  });
  expect(outlineOf(await parseDocument(bytes, 'days.xlsx'))).toEqual(['h1 Days', '| 2024-03-15 | 7']);
});

test.each([
  ['a phone number', '491761234567', '', '491761234567'],
  ['a product number', '4006381333931', '', '4006381333931'],
  ['a product number that the program wrote as a power', '4.006381333931E+12', '', '4006381333931'],
  ['a product number with the format that programs choose', '4006381333931', 's="1"', '4006381333931'],
  ['a card number longer than numbers are', '4539578763621486', '', '4539578763621486'],
  ['a tracking number', '12345678901234567890', '', '12345678901234567890'],
  ['a long amount', '491761234567.25', '', '491761234567.25'],
  ['a negative number', '-491761234567', '', '-491761234567'],
  ['a place on earth', '52.520006599988', '', '52.520006599988'],
  ['a sum', String(0.1 + 0.2), '', '0.3'],
  ['a measured value', '0.00012', 's="1"', '1.20E-04'],
  ['a tiny value', '1.5E-9', '', '1.5E-9'],
])('a workbook shows %s whole', async (_what, value, style, shown) => {
  const bytes = await makeWorkbook([{ name: 'Sheet1', rows: `<row r="1">${cell('A1', 1)}${cell('B1', value, style)}</row>` }], {
    formats: ['0.00E+00'],
  });
  expect(outlineOf(await parseDocument(bytes, 'numbers.xlsx'))).toEqual([`| 1 | ${shown}`]);
});

test('hidden rows, columns and sheets of a workbook are left out and counted, and so are errors', async () => {
  const rows =
    `<row r="1">${cell('A1', 1)}${cell('B1', 2)}${cell('C1', 3)}</row><row r="2" hidden="1">${cell('A2', 4)}${cell('C2', 5)}</row>` +
    `<row r="3">${cell('A3', 6)}${cell('B3', 7)}${cell('C3', '#N/A', 't="e"')}</row>`;
  const bytes = await makeWorkbook([
    { name: 'Sheet1', rows, columns: '<col min="2" max="2" hidden="1"/>' },
    { name: 'Sheet2', rows, state: 'veryHidden' },
  ]);
  const document = await parseDocument(bytes, 'hidden.xlsx');
  expect(outlineOf(document)).toEqual(['| 1 |  | 3', '| 6']);
  expect(document.warnings.map(({ code, count }) => [code, count])).toEqual([
    ['hidden_left_out', 5],
    ['errors_left_out', 1],
  ]);
});

test('every visible sheet is a section; blank rows part tables; hidden sheets are left out', async () => {
  const row = (number: number, ...cells: number[]) =>
    `<row r="${number}">${cells.map((value, index) => cell(`${'ABC'[index]}${number}`, value)).join('')}</row>`;
  const bytes = await makeWorkbook([
    { name: 'Berlin', rows: row(1, 1, 2) + row(4, 3, 4) },
    { name: 'Salaries', rows: row(1, 9, 9), state: 'hidden' },
    { name: 'Lisbon', rows: row(2, 5) },
  ]);
  const document = await parseDocument(bytes, 'cities.xlsx');
  expect(outlineOf(document)).toEqual(['h1 Berlin', '| 1 | 2', '| 3 | 4', 'h1 Lisbon', '| 5']);
  expect(document.blocks.filter((block) => block.kind === 'table')).toHaveLength(3);
});

test('cells stand below their column, and a stray one far away brings no thousand separators', async () => {
  const bytes = await makeWorkbook([{ name: 'A', rows: `<row r="1">${cell('B1', 1)}${cell('D1', 2)}${cell('XFD1', 3)}</row>` }]);
  const [, row = ''] = outlineOf(await parseDocument(bytes, 'far.xlsx'));
  expect(row.startsWith('| | 1 |  | 2 | ')).toBe(true);
  expect(row.endsWith(' | 3')).toBe(true);
  expect(row.length).toBeLessThan(100);
});

test('slides come in the order of the presentation, below their titles, with notes; hidden ones are left out', async () => {
  const bytes = await makePresentation(
    [
      slideOf(shapeOf('body', ['Three years', 'Limescale is not covered']) + shapeOf('title', ['Warranty']) + shapeOf('sldNum', ['1'])),
      slideOf(shapeOf('', ['Only a text box'])),
      slideOf(shapeOf('title', ['Old prices']), 'show="0"'),
      slideOf(''),
    ],
    { 0: 'Mention the receipt.' },
  );
  const document = await parseDocument(bytes, 'talk.pptx');
  expect(outlineOf(document)).toEqual([
    'h1 Warranty',
    '- Three years',
    '- Limescale is not covered',
    'p Mention the receipt.',
    'h1 Slide 2',
    'p Only a text box',
  ]);
  expect(document.metadata).toEqual({ type: 'pptx', pages: 4, pages_without_text: 1 });
  expect(document.blocks.map((block) => block.page)).toEqual([1, 1, 1, 1, 2, 2]);
});

test('bullets of a slide are taken from its own marks; what is there for older programs is not read twice', async () => {
  const both = `<mc:AlternateContent><mc:Choice>${shapeOf('', ['New'])}</mc:Choice><mc:Fallback>${shapeOf('', ['New'])}</mc:Fallback></mc:AlternateContent>`;
  const bytes = await makePresentation([
    slideOf(
      shapeOf('title', ['T']) +
        shapeOf('body', ['Plain'], '<a:pPr><a:buNone/></a:pPr>') +
        shapeOf('', ['Item'], '<a:pPr><a:buChar char="•"/></a:pPr>') +
        both,
    ),
  ]);
  expect(outlineOf(await parseDocument(bytes, 'talk.pptx'))).toEqual(['h1 T', 'p Plain', '- Item', 'p New']);
});

test('presentations and Word documents without text say so', async () => {
  expect(await failureOf(await makePresentation([slideOf('')]), 'a.pptx')).toMatchObject({ code: 'no_text' });
  expect(await failureOf(await makeWord('<w:p/>'), 'a.docx')).toMatchObject({ code: 'no_text' });
});

const styles = `<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
  <w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/></w:style></w:styles>`;
const wordRow = (...cells: string[]) => `<w:tr>${cells.map((text) => `<w:tc>${wordParagraph(text)}</w:tc>`).join('')}</w:tr>`;

test('a Word document far longer than one part of the conversion is read whole and in order', async () => {
  const filler = 'The standing trustee has a duty to the estate. '.repeat(20);
  const body = Array.from({ length: 900 }, (_, index) =>
    index % 100 === 0 ? wordParagraph(`Chapter ${index / 100 + 1}`, '<w:pStyle w:val="H2"/>') : wordParagraph(`${index}. ${filler}`),
  ).join('');
  const rows = Array.from({ length: 3000 }, (_, index) => wordRow(`Item ${index}`, `${'wide '.repeat(30)}${index}`)).join('');
  const document = await parseDocument(await makeWord(`${body}<w:tbl>${rows}</w:tbl>`, { 'word/styles.xml': styles }), 'long.docx');
  const outline = outlineOf(document);
  expect(outline.filter((line) => line.startsWith('h2')).map((line) => line.slice(3))).toEqual(
    Array.from({ length: 9 }, (_, index) => `Chapter ${index + 1}`),
  );
  expect(outline.filter((line) => line.startsWith('p ')).map((line) => Number.parseInt(line.slice(2), 10))).toEqual(
    Array.from({ length: 900 }, (_, index) => index).filter((index) => index % 100 !== 0),
  );
  expect(outline.filter((line) => line.startsWith('| Item')).map((line) => Number(line.split(' ').at(-1)))).toEqual(
    Array.from({ length: 3000 }, (_, index) => index),
  );
});

test('numbered lines before text are headings where a Word document has none', async () => {
  const body = ['2. Data flow', 'Data flows through three layers, one after the other.', '2.1 Layers', 'There are three layers.']
    .map((text) => wordParagraph(text))
    .join('');
  expect(outlineOf(await parseDocument(await makeWord(body), 'a.docx')).map((line) => line.slice(0, 12))).toEqual(
    ['h2 2. Data fl', 'p Data flows', 'h3 2.1 Layers'.slice(0, 12), 'p There are '].map((line) => line.slice(0, 12)),
  );
});

const namespaces =
  'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';

test.each([
  [
    'a picture that is not there',
    `<w:drawing><wp:inline ${namespaces}><a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:embed="r99"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>`,
  ],
  [
    'an empty picture',
    `<w:drawing><wp:inline ${namespaces}><a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>`,
  ],
  ['a note that is not there', '<w:footnoteReference w:id="7"/>'],
])('%s does not keep a Word document from being read', async (_what, run) => {
  const link = `<w:p><w:hyperlink ${namespaces} r:id="r98"><w:r><w:t>the form</w:t></w:r></w:hyperlink></w:p>`;
  const body = `<w:p><w:r><w:t>before</w:t>${run}</w:r></w:p>${link}${wordParagraph('after')}`;
  expect(outlineOf(await parseDocument(await makeWord(body), 'a.docx'))).toEqual(['p before', 'p the form', 'p after']);
});

test('footnotes come after the text, without the arrows that lead back', async () => {
  const notes = `<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:footnote w:id="2">${wordParagraph('Except gift cards.')}</w:footnote></w:footnotes>`;
  const body = `<w:p><w:r><w:t>Items go back.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>`;
  expect(outlineOf(await parseDocument(await makeWord(body, { 'word/footnotes.xml': notes }), 'a.docx'))).toEqual([
    'p Items go back.[1]',
    '- 1. Except gift cards.',
  ]);
});

const rowOfTexts = (row: number, ...texts: string[]) =>
  `<row r="${row}">${texts.map((text, index) => `<c r="${'ABCD'[index]}${row}" t="inlineStr"><is>${text}</is></c>`).join('')}</row>`;
const readRows = async (rows: string, more: Partial<Parameters<typeof makeWorkbook>[0][number]> = {}, options = {}) =>
  parseDocument(await makeWorkbook([{ name: 'Sheet1', rows, ...more }], options), 'a.xlsx');

test('a formula without its result is counted; one whose result is empty is not', async () => {
  const rows = `${rowOfTexts(1, '<t>a</t>')}<row r="2"><c r="A2"><f>1+1</f></c><c r="B2" t="str"><f>A9</f><v></v></c><c r="C2"><f>2</f><v>2</v></c></row>
<row r="3"><c r="A3"><f>1+1</f><v></v></c><c r="B3"><f>1+1</f><v/></c><c r="C3" t="n"><f>1+1</f><v> </v></c></row>`;
  const { warnings } = await readRows(rows);
  expect(warnings.map(({ code, count }) => [code, count])).toEqual([['formulas_left_out', 4]]);
});

test('signs that XML cannot hold are read, and raised digits make no other number', async () => {
  const raised = '<r><t>10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>6</t></r>';
  expect(outlineOf(await readRows(rowOfTexts(1, '<t>a_x000D_\nb _x005F_x41_</t>', raised)))).toEqual(['| a b _x41_ | 10^6']);
});

test('a sheet with a name of its own has a heading', async () => {
  expect(outlineOf(await readRows(rowOfTexts(1, '<t>a</t>'), { name: 'Prices2026' }))).toEqual(['h1 Prices2026', '| a']);
  expect(outlineOf(await readRows(rowOfTexts(1, '<t>a</t>'), { name: 'Лист1' }))).toEqual(['| a']);
});

test('boxes, titles of charts and what is printed on each page are read, comments are counted', async () => {
  const document = await readRows(
    rowOfTexts(1, '<t>a</t>'),
    {
      after:
        '<headerFooter><oddHeader>&amp;L&amp;&quot;Arial,Bold&quot;&amp;12Acme &amp;&amp; Co&amp;RPage &amp;P of &amp;N</oddHeader></headerFooter>',
      parts: [
        ['drawing', 'drawings/drawing1.xml'],
        ['comments', 'comments1.xml'],
      ],
    },
    {
      parts: {
        'xl/drawings/drawing1.xml': '<xdr:wsDr><xdr:sp><xdr:txBody><a:p><a:r><a:t>Box 5</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:wsDr>',
        'xl/comments1.xml': '<comments><commentList><comment ref="A1"><text><t>why?</t></text></comment></commentList></comments>',
      },
    },
  );
  expect(outlineOf(document)).toEqual(['| a', 'p Box 5', 'p Acme & Co']);
  expect(document.warnings.map(({ code, count }) => [code, count])).toEqual([['comments_left_out', 1]]);
});
