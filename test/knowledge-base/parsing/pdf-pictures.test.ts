import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { outlineOf } from '../document-support.ts';
import { drawing, type RawObject } from './make-raw-pdf.ts';

const picture: RawObject = [
  '/Type /XObject /Subtype /Image /Width 20 /Height 20 /ColorSpace /DeviceGray /BitsPerComponent 8',
  'x'.repeat(400),
];
const text = '/P << /MCID 0 >> BDC BT /F1 10 Tf 50 700 Td (hello) Tj ET EMC';
const shown = '/Figure << /MCID 1 >> BDC q 100 0 0 100 50 500 cm /Im1 Do Q EMC';

/** A tagged page with a paragraph and a picture. `figure`: the entries of the picture's part; `more`: objects from 12 on. */
const tagged = (figure: string, more: string[] = [], content = `${text} ${shown}`): Uint8Array =>
  drawing(
    content,
    '/XObject << /Im1 6 0 R >>',
    [
      picture,
      '<< /Type /StructTreeRoot /K 8 0 R /ParentTree 9 0 R >>',
      '<< /Type /StructElem /S /Document /P 7 0 R /K [10 0 R 11 0 R] >>',
      '<< /Nums [0 [10 0 R 11 0 R]] >>',
      '<< /Type /StructElem /S /P /P 8 0 R /Pg 3 0 R /K 0 >>',
      `<< /Type /StructElem /S /Figure /P 8 0 R /Pg 3 0 R /K 1 ${figure} >>`,
      ...more,
    ],
    '/Contents 4 0 R /StructParents 0',
    '/StructTreeRoot 7 0 R /MarkInfo << /Marked true >>',
  );

const read = async (file: Uint8Array) => outlineOf(await parseDocument(file, 'report.pdf'));

test('what a tagged file says of its pictures is read behind the text of the page', async () => {
  expect(await read(tagged('/Alt (Sales rose from 3 to 5 million)'))).toEqual(['p hello', 'p Sales rose from 3 to 5 million']);
  expect(await read(tagged('/Alt <FEFF00DC0062006500720073006900630068007400>'))).toEqual(['p hello', 'p Übersicht']);
  expect(await read(tagged('/Alt 12 0 R', ['(A description elsewhere)']))).toEqual(['p hello', 'p A description elsewhere']);
});

test('a picture without a description adds nothing, and both are counted as pictures that were not read', async () => {
  for (const figure of ['', '/Alt ()', '/Alt ( )']) expect(await read(tagged(figure))).toEqual(['p hello']);
  const { warnings } = await parseDocument(tagged('/Alt (A chart)'), 'report.pdf');
  expect(warnings).toMatchObject([{ code: 'images_skipped', count: 1 }]);
});

test('a page that is only a described picture has its description, and still counts as one without text', async () => {
  const document = await parseDocument(tagged('/Alt (A scanned letter)', [], shown), 'scan.pdf');
  expect(outlineOf(document)).toEqual(['p A scanned letter']);
  expect(document.metadata.pages_without_text).toBe(1);
});

test('a damaged structure does not keep the text from being read', async () => {
  expect(await read(tagged('/Alt (A chart) /P 11 0 R'))).toContain('p hello');
  expect(await read(tagged('/Alt 40 0 R'))).toEqual(['p hello']);
});
