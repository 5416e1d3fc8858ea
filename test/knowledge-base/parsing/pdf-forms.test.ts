import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { failureOf, outlineOf } from '../document-support.ts';
import { drawing, someText } from './make-raw-pdf.ts';

/** A page with "hello" and fields, each given by its entries. */
function makeForm(fields: string[], more: string[] = []): Uint8Array {
  const widgets = fields.map(
    (field, index) => `<< /Type /Annot /Subtype /Widget /Rect [50 ${600 - index * 20} 200 ${615 - index * 20}] ${field} >>`,
  );
  const references = widgets.map((_, index) => `${6 + index} 0 R`).join(' ');
  return drawing(
    someText,
    '',
    [...widgets, ...more],
    `/Contents 4 0 R /Annots [${references}]`,
    `/AcroForm << /Fields [${references}] /NeedAppearances true >>`,
  );
}

const read = async (fields: string[], more?: string[]) => outlineOf(await parseDocument(makeForm(fields, more), 'form.pdf'));

test('values of text fields are read with the label of the field, or else its name', async () => {
  expect(
    await read([
      '/FT /Tx /T (customer_name) /V (Anna Schmidt)',
      '/FT /Tx /T (form1[0].page[0].city[0]) /V (Lisbon)',
      '/FT /Tx /T (f7) /TU (Date of birth:) /V (1 May 1990)',
      '/FT /Tx /T (notes) /V (First line\\nsecond line)',
      '/FT /Tx /T (empty)',
    ]),
  ).toEqual([
    'p hello',
    'p customer_name: Anna Schmidt',
    'p city: Lisbon',
    'p Date of birth: 1 May 1990',
    'p notes: First line\nsecond line',
  ]);
});

test('choices are read by the names that people see', async () => {
  expect(
    await read([
      '/FT /Ch /Ff 131072 /T (country) /Opt [[(PT) (Portugal)] [(DE) (Germany)]] /V (PT)',
      '/FT /Ch /Ff 2097152 /T (days) /Opt [(Monday) (Tuesday) (Friday)] /V [(Monday) (Friday)]',
    ]),
  ).toEqual(['p hello', 'p country: Portugal', 'p days: Monday, Friday']);
});

test('check boxes and radio buttons say which are chosen', async () => {
  const states = '/AP << /N << /Yes 20 0 R /Off 20 0 R >> >>';
  const form: string[] = [
    `/FT /Btn /T (newsletter) /TU (Send me news) /V /Yes /AS /Yes ${states}`,
    `/FT /Btn /T (terms) /V /Off /AS /Off ${states}`,
    '/FT /Btn /Ff 32768 /T (size) /V /Large /AS /Large /AP << /N << /Large 20 0 R /Off 20 0 R >> >>',
  ];
  expect(await read(form)).toEqual(['p hello', 'p \u2611 Send me news', 'p \u2610 terms', 'p size: Large']);
});

test('what is typed onto a page is read; hidden fields and passwords are not', async () => {
  expect(
    await read(['/FT /Tx /T (secret) /Ff 8192 /V (hunter2)', '/FT /Tx /T (hidden) /F 2 /V (not shown)', '/FT /Tx /T (shown) /V (shown)']),
  ).toEqual(['p hello', 'p shown: shown']);
  const note = drawing(
    someText,
    '',
    ['<< /Type /Annot /Subtype /FreeText /Rect [50 500 200 520] /Contents (Typed on top) /DA (/Helv 10 Tf) >>'],
    '/Contents 4 0 R /Annots [6 0 R]',
  );
  expect(outlineOf(await parseDocument(note, 'note.pdf'))).toEqual(['p hello', 'p Typed on top']);
});

test('a page with nothing but filled fields has text', async () => {
  const form = drawing(
    '',
    '',
    ['<< /Type /Annot /Subtype /Widget /Rect [50 500 200 520] /FT /Tx /T (name) /V (Anna) >>'],
    '/Contents 4 0 R /Annots [6 0 R]',
    '/AcroForm << /Fields [6 0 R] >>',
  );
  const document = await parseDocument(form, 'form.pdf');
  expect(outlineOf(document)).toEqual(['p name: Anna']);
  expect(document.warnings).toEqual([]);
});

test('too many fields are refused with the limit', async () => {
  const widget = '<< /Type /Annot /Subtype /Widget /Rect [50 500 200 520] /FT /Tx /T (name) /V (Anna) >>';
  const form = drawing(someText, '', [widget], `/Contents 4 0 R /Annots [${'6 0 R '.repeat(50_001)}]`, '/AcroForm << /Fields [6 0 R] >>');
  const failure = await failureOf(form, 'form.pdf');
  expect(failure.code).toBe('too_large');
  expect(failure.message).toContain('more than 50000 form fields');
});
