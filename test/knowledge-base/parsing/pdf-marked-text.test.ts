import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { failureOf, outlineOf } from '../document-support.ts';
import { drawing, formOf, pdfOf, someText, type RawObject } from './make-raw-pdf.ts';

const read = async (bytes: Uint8Array) => outlineOf(await parseDocument(bytes, 'a.pdf')).map((line) => line.replace(/^\S+ /, ''));
const line = (words: string, y = 700) => `BT /F1 12 Tf 50 ${y} Td ${words} ET`;

test.each([
  ['in letters', String.raw`(The ) Tj /Span <</ActualText(office)>> BDC (o) Tj (ce) Tj EMC ( is open) Tj`, 'The office is open'],
  ['in UTF-16', '/Span<</ActualText<FEFF20AC>>>BDC (E) Tj EMC (5) Tj', '€5'],
  ['in the encoding of the format', String.raw`/Span<</ActualText(\240 5 \204 5 \(net\))>>BDC (E) Tj EMC`, '€ 5 — 5 (net)'],
  ['that is empty', '(Total) Tj /Span<</ActualText()>>BDC (xx) Tj EMC ( 5) Tj', 'Total 5'],
  ['in another one, which counts', '/Span<</ActualText(one)>>BDC (a) Tj /Span<</ActualText(two)>>BDC (b) Tj EMC (c) Tj EMC', 'one'],
  ['beside other marks', '/P <</MCID 0>> BDC (Say ) Tj /Span<</Lang(en)/ActualText(yes)/MCID 1>>BDC (y) Tj EMC EMC', 'Say yes'],
])('a text that stands for what is drawn is read in its place: %s', async (_, content, expected) => {
  expect(await read(drawing(line(content)))).toEqual([expected]);
});

test('the text may be named in the resources of a page or of a form, and be an object', async () => {
  const named = '/Properties << /P0 6 0 R /P1 << /ActualText (flow) >> >>';
  const bytes = drawing(line('/Span /P0 BDC (x) Tj EMC ( and ) Tj /Span /P1 BDC (y) Tj EMC'), named, [
    '<< /ActualText 7 0 R >>',
    '(office)',
  ]);
  expect(await read(bytes)).toEqual(['office and flow']);
  const form = formOf(line('/Span /P0 BDC (x) Tj EMC', 600));
  const inForm = drawing(`${someText} /X Do`, '/XObject << /X 6 0 R >>', [
    [form[0].replace('/Resources <<', '/Resources << /Properties << /P0 << /ActualText (office #41) >> >>'), form[1]],
  ]);
  expect(await read(inForm)).toEqual(['hello', 'office #41']);
});

test('an element of the structure has a text for all that it holds, also below it', async () => {
  const content = line(
    '/Span <</MCID 0>> BDC (of) Tj EMC ( and ) Tj /Span <</MCID 1>> BDC (\\(c\\)) Tj EMC /Span <</MCID 2>> BDC (x) Tj EMC',
  );
  const bytes = drawing(content, '', [
    '<< /Type /StructElem /S /Span /Pg 3 0 R /K 0 /ActualText (office) >>',
    '<< /Type /StructElem /S /Span /Pg 3 0 R /K [8 0 R << /Type /MCR /Pg 3 0 R /MCID 2 >>] /ActualText <FEFF00A9> >>',
    '<< /Type /StructElem /S /Span /P 7 0 R /K [1] /ActualText (lower) >>',
  ]);
  expect(await read(bytes)).toEqual(['office and ©']);
});

test('a text for something that is drawn without letters is read, too', async () => {
  expect(await read(drawing(`${someText} /Figure <</ActualText(Logo of Acme)>> BDC 50 50 20 20 re f EMC`))).toEqual([
    'hello',
    'Logo of Acme',
  ]);
});

/** A page with a layer as object 6, which is off, and one as object 7. `more` are objects from 8 on. */
const layered = (content: string, resources = '', more: RawObject[] = [], config = '/OFF [6 0 R]') =>
  drawing(
    `${someText} ${content}`,
    `/Properties << /Off 6 0 R /On 7 0 R /Set 8 0 R >> ${resources}`,
    ['<< /Type /OCG /Name (Draft) >>', '<< /Type /OCG /Name (Final) >>', ...more],
    '/Contents 4 0 R',
    `/OCProperties << /OCGs [6 0 R 7 0 R] /D << ${config} >> >>`,
  );
const inLayer = (name: string, words: string, y: number) => `/OC /${name} BDC ${line(`(${words}) Tj`, y)} EMC`;
const result = async (bytes: Uint8Array) => {
  const document = await parseDocument(bytes, 'a.pdf');
  return [outlineOf(document).map((text) => text.replace(/^\S+ /, '')), document.warnings.map(({ code, count }) => [code, count])] as const;
};

test('a layer that is switched off is left out and counted; the others are read', async () => {
  const content = [inLayer('Off', 'secret price', 660), inLayer('On', 'final price', 600), inLayer('Off', 'secret date', 540)].join(' ');
  expect(await result(layered(content))).toEqual([['hello', 'final price'], [['hidden_left_out', 2]]]);
  expect(await result(layered(content, '', [], '/BaseState /OFF /ON [7 0 R]'))).toEqual([
    ['hello', 'final price'],
    [['hidden_left_out', 2]],
  ]);
  expect(await result(layered(content, '', [], ''))).toEqual([['hello', 'secret price', 'final price', 'secret date'], []]);
});

test.each([
  ['/OCGs [6 0 R 7 0 R]', true],
  ['/OCGs [6 0 R 7 0 R] /P /AllOn', false],
  ['/OCGs 7 0 R /P /AnyOff', false],
  ['/VE [/And 7 0 R [/Not 6 0 R]]', true],
  ['/VE [/Or 6 0 R [/Not 7 0 R]]', false],
])('a set of layers is shown by its rule: %s', async (rule, isShown) => {
  const bytes = layered(inLayer('Set', 'by rule', 660), '', [`<< /Type /OCMD ${rule} >>`]);
  expect(await result(bytes)).toEqual(isShown ? [['hello', 'by rule'], []] : [['hello'], [['hidden_left_out', 1]]]);
});

test('a form may be in a layer, and layers in each other are one', async () => {
  const [dictionary, content] = formOf(line('(in a form) Tj', 660)) as readonly [string, Uint8Array];
  const bytes = layered('/X Do', '/XObject << /X 8 0 R >>', [[`${dictionary} /OC 6 0 R`, content]]);
  expect(await result(bytes)).toEqual([['hello'], [['hidden_left_out', 1]]]);
  const nested = layered(`/OC /Off BDC ${inLayer('On', 'one', 660)} ${inLayer('Off', 'two', 640)} EMC ${line('(after) Tj', 600)}`);
  expect(await result(nested)).toEqual([['hello', 'after'], [['hidden_left_out', 1]]]);
});

test('a typed note in a layer is left out with it', async () => {
  const note = '<< /Type /Annot /Subtype /FreeText /Rect [50 50 90 90] /Contents (note) /OC %LAYER% 0 R >>';
  for (const [layer, texts, warnings] of [
    [6, ['hello'], [['hidden_left_out', 1]]],
    [7, ['hello', 'note'], []],
  ] as const) {
    const bytes = drawing(
      someText,
      '',
      ['<< /Type /OCG /Name (Draft) >>', '<< /Type /OCG /Name (Final) >>', note.replace('%LAYER%', String(layer))],
      '/Contents 4 0 R /Annots [8 0 R]',
      '/OCProperties << /OCGs [6 0 R 7 0 R] /D << /OFF [6 0 R] >> >>',
    );
    expect(await result(bytes)).toEqual([texts, warnings]);
  }
});

test('a document whose text is all in hidden layers has none', async () => {
  const bytes = pdfOf([
    '<< /Type /Catalog /Pages 2 0 R /OCProperties << /OCGs [6 0 R] /D << /OFF [6 0 R] >> >> >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> /Properties << /Off 6 0 R >> >> /Contents 4 0 R >>',
    ['', inLayer('Off', 'secret', 700)],
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    '<< /Type /OCG /Name (Draft) >>',
  ]);
  expect((await failureOf(bytes, 'a.pdf')).code).toBe('no_text');
});

test.each([
  ['a picture between the commands', 'BI /W 1 /H 1 /BPC 8 /CS /G ID \x01(< EI'],
  ['a string that does not end', '(abc'],
  ['marks that end more often than they begin', 'EMC EMC'],
  ['a dictionary that does not end', '/Span << /ActualText (x'],
])('text before %s is read', async (_, content) => {
  expect((await read(drawing(`${line('/Span <</ActualText(office)>> BDC (o) Tj EMC')} ${content}`)))[0]).toBe('office');
});
