import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { failureOf, outlineOf } from '../document-support.ts';
import { lines, makePdf } from './make-pdf.ts';
import { drawing, pdfOf, someText, type RawObject } from './make-raw-pdf.ts';

test('pages without text are named in a warning', async () => {
  const text = lines(['Kettles are cleaned once a month.'], 60, 700);
  const { warnings, metadata } = await parseDocument(makePdf([text, [], text, []]), 'a.pdf');
  expect(metadata.pages_without_text).toBe(2);
  expect(warnings).toEqual([
    {
      code: 'pages_without_text',
      count: 2,
      message: '2 pages have no text (page 2, 4); if they are scans, run text recognition (OCR) over the file and upload it again',
    },
  ]);
});

/** Two pages; the letters of the second one's font stand for characters that belong to nobody. */
const meaningless = () => {
  const map =
    '/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfrange <41> <5A> <E100> endbfrange endcmap end';
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 2 /Kids [3 0 R 4 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 7 0 R >> >> /Contents 5 0 R >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 8 0 R >> >> /Contents 6 0 R >>',
    ['', someText],
    ['', 'BT /F1 10 Tf 50 700 Td (ABC) Tj ET'],
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 9 0 R >>',
    ['', map],
  ]);
};

test('a page whose letters mean nothing counts as one without text', async () => {
  const document = await parseDocument(meaningless(), 'a.pdf');
  expect(outlineOf(document)).toEqual(['p hello']);
  expect(document.metadata.pages_without_text).toBe(1);
  expect(document.warnings).toMatchObject([{ code: 'pages_without_text', count: 1 }]);
});

/** A page with lines in fonts that number their glyphs; `descendant`: what more the second font says. */
const numbered = (descendant: string, latin = 'hello') =>
  drawing(`BT /F1 10 Tf 50 700 Td (${latin}) Tj ET BT /F2 10 Tf 50 680 Td <002400250026> Tj ET`, '/Font << /F1 5 0 R /F2 6 0 R >>', [
    '<< /Type /Font /Subtype /Type0 /BaseFont /Some /Encoding /Identity-H /DescendantFonts [7 0 R] >>',
    `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Some /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 8 0 R ${descendant} >>`,
    '<< /Type /FontDescriptor /FontName /Some /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>',
  ]);

test('numbers of glyphs that the file gives no meaning are never taken for letters', async () => {
  const document = await parseDocument(numbered('/CIDToGIDMap /Identity'), 'a.pdf');
  expect(outlineOf(document).join(' ')).not.toContain('$%&');
  expect(document.warnings).toEqual([
    { code: 'characters_damaged', count: 3, message: '3 characters are damaged in the file and stand as \ufffd in the text' },
  ]);
  expect((await failureOf(numbered('/CIDToGIDMap /Identity', ''), 'a.pdf')).code).toBe('no_text');
});

/** A line in Helvetica beside one in a font whose letters mean what `font` says. */
const beside = (font: string, more: RawObject[] = []) =>
  drawing('BT /F1 10 Tf 50 700 Td (Known words) Tj ET BT /F2 10 Tf 50 660 Td (ABC is) Tj ET', '/Font << /F1 5 0 R /F2 6 0 R >>', [
    `<< /Type /Font /Subtype /Type1 /BaseFont /Some ${font} >>`,
    ...more,
  ]);
const meaning = (values: string[]): RawObject => [
  '',
  `/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange 3 beginbfchar ${values.map((value, index) => `<4${index + 1}> <${value}>`).join(' ')} endbfchar endcmap end`,
];

test.each([
  ['mean U+FFFD', ['FFFD', 'FFFD', 'FFFD']],
  ['mean NUL', ['0000', '0000', '0000']],
  ['mean controls', ['0001', '0008', '001F']],
  ['mean private characters', ['F041', 'E042', 'F8FF']],
])('letters that %s are damaged characters beside those that can be read', async (_, values) => {
  const document = await parseDocument(beside('/ToUnicode 7 0 R', [meaning(values)]), 'a.pdf');
  expect(outlineOf(document).join(' ')).toMatch(/Known words.*\ufffd{3} is/);
  expect(document.warnings).toMatchObject([{ code: 'characters_damaged', count: 3 }]);
});

test('glyphs whose names say no character are damaged characters', async () => {
  for (const [names, count] of [
    ['/G01 /G02 /G03', 3],
    ['/G01 /B /G1F', 2],
    ['/A /B /uniE000', 1],
    ['/glyph1 /glyph2 /glyph3', 3],
    ['/g36 /g37 /g38', 3],
    ['/cid00012 /cid00034 /C', 2],
    ['/G33 /G34 /G35', 3],
    ['/A01 /x2 /B', 2],
    ['/foo /B /smiley', 2],
    ['/f_foo /B /f_1', 2],
  ] as const) {
    const document = await parseDocument(beside(`/Encoding << /Differences [65 ${names}] >>`), 'a.pdf');
    expect(outlineOf(document).join(' ')).toContain('Known words');
    expect(document.warnings).toMatchObject([{ code: 'characters_damaged', count }]);
  }
});

test.each(['/G41 /G42 /G43', '/c65 /c66 /c67', '/A /uni0042 /C', '/a65 /a66 /a67'])(
  'glyphs whose names have the numbers of their codes, or of characters, are read: %s',
  async (names) => {
    const document = await parseDocument(beside(`/Encoding << /Differences [65 ${names}] >>`), 'a.pdf');
    expect(outlineOf(document).join(' ')).toContain('ABC is');
    expect(document.warnings).toEqual([]);
  },
);

test('ligatures that are named by their letters are read, and glyphs without a shape are nothing', async () => {
  const document = await parseDocument(beside('/Encoding << /Differences [65 /f_f_i /T_h.alt /Euro] >>'), 'a.pdf');
  expect(outlineOf(document).join(' ')).toContain('ffiTh€ is');
  expect(document.warnings).toEqual([]);
  const empty = await parseDocument(beside('/Encoding << /Differences [0 /.notdef /.null /nonmarkingreturn 65 /A /B /C] >>'), 'a.pdf');
  expect(empty.warnings).toEqual([]);
});

test('variants of glyphs are read as their characters', async () => {
  const document = await parseDocument(beside('/Encoding << /Differences [65 /five.oldstyle /a.sc /period.alt01] >>'), 'a.pdf');
  expect(outlineOf(document).join(' ')).toContain('5a. is');
  expect(document.warnings).toEqual([]);
});

test('a table that says nothing of numbered glyphs leaves them damaged, also where the list of their names is an object', async () => {
  const known = await parseDocument(
    beside('/Encoding << /Differences 8 0 R >> /ToUnicode 7 0 R', [meaning(['0058']), '[65 /g1 /g2 /C]']),
    'a.pdf',
  );
  expect(outlineOf(known).join(' ')).toMatch(/X\ufffdC is/);
  expect(known.warnings).toMatchObject([{ code: 'characters_damaged', count: 1 }]);
});

test('glyphs that the table of a font leaves out are damaged characters, and so are those that it makes blanks of', async () => {
  for (const [table, text, count] of [
    ['1 beginbfchar <0024> <0058> endbfchar', 'X\ufffd\ufffd', 2],
    ['3 beginbfchar <0024> <0020> <0025> <0020> <0026> <0020> endbfchar', '\ufffd\ufffd\ufffd', 3],
    ['1 beginbfrange <0024> <0026> <0058> endbfrange', 'XYZ', 0],
  ] as const) {
    const bytes = drawing(`${someText} BT /F2 10 Tf 50 600 Td <002400250026> Tj ET`, '/Font << /F1 5 0 R /F2 6 0 R >>', [
      '<< /Type /Font /Subtype /Type0 /BaseFont /Some /Encoding /Identity-H /DescendantFonts [7 0 R] /ToUnicode 8 0 R >>',
      '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Some /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /W [36 [600 600 600]] /FontDescriptor << /Type /FontDescriptor /FontName /Some /Flags 4 >> >>',
      ['', `begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange ${table} endcmap`],
    ]);
    const document = await parseDocument(bytes, 'a.pdf');
    expect(outlineOf(document).join(' ')).toContain(text);
    expect(document.warnings).toMatchObject(count === 0 ? [] : [{ code: 'characters_damaged', count }]);
  }
});

test('glyphs that a table leaves out are damaged characters also in a font that says nothing of its widths; blanks are none', async () => {
  const bytes = drawing(`${someText} BT /F2 10 Tf 50 600 Td <0024000300250026> Tj ET`, '/Font << /F1 5 0 R /F2 6 0 R >>', [
    '<< /Type /Font /Subtype /Type0 /BaseFont /Some /Encoding /Identity-H /DescendantFonts [7 0 R] /ToUnicode 8 0 R >>',
    '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Some /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor << /Type /FontDescriptor /FontName /Some /Flags 4 >> >>',
    [
      '',
      '/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange 2 beginbfchar <0024> <0058> <0003> <0020> endbfchar endcmap end',
    ],
  ]);
  const document = await parseDocument(bytes, 'a.pdf');
  expect(outlineOf(document).join(' ')).toMatch(/X\s*\ufffd\ufffd/);
  expect(document.warnings).toMatchObject([{ code: 'characters_damaged', count: 2 }]);
});

test('letters that a table makes blanks of are damaged characters; real blanks are none', async () => {
  const document = await parseDocument(beside('/ToUnicode 7 0 R', [meaning(['0020', '0020', '00A0'])]), 'a.pdf');
  expect(outlineOf(document).join(' ')).toContain('Known words');
  expect(document.warnings).toMatchObject([{ code: 'characters_damaged', count: 3 }]);
  const blank = await parseDocument(beside('/ToUnicode 7 0 R', [meaning(['0041', '0020', '0043'])]), 'a.pdf');
  expect(outlineOf(blank).join(' ')).toContain('A C is');
  expect(blank.warnings).toEqual([]);
});

test('the bullets of Word are none of them', async () => {
  const document = await parseDocument(beside('/ToUnicode 7 0 R', [meaning(['F0B7', 'F0A7', '0043'])]), 'a.pdf');
  expect(outlineOf(document).join(' ')).toMatch(/•\s?▪\s?C is/);
  expect(document.warnings).toEqual([]);
});

test('codes that a font maps to its glyphs are characters', async () => {
  expect(outlineOf(await parseDocument(numbered('/CIDToGIDMap 4 0 R'), 'a.pdf')).join(' ')).toContain('$%&');
});

test('files that the document carries are counted, however many names they have', async () => {
  const file: RawObject = ['/Type /EmbeddedFile', 'price 5'];
  const inList = drawing(
    someText,
    '',
    ['<< /Type /Filespec /F (a.txt) /UF (a.txt) /EF << /F 7 0 R /UF 7 0 R >> >>', file, '<< /F (b.txt) /EF << /F 9 0 R >> >>', ['', 'x']],
    '/Contents 4 0 R',
    '/Names << /EmbeddedFiles << /Names [(a) 6 0 R (b) 8 0 R] >> >>',
  );
  const pinned = drawing(
    someText,
    '',
    [file],
    '/Contents 4 0 R /Annots [<< /Subtype /FileAttachment /Rect [0 0 9 9] /FS << /F (a.txt) /EF << /F 6 0 R >> >> >>]',
  );
  for (const [bytes, count] of [
    [inList, 2],
    [pinned, 1],
  ] as const) {
    const document = await parseDocument(bytes, 'a.pdf');
    expect(outlineOf(document)).toEqual(['p hello']);
    expect(document.warnings).toMatchObject([{ code: 'attachments_left_out', count }]);
  }
});

test('images are counted, without their masks and dots', async () => {
  const image = (size: number, more = ''): readonly [string, string] => [
    `/Type /XObject /Subtype /Image /Width ${size} /Height ${size} /ColorSpace /DeviceGray /BitsPerComponent 8 ${more}`,
    '\0'.repeat(size * size),
  ];
  const bytes = drawing(someText, '/XObject << /A 6 0 R /B 7 0 R /C 8 0 R >>', [image(20, '/SMask 9 0 R'), image(30), image(2), image(20)]);
  expect((await parseDocument(bytes, 'a.pdf')).warnings).toEqual([
    { code: 'images_skipped', count: 2, message: '2 images were skipped: only the text of a document is read' },
  ]);
});

test('a document of scans alone says so', async () => {
  expect((await failureOf(makePdf([[], []]), 'scan.pdf')).code).toBe('no_text');
});
