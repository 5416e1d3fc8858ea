import { parseBody } from '../../../src/automation-workflows/triggers/webhooks/parse-body.ts';
import { readContacts } from '../../../src/contacts/import/read-contacts.ts';
import { readTable } from '../../../src/library/delimited-text/read-table.ts';
import { openPeopleFile } from '../../../scripts/import-contacts/open-people-file.ts';
import { UnreadableFileError } from '../../../src/library/text/unreadable-file.ts';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { UnparsableDocument } from '../../../src/library/text/unparsable-document.ts';
import { makePdf } from '../../knowledge-base/parsing/make-pdf.ts';
import {
  drawing,
  drawingWithBookmarks,
  drawingWithCharacterMaps,
  drawingWithMeanings,
  formOf,
  pdfOf,
  someText,
} from '../../knowledge-base/parsing/make-raw-pdf.ts';
import { makePresentation, makeWord, makeWorkbook, shapeOf, slideOf } from '../../knowledge-base/parsing/make-archive.ts';

/** What a parser could take longest over. `make` is not measured; `size` in characters or bytes, at 1x. */
export interface WorstCase {
  name: string;
  size: number;
  make(size: number): Promise<() => Promise<unknown>>;
}

const KiB = 1024;
const bytesOf = (text: string) => new TextEncoder().encode(text);
/** As often as `size` has room for. */
export const fillWith = (piece: string, size: number): string => piece.repeat(Math.max(1, Math.floor(size / piece.length)));

/** A document that is read, or refused in words. */
const document = (name: string, size: number, write: (size: number) => string | Promise<Uint8Array>): WorstCase => ({
  name,
  size,
  async make(wanted) {
    const written = await write(wanted);
    const bytes = typeof written === 'string' ? bytesOf(written) : written;
    return () =>
      parseDocument(bytes, name.split(' ')[0]!).catch((error: unknown) => {
        if (!(error instanceof UnparsableDocument)) throw error;
      });
  },
});

const text = (name: string, size: number, write: (size: number) => string, read: (text: string) => Promise<unknown>): WorstCase => ({
  name,
  size,
  async make(wanted) {
    const written = write(wanted);
    return () => read(written);
  },
});

async function readAll(csv: string): Promise<void> {
  for await (const _ of (await readTable(csv)).rows);
}

async function readAllPeople(csv: string): Promise<void> {
  for await (const _ of readContacts(await readTable(csv), 'DE').rows);
}

/** A workbook of people that is read, or refused in words. */
const peopleInWorkbook = (name: string, size: number, piece: string): WorstCase => ({
  name: `people in an xlsx with ${name}`,
  size,
  async make(wanted) {
    const filling = fillWith(piece, wanted);
    const rows = filling.startsWith('<row')
      ? filling
      : `<row>${filling.startsWith('<c') ? filling : `<c t="inlineStr"><is><t>${filling}</t></is></c>`}</row>`;
    const bytes = await makeWorkbook([{ name: 'A', rows: phoneHeader + rows }], { texts: ['<t>a</t>'] });
    return () =>
      readAllOfWorkbook(bytes).catch((error: unknown) => {
        if (!(error instanceof UnreadableFileError)) throw error;
      });
  },
});

async function readAllOfWorkbook(bytes: Uint8Array): Promise<void> {
  const { table } = await openPeopleFile(bytes, { encoding: undefined, sheet: undefined });
  for await (const _ of readContacts(table, 'DE').rows);
}

const phoneHeader = '<row><c t="inlineStr"><is><t>phone</t></is></c></row>';

const readForm = (form: string) => parseBody('application/x-www-form-urlencoded', bytesOf(form));
const readMultipart = (form: string) => parseBody('multipart/form-data; boundary=b', bytesOf(form));
const manyHeaders = Array.from({ length: 2000 }, (_, index) => `h${index}`).join(',');
const shared = '<row><c t="s"><v>0</v></c></row>';

const run = '<w:p><w:r><w:t>a</w:t></w:r></w:p>';
const head = 'From: a@example.org\nTo: b@example.org\nSubject: s\n';
const markdownSigns = {
  'spaced backticks': '` ',
  'joined backticks': '`a``',
  stars: '*a ',
  underscores: 'a__',
  'stars and underscores': '*_a',
  'open brackets': '[',
  'open links': '[a](',
  'open pictures': '![',
  'open comments': '<!-- ',
  'open instructions': '<?',
  'words in angle brackets': '<word>',
  'lines of open comments': '<!-- a\n\n',
  'lines of open tags': '<div a\n\n',
  'comments with an end': '<!-- -->',
  lists: '- ',
  quotes: '> ',
  items: '- a\n',
  'lines of underscores': 'a__\n',
  'rows without a table': '|a__\n',
  dashes: '-',
};

export const worstCases: WorstCase[] = [
  text('form of one field', 100 * KiB, (size) => fillWith('a=1&', size), readForm),
  text('form of many fields', 100 * KiB, (size) => Array.from({ length: size / 8 }, (_, index) => `f${index}=1`).join('&'), readForm),
  text(
    'form in parts',
    100 * KiB,
    (size) => `${fillWith('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n', size)}--b--\r\n`,
    readMultipart,
  ),
  text('table with more headers than cells', 50 * KiB, (size) => `${manyHeaders}\n${fillWith('1\n', size)}`, readAll),
  text('table of blank lines', 200 * KiB, (size) => `a,b\n${fillWith('\n', size)}1,2\n`, readAll),
  text('table of empty cells', 100 * KiB, (size) => `a,b\n${fillWith(',,,,,,\n', size)}1,2\n`, readAll),
  text('table with a cell of blanks', 250 * KiB, (size) => `a,b\n${fillWith(' ', size)},1\n`, readAll),
  ...Object.entries({
    'a quote that opens': '"a,b\n',
    'a quote that closes and one that opens': 'x","y\n',
    'a quote that opens before doubled ones': 'a,""b"",""\n',
    'a quote behind a backslash that opens': 'a,"\\"b\n',
    'many quotes that open': '"a,"b,"c,"d,"e,"f\n',
    'many pairs of quotes that close': '"a"",b"",',
  }).flatMap(([name, line]) => [
    text(`table of lines with ${name}`, 200 * KiB, (size) => `a,b,c\n"\n${fillWith(line, size)}`, readAll),
    text(`table in one quote, of lines with ${name}`, 200 * KiB, (size) => `a,b,c\n1,"2\n${fillWith(line, size)}`, readAll),
  ]),
  text('table with stacked marks in a header', 32 * KiB, (size) => `phone,a${fillWith('\u0301\u0323', size)}\n1,2\n`, readAllPeople),
  text('people with a long header', 64 * KiB, (size) => `phone,${fillWith('phone', size)}\n1,2\n`, readAllPeople),
  text('people with an address without an at sign', 64 * KiB, (size) => `phone,email\n+4930123456,${fillWith('a', size)}\n`, readAllPeople),
  text('people with many numbers', 64 * KiB, (size) => `phone\n${fillWith('+4930123456 ', size)}\n`, readAllPeople),
  ...Object.entries({
    'cells far to the right': '<row><c r="XFD1"><v>1</v></c></row>',
    'one text in all cells': shared,
    'rows without end': '<row><c t="inlineStr"><is><t>+4930123456</t></is></c></row>',
    'cells in one row': '<c t="inlineStr"><is><t>a</t></is></c>',
    'escapes in a cell': '_x000D_',
  }).map(([name, piece]) => peopleInWorkbook(name, 64 * KiB, piece)),
  document('a.csv', 200 * KiB, (size) => `a,b\n${fillWith('1,2\n', size)}`),
  document('a.xlsx with cells far to the right', 200 * KiB, (size) =>
    makeWorkbook([{ name: 'A', rows: fillWith('<row><c r="XFD1"><v>1</v></c></row>', size) }]),
  ),
  document('a.xlsx with a long number format', 64 * KiB, (size) =>
    makeWorkbook([{ name: 'A', rows: fillWith('<row><c r="A1" s="1"><v>1.5</v></c></row>', size) }], { formats: [fillWith('0.0', size)] }),
  ),
  document('a.xlsx with one text in all cells', 64 * KiB, (size) =>
    makeWorkbook([{ name: 'A', rows: fillWith(shared, size) }], { texts: [`<t>${fillWith('a ', size)}</t>`] }),
  ),
  document('a.xlsx with raised digits', 200 * KiB, (size) =>
    makeWorkbook([{ name: 'A', rows: shared }], {
      texts: [fillWith('<r><t>1</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>2</t></r>', size)],
    }),
  ),
  document('a.xlsx with many printed lines', 200 * KiB, (size) =>
    makeWorkbook(
      [{ name: 'A', rows: shared, after: `<headerFooter>${fillWith('<oddHeader>&amp;La&amp;&amp;</oddHeader>', size)}</headerFooter>` }],
      {
        texts: ['<t>a</t>'],
      },
    ),
  ),
  document('a.xlsx with a long printed line', 200 * KiB, (size) =>
    makeWorkbook(
      [{ name: 'A', rows: shared, after: `<headerFooter><oddHeader>${fillWith('&amp;&quot;a', size)}</oddHeader></headerFooter>` }],
      {
        texts: ['<t>a</t>'],
      },
    ),
  ),
  document('a.pptx with raised digits', 200 * KiB, (size) =>
    makePresentation([
      slideOf(`<p:sp><a:p>${fillWith('<a:r><a:t>1</a:t></a:r><a:r><a:rPr baseline="1"/><a:t>2</a:t></a:r>', size)}</a:p></p:sp>`),
    ]),
  ),
  document('a.pptx of described shapes and symbols', 200 * KiB, (size) =>
    makePresentation([
      slideOf(
        fillWith(
          '<p:pic><p:nvPicPr><p:cNvPr descr="a"/></p:nvPicPr></p:pic><p:sp><a:p><a:r><a:rPr><a:sym typeface="None"/></a:rPr><a:t>&#xF041;</a:t></a:r></a:p></p:sp>',
          size,
        ),
      ),
    ]),
  ),
  document('a.pptx with many paragraphs', 300 * KiB, (size) =>
    makePresentation([
      slideOf(
        shapeOf(
          'body',
          Array.from({ length: size / 30 }, () => 'a'),
        ),
      ),
    ]),
  ),
  document('a.pptx with many slides', 100 * KiB, (size) =>
    makePresentation(Array.from({ length: size / 600 }, () => slideOf(shapeOf('body', ['a'])))),
  ),
  document('a.rtf in one paragraph', 1000 * KiB, (size) => `{\\rtf1 ${fillWith('a', size)}}`),
  document('a.rtf of notes', 200 * KiB, (size) => `{\\rtf1 ${fillWith('a{\\footnote b}', size)}}`),
  document(
    'a.rtf of notes in notes',
    100 * KiB,
    (size) => `{\\rtf1 ${'{\\footnote a'.repeat(400)}${fillWith('b\\par ', size)}${'}'.repeat(400)}}`,
  ),
  document('a.rtf of raised digits', 200 * KiB, (size) => `{\\rtf1 ${fillWith('1{\\super 2}', size)}}`),
  document('a.rtf of described pictures', 200 * KiB, (size) => `{\\rtf1 ${fillWith('{\\pict{\\sp{\\sn wzDescription}{\\sv a}}}', size)}}`),
  document(
    'a.rtf with a long description',
    500 * KiB,
    (size) => `{\\rtf1 {\\pict{\\sp{\\sn wzDescription}{\\sv ${fillWith("\\'41", size)}}}}a}`,
  ),
  document('a.rtf of cells', 200 * KiB, (size) => `{\\rtf1 \\intbl ${fillWith('a\\cell ', size)}\\row}`),
  document('a.rtf of groups', 500 * KiB, (size) => `{\\rtf1 ${fillWith('{}', size)} a}`),
  document('a.rtf with long style names', 200 * KiB, (size) => `{\\rtf1 {\\stylesheet ${fillWith('{\\s1 a}', size)}} a}`),
  document('a.txt with stacked marks', 64 * KiB, (size) => `a${fillWith('\u0301\u0323', size)}`),
  document('a.txt that begins with comments', 4 * KiB, (size) => fillWith('<!---->', size)),
  document('a.txt of form feeds', 300 * KiB, (size) => `a${fillWith('\f', size)}`),
  document('a.txt of underlined lines', 200 * KiB, (size) => fillWith('a\n---\n', size)),
  document('a.txt of blank lines', 300 * KiB, (size) => `a${fillWith(' \n', size)}b`),
  document('a.json of one object', 200 * KiB, (size) => `{${fillWith('"a":1,', size)}"b":1}`),
  document('a.json with a long name', 64 * KiB, (size) => `{"x":{"${fillWith('k', size)}":{${fillWith('"a":1,', size)}"b":1}}}`),
  document('a.json of objects deep in lists', 200 * KiB, (size) => `${'['.repeat(190)}${fillWith('{},', size)}{"a":1}${']'.repeat(190)}`),
  document('a.json of names without values', 200 * KiB, (size) => `[{${fillWith('"a":null,"b":{},"":[null,null],', size)}"b":1}]`),
  document('a.json of one number', 300 * KiB, (size) => `[${fillWith('1', size)}]`),
  document('a.docx of empty paragraphs', 100 * KiB, (size) => makeWord(fillWith('<w:p/>', size) + run)),
  document('a.docx with a paragraph of many runs', 200 * KiB, (size) =>
    makeWord(`<w:p>${fillWith('<w:r><w:t>a</w:t></w:r>', size)}</w:p>`),
  ),
  document('a.docx of symbols', 200 * KiB, (size) =>
    makeWord(
      `<w:p>${fillWith('<w:r><w:rPr><w:rFonts w:ascii="None 1"/></w:rPr><w:sym w:font="None 2" w:char="F041"/><w:t>&#xF041;</w:t></w:r>', size)}</w:p>`,
    ),
  ),
  document('a.docx of described drawings', 200 * KiB, (size) =>
    makeWord(
      `<w:p>${fillWith('<w:r><w:drawing><wp:docPr descr="a" title="b"/></w:drawing><w:pict><v:shape alt="c"><v:textpath string="d"/></v:shape></w:pict></w:r>', size)}</w:p>`,
    ),
  ),
  document('a.docx of formulas', 200 * KiB, (size) =>
    makeWord(`<w:p>${fillWith('<m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num></m:f></m:oMath>', size)}</w:p>`),
  ),
  document('a.docx of rows', 100 * KiB, (size) => makeWord(`<w:tbl>${fillWith(`<w:tr><w:tc>${run}</w:tc></w:tr>`, size)}</w:tbl>`)),
  document('a.docx with a row of many cells', 100 * KiB, (size) =>
    makeWord(`<w:tbl><w:tr>${fillWith(`<w:tc>${run}</w:tc>`, size)}</w:tr></w:tbl>`),
  ),
  document('a.docx of tables in tables', 100 * KiB, (size) =>
    makeWord(fillWith('<w:tbl><w:tr><w:tc>'.repeat(600) + run + '</w:tc></w:tr></w:tbl>'.repeat(600), size)),
  ),
  document('a.docx of elements in elements', 20 * KiB, (size) =>
    makeWord('<w:sdt><w:sdtContent>'.repeat(400) + fillWith(run, size) + '</w:sdtContent></w:sdt>'.repeat(400)),
  ),
  document(
    'a.html with a row of cells that reach down',
    50 * KiB,
    (size) => `<html><table><tr>${fillWith('<td rowspan=99999 colspan=20>', size)}<td>a</tr>${fillWith('<tr><td>a', size)}`,
  ),
  document('a.html of raised digits', 200 * KiB, (size) => `<html>${fillWith('1<sup>2</sup>', size)}`),
  document('a.html of formulas', 100 * KiB, (size) => `<html>${fillWith('<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>', size)}`),
  document(
    'a.html of fractions in fractions',
    100 * KiB,
    (size) => `<html>${fillWith(`<math>${'<mfrac><mi>a</mi>'.repeat(400)}</math>`, size)}`,
  ),
  document(
    'a.html of lists that count down',
    100 * KiB,
    (size) => `<html>${fillWith('<ol reversed><li>a<li>b</ol>', size)}<ol reversed>${fillWith('<li>a', size)}`,
  ),
  document('a.html of hidden parts', 100 * KiB, (size) => `<html>a${fillWith('<b hidden><i>b</i></b>', size)}`),
  document(
    'a.md with a wide row in a long table',
    100 * KiB,
    (size) => `|a|\n|-|\n|${fillWith('b|', 8 * KiB)}\n${fillWith('|c|\n', size)}`,
  ),
  document('a.md of tables with wide rows', 100 * KiB, (size) => fillWith('|a|\n|-|\n|b|c|d|\n\n', size)),
  document('a.md of notes', 100 * KiB, (size) => fillWith('[^1]: b\n', size)),
  document(
    'a.html with a layout below a long row',
    50 * KiB,
    (size) => `<html><table><tr>${fillWith('<td>a', size)}<tr><td><h1>a</h1><td>b${fillWith('<tr><td>a', size)}`,
  ),
  document(
    'a.html of tables in tables',
    100 * KiB,
    (size) => `<html>${fillWith('<table><tr><td>'.repeat(30) + 'a' + '</table>'.repeat(30), size)}`,
  ),
  document('a.html with many ends in a deep place', 100 * KiB, (size) => `<html>${'<i>'.repeat(1990)}${fillWith('</b>', size)}a`),
  document(
    'a.html with many attributes',
    200 * KiB,
    (size) => `<html>a<p ${Array.from({ length: size / 8 }, (_, index) => `a${index}=b`).join(' ')}>`,
  ),
  document('a.eml of many headers', 100 * KiB, (size) => `${head}${fillWith('X-A: b\n', size)}\nhello`),
  document('a.eml to many', 100 * KiB, (size) => `${head}Cc: ${fillWith('a@b.c,', size)}x@y.z\n\nhello`),
  document(
    'a.eml of many parts',
    50 * KiB,
    (size) => `${head}Content-Type: multipart/mixed; boundary=x\n\n${fillWith('--x\n\na\n', size)}--x--`,
  ),
  document('a.eml of short lines', 100 * KiB, (size) => `${head}\n${fillWith('a\n', size)}`),
  document('a.pdf of pages', 20 * KiB, async (size) => makePdf(Array.from({ length: size / 400 }, () => [{ text: 'a', x: 50, y: 700 }]))),
  document('a.pdf with many texts on a page', 20 * KiB, async (size) =>
    makePdf([
      Array.from({ length: size / 100 }, (_, index) => ({ text: 'a', x: 50 + (index % 10) * 50, y: 700 - Math.floor(index / 10) * 12 })),
    ]),
  ),
  document('a.pdf with text far apart', 1 * KiB, async (size) =>
    makePdf([Array.from({ length: size / 50 }, (_, index) => ({ text: 'a', x: (index % 2) * 1e7, y: 700 - index * 12 }))]),
  ),
  document('a.pdf with a long word in many lines', 32 * KiB, async (size) =>
    makePdf([Array.from({ length: size / 100 }, (_, index) => ({ text: 'a'.repeat(100), x: 50, y: 700 - index * 12 }))]),
  ),
  document('a.pdf of saved states', 64 * KiB, async (size) => drawing(fillWith('q ', size) + someText)),
  document('a.pdf of states saved in hexadecimal digits', 64 * KiB, async (size) =>
    drawing(['/Filter /AHx', `${fillWith('7120', size)}>`]),
  ),
  document('a.pdf of forms that draw each other twice', 2 * KiB, async (size) => {
    const count = Math.floor(size / 256);
    const forms = Array.from({ length: count }, (_, index) => formOf(`${someText} /X Do /X Do`, index + 1 < count ? 7 + index : undefined));
    return drawing(`${someText} /X Do`, '/XObject << /X 6 0 R >>', forms);
  }),
  document('a.pdf with one long stream on all pages', 100 * KiB, async (size) =>
    pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Count ${size / 400} /Kids [${Array.from({ length: size / 400 }, (_, index) => `${4 + index} 0 R`).join(' ')}] >>`,
      ['', fillWith('0 0 m ', size / 2) + someText],
      ...Array.from({ length: size / 400 }, () => '<< /Type /Page /Parent 2 0 R /Contents 3 0 R /MediaBox [0 0 9 9] >>'),
    ]),
  ),
  document('a.pdf with one stream many times on a page', 20 * KiB, async (size) =>
    drawing(someText, '', [], `/Contents [${fillWith('4 0 R ', size)}]`),
  ),
  document('a.pdf with many drawn lines on all pages', 20 * KiB, async (size) => {
    const grid = Array.from({ length: 60 }, (_, step) => `${step * 9} 0 m ${step * 9} 600 l S 0 ${step * 9} m 600 ${step * 9} l S `).join(
      '',
    );
    const numbers = Array.from({ length: size / 400 }, (_, index) => 5 + index);
    return pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Count ${numbers.length} /Kids [${numbers.map((number) => `${number} 0 R`).join(' ')}] >>`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
      ['', grid + Array.from({ length: 60 }, (_, row) => `BT /F1 5 Tf ${row * 9 + 1} ${row * 9 + 2} Td (a) Tj ET `).join('')],
      ...numbers.map(
        () => '<< /Type /Page /Parent 2 0 R /Contents 4 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> >>',
      ),
    ]);
  }),
  document('a.pdf with many lines of paths', 32 * KiB, async (size) => drawing(`${fillWith('9 9 90 90 re S ', size)}${someText}`)),
  document('a.pdf with open texts and names', 64 * KiB, async (size) => drawing(['', `${fillWith('(a /b <c ', size)}${someText} re`])),
  document('a.pdf with one form field many times', 8 * KiB, async (size) =>
    drawing(
      someText,
      '',
      ['<< /Type /Annot /Subtype /Widget /Rect [50 500 200 520] /FT /Tx /T (name) /V (Anna) >>'],
      `/Contents 4 0 R /Annots [${fillWith('6 0 R ', size)}]`,
      '/AcroForm << /Fields [6 0 R] >>',
    ),
  ),
  document('a.pdf with open texts for what is drawn', 64 * KiB, async (size) =>
    drawing(['', `${someText} /S BDC ${fillWith('/A<</ActualText(', size)}`]),
  ),
  document('a.pdf with many marks on a page', 16 * KiB, async (size) =>
    drawing(`${fillWith('/S<</ActualText(a)>>BDC 9 Tc BT /F1 9 Tf 9 9 Td (a) Tj ET EMC ', size)}${someText}`),
  ),
  document('a.pdf with marks by many names', 16 * KiB, async (size) =>
    drawing(
      `${Array.from({ length: size / 64 }, (_, index) => `/OC /N${index} BDC BT /F1 9 Tf 9 9 Td (a) Tj ET EMC`).join(' ')} ${someText}`,
      `/Properties << ${Array.from({ length: size / 64 }, (_, index) => `/N${index} 6 0 R`).join(' ')} >>`,
      ['<< /Type /OCG >>'],
    ),
  ),
  document('a.pdf with letters one by one', 8 * KiB, async (size) =>
    drawing(`BT /F1 9 Tf ${fillWith('9 0 Td (a) Tj ', size)} ET ${someText}`),
  ),
  document('a.pdf with elements in each other that have a text', 32 * KiB, async (size) =>
    drawing(
      someText,
      '',
      Array.from({ length: size / 64 }, (_, index) => `<< /S /P /Pg 3 0 R /ActualText (a) /K [${index} ${index + 7} 0 R] >>`),
    ),
  ),
  document('a.pdf with many fonts that need character maps', 2 * KiB, async (size) => drawingWithCharacterMaps(Math.ceil(size / 256))),
  document('a.pdf with wide ranges in a font', 2 * KiB, async (size) =>
    drawingWithMeanings(fillWith('1 beginbfrange <0000> <FFFF> <0000> endbfrange\n', size)),
  ),
  document('a.pdf with wide ranges in many fonts', 4 * KiB, async (size) =>
    drawingWithMeanings('1 beginbfrange <0000> <FFFF> <0000> endbfrange', '[]', size / 512),
  ),
  document('a.pdf with wide ranges of widths', 1 * KiB, async (size) => drawingWithMeanings('', `[${fillWith('0 65535 500 ', size)}]`)),
  ...Object.entries({
    'lists of contents': '/Contents[',
    'lists of filters': '/Filter[',
    'lists of widths': '/W[',
    digits: '1',
    'parts without ends': '9 0 obj ',
    'streams without ends': '9 0 obj<</Contents 9 0 R/ToUnicode 9 0 R>>stream\n',
  }).map(([name, piece]) =>
    document(`a.pdf of open ${name}`, 64 * KiB, async (size) => drawing(someText, '', [`<< /${fillWith(piece, size)}`])),
  ),
  document('a.pdf with bookmarks in bookmarks', 100 * KiB, async (size) => drawingWithBookmarks(size / 50)),
  ...Object.entries(markdownSigns).map(([name, piece]) => document(`a.md of ${name}`, 64 * KiB, (size) => `a ${fillWith(piece, size)}`)),
];
