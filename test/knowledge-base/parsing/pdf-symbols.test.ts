import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { outlineOf } from '../document-support.ts';
import { drawing, type RawObject } from './make-raw-pdf.ts';

/** A line with signs in a font of symbols between words in Helvetica. `codes` in hex. */
const withSymbols = (font: string, codes: string, more: RawObject[] = []) =>
  drawing(`BT /F1 10 Tf 50 700 Td (Delivery: ) Tj /F2 10 Tf <${codes}> Tj /F1 10 Tf ( today) Tj ET`, '/Font << /F1 5 0 R /F2 6 0 R >>', [
    `<< /Type /Font ${font} >>`,
    ...more,
  ]);
const read = async (font: string, codes: string, more: RawObject[] = []) => {
  const document = await parseDocument(withSymbols(font, codes, more), 'a.pdf');
  return { text: outlineOf(document).join(' '), warnings: document.warnings.map(({ code, count }) => [code, count]) };
};
const map = (ranges: string, digits = '00'): RawObject => [
  '',
  `/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <${digits}> <${digits.replaceAll('0', 'F')}> endcodespacerange ${ranges} endcmap end`,
];
const descriptor = (name: string) =>
  `/FirstChar 32 /LastChar 255 /Widths [${'600 '.repeat(224)}] /FontDescriptor << /Type /FontDescriptor /FontName /${name} /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 900 /Descent -200 /CapHeight 700 /StemV 80 >>`;

test.each([
  ['Zapf Dingbats, which every reader has', '/Subtype /Type1 /BaseFont /ZapfDingbats', '34', '✔'],
  ['its other signs', '/Subtype /Type1 /BaseFont /ZapfDingbats', '38216CACFEA8D5', '✘✁●①➾♣→'],
  [
    'its glyphs under other codes',
    '/Subtype /Type1 /BaseFont /ABCDEF+ZapfDingbats /Encoding << /Differences [1 /a20 65 /a71] >>',
    '41',
    '●',
  ],
  ['its copy', '/Subtype /Type1 /BaseFont /Dingbats', '34', '✔'],
  ['Wingdings', `/Subtype /TrueType /BaseFont /ABCDEF+Wingdings ${descriptor('ABCDEF+Wingdings')}`, 'FC', '✓'],
  ['Wingdings of another name', `/Subtype /TrueType /BaseFont /Wingdings-Regular ${descriptor('Wingdings-Regular')}`, 'FC', '✓'],
  [
    'Wingdings with the encoding of letters',
    `/Subtype /TrueType /BaseFont /Wingdings /Encoding /WinAnsiEncoding ${descriptor('Wingdings')}`,
    'FC',
    '✓',
  ],
  ['a name with a blank', `/Subtype /TrueType /BaseFont /ABCDEF+Wingdings#202 ${descriptor('ABCDEF+Wingdings#202')}`, '50', '🗸'],
  ['Webdings', `/Subtype /TrueType /BaseFont /Webdings ${descriptor('Webdings')}`, '61', '✔'],
  ['Symbol', '/Subtype /Type1 /BaseFont /Symbol', '6162', 'αβ'],
])('signs of a font of symbols are read as Unicode has them: %s', async (_, font, codes, signs) => {
  expect(await read(font, codes)).toEqual({ text: `p Delivery: ${signs} today`, warnings: [] });
});

test.each([
  ['at the place of Office', '1 beginbfchar <FC> <F0FC> endbfchar', 'FC', '✓'],
  ['as the letter of its code', '1 beginbfchar <FC> <00FC> endbfchar', 'FC', '✓'],
  ['in a range', '1 beginbfrange <41> <43> <F0FB> endbfrange', '414243', '🗶✓🗷'],
  ['in a list', '1 beginbfrange <41> <42> [<F0FC> <F0FB>] endbfrange', '4142', '✓🗶'],
  ['as the sign itself', '1 beginbfchar <FC> <2714> endbfchar', 'FC', '✔'],
])('a table of meanings may give a sign %s', async (_, ranges, codes, signs) => {
  const simple = `/Subtype /TrueType /BaseFont /Wingdings /ToUnicode 7 0 R ${descriptor('Wingdings')}`;
  expect(await read(simple, codes, [map(ranges)])).toEqual({ text: `p Delivery: ${signs} today`, warnings: [] });
  const composite =
    '/Subtype /Type0 /BaseFont /Wingdings /Encoding /Identity-H /ToUnicode 7 0 R /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Wingdings /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 600 /FontDescriptor << /Type /FontDescriptor /FontName /Wingdings /Flags 4 >> >>]';
  const wide = (text: string) => text.replace(/<([\dA-F]{2})>/g, '<00$1>');
  expect(await read(composite, codes.replace(/../g, '00$&'), [map(wide(ranges), '0000')])).toEqual({
    text: `p Delivery: ${signs} today`,
    warnings: [],
  });
});

test('a sign that Unicode lacks is a damaged character, not a letter', async () => {
  const { text, warnings } = await read(`/Subtype /TrueType /BaseFont /Wingdings ${descriptor('Wingdings')}`, 'FFFC');
  expect(text).not.toContain('ÿ');
  expect(text).toContain('✓');
  expect(warnings.length === 0 || warnings[0]![0] === 'characters_damaged').toBe(true);
});

test('letters of other fonts stay letters', async () => {
  expect((await read('/Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding', 'FC34')).text).toBe('p Delivery: ü4 today');
  expect((await read('/Subtype /Type1 /BaseFont /WingdingsSerif /Encoding /WinAnsiEncoding', '34')).text).toBe('p Delivery: 4 today');
});
