import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { outlineOf } from '../document-support.ts';
import { makeWord, wordParagraph } from './make-archive.ts';

const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const run = (text: string, properties = '') => `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const paragraph = (...runs: string[]) => `<w:p>${runs.join('')}</w:p>`;
const read = async (body: string, parts?: Record<string, string>) => parseDocument(await makeWord(body, parts), 'a.docx');
const linesOf = async (body: string, parts?: Record<string, string>) => outlineOf(await read(body, parts));

const m = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
const e = (text: string) => `<m:e>${m(text)}</m:e>`;
const inBrackets = (name: string, sign: string) => `<m:${name} m:val="${sign}"/>`;

test.each([
  ['a sum', m('12+a=c'), '12+a=c'],
  ['a fraction', `<m:f><m:num>${m('a+b')}</m:num><m:den>${m('2')}</m:den></m:f>`, '(a+b)/2'],
  [
    'powers and indexes',
    `<m:sSup>${e('x')}<m:sup>${m('2')}</m:sup></m:sSup>${m('+')}<m:sSub>${e('a')}<m:sub>${m('i')}</m:sub></m:sSub>`,
    'x^2+a_i',
  ],
  ['a root', `<m:rad><m:deg>${m('3')}</m:deg>${e('a+b')}</m:rad>`, '3 √(a+b)'],
  [
    'a sum over many',
    `<m:nary><m:naryPr>${inBrackets('chr', '∑')}</m:naryPr><m:sub>${m('i=1')}</m:sub><m:sup>${m('n')}</m:sup>${e('i')}</m:nary>`,
    '∑_(i=1)^n i',
  ],
  ['brackets', `<m:d><m:dPr>${inBrackets('begChr', '[')}${inBrackets('endChr', ']')}</m:dPr>${e('a')}</m:d>`, '[a]'],
  ['a matrix', `<m:d><m:e><m:m><m:mr>${e('1')}${e('2')}</m:mr><m:mr>${e('3')}${e('4')}</m:mr></m:m></m:e></m:d>`, '([1, 2; 3, 4])'],
  ['a function', `<m:func><m:fName>${m('sin')}</m:fName>${e('x')}</m:func>`, 'sin x'],
  ['a sign that markup escapes', m('a &lt; b &amp; c'), 'a < b & c'],
])('%s stands in its sentence', async (_what, formula, shown) => {
  const body = paragraph(run('The price is '), `<m:oMath>${formula}</m:oMath>`, run(' per unit.'));
  expect(await linesOf(body)).toEqual([`p The price is ${shown} per unit.`]);
});

test('formulas on lines of their own, in tables and in notes are read', async () => {
  const formula = (text: string) => `<m:oMathPara><m:oMath>${m(text)}</m:oMath></m:oMathPara>`;
  const notes = `<w:footnotes ${w}><w:footnote w:id="2">${paragraph(formula('v=s/t'))}</w:footnote></w:footnotes>`;
  const body =
    paragraph(formula('E=mc')) +
    `<w:tbl><w:tr><w:tc>${paragraph(run('Area'))}</w:tc><w:tc>${paragraph(formula('A=a·b'))}</w:tc></w:tr></w:tbl>` +
    paragraph(run('Speed'), '<w:r><w:footnoteReference w:id="2"/></w:r>');
  expect(await linesOf(body, { 'word/footnotes.xml': notes })).toEqual(['p E=mc', '| Area | A=a·b', 'p Speed[1]', '- 1. v=s/t']);
});

test('of a text with readings above, the text is read once, and the readings are counted', async () => {
  const ruby = (base: string, reading: string) =>
    `<w:r><w:ruby><w:rubyPr><w:hps w:val="10"/></w:rubyPr><w:rt>${run(reading)}</w:rt><w:rubyBase>${run(base)}</w:rubyBase></w:ruby></w:r>`;
  const document = await read(paragraph(ruby('東', 'とう'), ruby('京', 'きょう'), run('の店')));
  expect(outlineOf(document)).toEqual(['p 東京の店']);
  expect(document.warnings).toEqual([expect.objectContaining({ code: 'readings_left_out', count: 2 })]);
});

test('boxes show whether they are checked, lists to choose from what is chosen', async () => {
  const control = (isOn: string, content: string) =>
    `<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="${isOn}"/><w14:checkedState w14:val="2612"/></w14:checkbox></w:sdtPr><w:sdtContent>${content}</w:sdtContent></w:sdt>`;
  const form = (data: string, code: string) =>
    `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="Check1"/>${data}</w:ffData></w:fldChar></w:r><w:r><w:instrText> ${code} </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`;
  const body =
    paragraph(control('1', run('☒')), run(' Nuts')) +
    paragraph(control('0', run('☐')), run(' Milk')) +
    paragraph(control('1', ''), run(' Eggs')) +
    paragraph(form('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>', 'FORMCHECKBOX'), run(' Fish')) +
    paragraph(form('<w:checkBox><w:default w:val="0"/></w:checkBox>', 'FORMCHECKBOX'), run(' Soy')) +
    paragraph(
      run('Size: '),
      form('<w:ddList><w:result w:val="1"/><w:listEntry w:val="small"/><w:listEntry w:val="large"/></w:ddList>', 'FORMDROPDOWN'),
    );
  expect(await linesOf(body)).toEqual(['p ☑ Nuts', 'p ☐ Milk', 'p ☑ Eggs', 'p ☑ Fish', 'p ☐ Soy', 'p Size: large']);
});

test('hidden text is left out and counted, whether the text or its style hides it', async () => {
  const styles = `<w:styles ${w}><w:style w:type="character" w:styleId="Base"><w:rPr><w:vanish/></w:rPr></w:style><w:style w:type="character" w:styleId="Note"><w:basedOn w:val="Base"/></w:style><w:style w:type="paragraph" w:styleId="Draft"><w:rPr><w:vanish/></w:rPr></w:style></w:styles>`;
  const body =
    paragraph(run('Open at 9'), run(' (staff: 8)', '<w:vanish/>'), run(' daily', '<w:vanish w:val="0"/>')) +
    paragraph(run('Price'), run(' cost 3', '<w:rStyle w:val="Note"/>'), run(' 5', '<w:rStyle w:val="Note"/><w:vanish w:val="false"/>')) +
    wordParagraph('Not decided', '<w:pStyle w:val="Draft"/>');
  const document = await read(body, { 'word/styles.xml': styles });
  expect(outlineOf(document)).toEqual(['p Open at 9 daily', 'p Price 5']);
  expect(document.warnings).toEqual([expect.objectContaining({ code: 'hidden_left_out', count: 3 })]);
});

interface LevelOptions {
  format?: string;
  text: string;
  more?: string;
  start?: number;
}
const levels = (...all: LevelOptions[]) =>
  all
    .map(
      ({ format = 'decimal', text, more = '', start = 1 }, index) =>
        `<w:lvl w:ilvl="${index}"><w:start w:val="${start}"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`,
    )
    .join('');
const numberingOf = (definitions: string[], lists: [definition: number, more?: string][]) => ({
  'word/numbering.xml': `<w:numbering ${w}>${definitions.map((one, index) => `<w:abstractNum w:abstractNumId="${index}">${one}</w:abstractNum>`).join('')}${lists
    .map(([definition, more = ''], index) => `<w:num w:numId="${index + 1}"><w:abstractNumId w:val="${definition}"/>${more}</w:num>`)
    .join('')}</w:numbering>`,
});
const item = (text: string, level = 0, list = 1) =>
  wordParagraph(text, `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`);

test('clauses are numbered on their levels as Word shows them', async () => {
  const parts = numberingOf(
    [levels({ text: 'Section %1', format: 'upperRoman' }, { text: '%1.%2', more: '<w:isLgl/>' }, { text: '(%3)', format: 'lowerLetter' })],
    [[0]],
  );
  const body =
    item('Parties', 0) +
    item('seller', 1) +
    item('name', 2) +
    item('seat', 2) +
    item('buyer', 1) +
    item('Price') +
    item('net', 1) +
    item('sum', 2);
  expect(await linesOf(body, parts)).toEqual([
    '- Section I Parties',
    '- 1.1 seller',
    '- (a) name',
    '- (b) seat',
    '- 1.2 buyer',
    '- Section II Price',
    '- 2.1 net',
    '- (a) sum',
  ]);
});

test('a list begins at its start, goes on after other text, and starts again where it is told to', async () => {
  const override = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>';
  const parts = numberingOf(
    [levels({ text: '%1)', start: 5 }, { text: '%1.%2', more: '<w:lvlRestart w:val="0"/>' })],
    [[0], [0, override], [0]],
  );
  const body =
    item('a') +
    wordParagraph('between') +
    item('b') +
    item('c', 1) +
    item('d') +
    item('e', 1) +
    item('f', 0, 2) +
    item('g', 0, 2) +
    item('h', 0, 3) +
    item('i', 0, 0);
  expect(await linesOf(body, parts)).toEqual([
    '- 5) a',
    'p between',
    '- 6) b',
    '- 6.1 c',
    '- 7) d',
    '- 7.2 e',
    '- 1) f',
    '- 2) g',
    '- 3) h',
    'p i',
  ]);
});

test('headings that a style numbers have their numbers, bullets have none, and deleted text counts for nothing', async () => {
  const style = (id: string, name: string, more: string) =>
    `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;
  const numbered = '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>';
  const styles = `<w:styles ${w}>${style('H1', 'heading 1', numbered)}${style('H2', 'heading 2', `<w:basedOn w:val="H1"/>${numbered}`)}</w:styles>`;
  const parts = {
    'word/styles.xml': styles,
    ...numberingOf(
      [
        levels({ text: '%1', more: '<w:pStyle w:val="H1"/>' }, { text: '%1.%2', more: '<w:pStyle w:val="H2"/>' }),
        levels({ text: '•', format: 'bullet' }),
      ],
      [[0], [1]],
    ),
  };
  const heading = (text: string, id: string) => wordParagraph(text, `<w:pStyle w:val="${id}"/>`);
  const deleted = `<w:p><w:pPr><w:pStyle w:val="H1"/><w:rPr><w:del w:id="1"/></w:rPr></w:pPr><w:del w:id="2"><w:r><w:delText>Old</w:delText></w:r></w:del></w:p>`;
  const body =
    heading('Scope', 'H1') + heading('Goods', 'H2') + deleted + item('cups', 0, 2) + heading('Terms', 'H1') + heading('Term', 'H2');
  expect(await linesOf(body, parts)).toEqual(['h1 1 Scope', 'h2 1.1 Goods', '- cups', 'h1 2 Terms', 'h2 2.1 Term']);
});

test.each([
  ['decimalZero', ['01', '02', '09', '10', '27']],
  ['upperLetter', ['A', 'B', 'I', 'J', 'AA']],
  ['lowerRoman', ['i', 'ii', 'ix', 'x', 'xxvii']],
  ['ordinal', ['1st', '2nd', '9th', '10th', '27th']],
  ['ordinalText', ['First', 'Second', 'Ninth', 'Tenth', 'Twenty-seventh']],
  ['cardinalText', ['One', 'Two', 'Nine', 'Ten', 'Twenty-seven']],
  ['chineseCounting', ['一', '二', '九', '十', '二十七']],
  ['decimalEnclosedCircle', ['①', '②', '⑨', '⑩', '27']],
  ['russianLower', ['а', 'б', 'и', 'к', 'э']],
  ['none', ['', '', '', '', '']],
])('a list is numbered in the format %s', async (format, labels) => {
  const starts = [1, 2, 9, 10, 27];
  const parts = numberingOf(
    starts.map((start) => levels({ text: '%1', format, start })),
    starts.map((_, index) => [index]),
  );
  const body = starts.map((_, index) => item('x', 0, index + 1)).join('');
  expect(await linesOf(body, parts)).toEqual(labels.map((label) => `- ${`${label} x`.trim()}`));
});

test('a list of thousands of items goes on where the document is cut for reading', async () => {
  const parts = numberingOf([levels({ text: '%1.' })], [[0]]);
  const body = Array.from({ length: 4000 }, (_, index) => item(`Item ${index + 1}`)).join('');
  expect(await linesOf(body, parts)).toEqual(Array.from({ length: 4000 }, (_, index) => `- ${index + 1}. Item ${index + 1}`));
});

test('headers come first and footers last, each line once and without page numbers', async () => {
  const field = (code: string) =>
    `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> ${code} </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${run('7')}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
  const header = `<w:hdr ${w}>${paragraph(run('Acme Ltd'), '<w:r><w:tab/></w:r>', run('Returns policy'))}</w:hdr>`;
  const footer = (page: string) => `<w:ftr ${w}>${paragraph(run('Hotline 0800 123 456'), '<w:r><w:tab/></w:r>', page)}</w:ftr>`;
  const parts = {
    'word/header1.xml': header,
    'word/header2.xml': header,
    'word/footer1.xml': footer(`${run('Page ')}${field('PAGE')}${run(' of ')}${field('NUMPAGES')}`),
    'word/footer2.xml': footer(`${run('Page ')}<w:fldSimple w:instr=" PAGE ">${run('8')}</w:fldSimple>`),
  };
  expect(await linesOf(wordParagraph('Send it back.'), parts)).toEqual([
    'p Acme Ltd | Returns policy',
    'p Send it back.',
    'p Hotline 0800 123 456',
  ]);
});

test('charts are read as tables and once, text boxes once, and texts in fields that have no marks', async () => {
  const series = (name: string, values: number[]) =>
    `<c:ser><c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>${name}</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>North</c:v></c:pt><c:pt idx="1"><c:v>South</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:formatCode>0%</c:formatCode>${values.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join('')}</c:numCache></c:numRef></c:val></c:ser>`;
  const chart = `<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>${series('2023', [0.1, 0.25])}${series('2024', [0.5, 1])}</c:barChart></c:plotArea></c:chart></c:chartSpace>`;
  const box = (text: string) => `<w:txbxContent>${paragraph(run(text))}</w:txbxContent>`;
  const body =
    paragraph(
      run('See below.'),
      '<w:r><w:drawing><wp:inline><a:graphic><a:graphicData><c:chart r:id="r1"/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>',
    ) +
    paragraph('<w:r><w:drawing><c:chart r:id="r1"/></w:drawing></w:r>') +
    paragraph(
      run('After'),
      `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><wps:wsp><wps:txbx>${box('In a box')}</wps:txbx></wps:wsp></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>${box('In a box')}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>`,
    ) +
    paragraph(`<w:fldSimple w:instr="AUTHOR">${run('Ada')}</w:fldSimple>`);
  expect(await linesOf(body, { 'word/charts/chart1.xml': chart })).toEqual([
    'p See below.',
    'p Sales',
    '| | 2023 | 2024',
    '| North | 10% | 50%',
    '| South | 25% | 100%',
    'p After',
    'p In a box',
    'p Ada',
  ]);
});

const drawing = (properties: string, content = '') =>
  `<w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" ${properties}/>${content}</wp:inline></w:drawing></w:r>`;
const picture =
  '<a:graphic><a:graphicData><pic:pic><pic:nvPicPr><pic:cNvPr id="2" name="x.png" descr="C:\\x.png"/></pic:nvPicPr><pic:blipFill><a:blip r:embed="r9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic>';

test('a picture is read by its description where it stands, once', async () => {
  const cell = (content: string) => `<w:tc>${paragraph(content)}</w:tc>`;
  const notes = `<w:footnotes ${w}><w:footnote w:id="2">${paragraph(drawing('descr="Plan of floor 2"', picture))}</w:footnote></w:footnotes>`;
  const body =
    paragraph(run('Find us here:'), drawing('descr="Map: Main &amp; Station Street&#10;5"', picture), run('daily.')) +
    paragraph(drawing('title="Our door"')) +
    paragraph(drawing('title="Sales" descr="Sales of 2026"')) +
    paragraph(drawing('title="Door" descr="Blue, left"'), drawing('descr=""', picture)) +
    `<w:tbl><w:tr>${cell(run('Logo'))}${cell(drawing('descr="A red kettle"'))}</w:tr></w:tbl>` +
    paragraph(run('Floors'), '<w:r><w:footnoteReference w:id="2"/></w:r>');
  expect(await linesOf(body, { 'word/footnotes.xml': notes })).toEqual([
    'p Find us here: Map: Main & Station Street 5 daily.',
    'p Our door',
    'p Sales of 2026',
    'p Door: Blue, left',
    '| Logo | A red kettle',
    'p Floors[1]',
    '- 1. Plan of floor 2',
  ]);
});

test('pictures that no text describes are counted', async () => {
  const blip = (id: string) => `<a:graphic><pic:pic><pic:blipFill><a:blip r:embed="${id}"/></pic:blipFill></pic:pic></a:graphic>`;
  const document = await read(
    paragraph(drawing('descr="Map"', blip('r1')), drawing('descr=" "', blip('r2')), drawing('', blip('r3'))) +
      paragraph('<w:r><w:pict><v:shape alt="Door"><v:imagedata r:id="r4"/></v:shape></w:pict></w:r>'),
    { 'word/media/image1.png': 'x', 'word/media/image2.png': 'x', 'word/media/image3.jpg': 'x', 'word/media/image4.emf': 'x' },
  );
  expect(outlineOf(document)).toEqual(['p Map', 'p Door']);
  expect(document.warnings).toMatchObject([{ code: 'images_skipped', count: 2 }]);
});

test('each described picture of a group is read, and what is not shown is counted', async () => {
  const shape = (descr: string) => `<pic:pic><pic:nvPicPr><pic:cNvPr id="3" descr="${descr}"/></pic:nvPicPr></pic:pic>`;
  const group = `<a:graphic><a:graphicData><wpg:wgp>${shape('Step 1: open')}${shape('Step 2: shut')}${shape('How to')}</wpg:wgp></a:graphicData></a:graphic>`;
  const body =
    paragraph(drawing('descr="How to"', group)) +
    paragraph(drawing('descr="Secret map" hidden="1"'), run('shown')) +
    paragraph(`<w:r><w:rPr><w:vanish/></w:rPr><w:drawing><wp:docPr descr="Draft"/></w:drawing></w:r>`);
  const document = await read(body);
  expect(outlineOf(document)).toEqual(['p How to Step 1: open Step 2: shut', 'p shown']);
  expect(document.warnings).toEqual([expect.objectContaining({ code: 'hidden_left_out', count: 1 })]);
});

test('words that are drawn are read, in files of every age, and once', async () => {
  const wordArt = (text: string, more = '') =>
    `<w:pict><v:shapetype id="t"><v:textpath on="t" fitshape="t"/></v:shapetype><v:shape type="#t" ${more}><v:textpath on="t" string="${text}"/></v:shape></w:pict>`;
  const box = (text: string) => `<w:txbxContent>${paragraph(run(text))}</w:txbxContent>`;
  const body =
    paragraph(run('Come'), `<w:r>${wordArt('Summer sale &amp; more')}</w:r>`) +
    paragraph(`<w:r>${wordArt('Only today', 'alt="Only today"')}</w:r>`) +
    paragraph(
      `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><wp:docPr id="5" descr="A star"/><wps:wsp><wps:txbx>${box('New 7')}</wps:txbx></wps:wsp></wp:anchor></w:drawing></mc:Choice><mc:Fallback>${wordArt('New 7', 'alt="A star"')}</mc:Fallback></mc:AlternateContent></w:r>`,
    ) +
    paragraph('<w:r><w:pict><v:group alt="Two kettles"><v:shape><v:imagedata r:id="r9"/></v:shape></v:group></w:pict></w:r>') +
    paragraph('<w:r><w:object><v:shape alt="Table of prices"><v:imagedata r:id="r9"/></v:shape><o:OLEObject r:id="r8"/></w:object></w:r>') +
    paragraph(
      `<w:r><w:drawing><lc:lockedCanvas><a:sp><a:txSp><a:txBody><a:p><a:r><a:t>On a canvas</a:t></a:r></a:p></a:txBody></a:txSp></a:sp></lc:lockedCanvas></w:drawing></w:r>`,
    );
  expect(await linesOf(body)).toEqual([
    'p Come Summer sale & more',
    'p Only today',
    'p A star',
    'p New 7',
    'p Two kettles',
    'p Table of prices',
    'p On a canvas',
  ]);
});

test('symbols of fonts are read as Unicode has them, whether an element, the run or its style names the font', async () => {
  const symbol = (font: string, code: string) => `<w:r><w:sym w:font="${font}" w:char="${code}"/></w:r>`;
  const font = (name: string) => `<w:rFonts w:ascii="${name}" w:hAnsi="${name}"/>`;
  const styles = `<w:styles ${w}><w:style w:type="character" w:styleId="Sign"><w:rPr>${font('Wingdings 2')}</w:rPr></w:style></w:styles>`;
  const body =
    paragraph(run('Is '), symbol('Wingdings', 'F0FC'), run(' yes '), symbol('Wingdings', 'FB'), run(' no '), symbol('Arial', '00E9')) +
    paragraph(run('90'), run('\uf0b0', font('Symbol')), run(' at '), run('a', font('Symbol')), run(' < '), run('\uf0a5', font('symbol'))) +
    paragraph(run('P', '<w:rStyle w:val="Sign"/>'), run(' done, '), run('P', '<w:rStyle w:val="Sign"/><w:rFonts w:ascii="Arial"/>'));
  const document = await read(body, { 'word/styles.xml': styles });
  expect(outlineOf(document)).toEqual(['p Is ✓ yes 🗶 no é', 'p 90° at α < ∞', 'p 🗸 done, P']);
  expect(document.warnings).toEqual([]);
});

test('symbols that have no known equivalent are counted by their fonts', async () => {
  const symbol = (font: string, code = 'F041') => `<w:r><w:sym w:font="${font}" w:char="${code}"/></w:r>`;
  const header = `<w:hdr ${w}>${paragraph(run('Acme'), symbol('MT Extra'), run('\uf0fe', '<w:rFonts w:ascii="Wingdings"/>'))}</w:hdr>`;
  const body = paragraph(
    run('Press '),
    symbol('MT Extra'),
    symbol('MT Extra'),
    run('\uf025', '<w:rFonts w:ascii="Font Awesome" w:hAnsi="Font Awesome"/>'),
    run(' and \uf0b7 go'),
    symbol('Bad', 'zz'),
  );
  const document = await read(body, { 'word/header1.xml': header });
  expect(outlineOf(document)).toEqual(['p Acme🗹', 'p Press and go']);
  expect(document.warnings).toEqual([
    {
      code: 'symbols_unread',
      count: 6,
      message:
        '6 symbols were not read, since Unicode has no sign that is known to be the same (3 of the font MT Extra, 1 of the font Font Awesome, 1 of a font that is not named, 1 of the font Bad); put words in the place of those that matter',
    },
  ]);
});

test('pictures and words behind the text of headers are read with their line', async () => {
  const header = `<w:hdr ${w}>${paragraph(drawing('descr="Logo of Acme"', picture), '<w:r><w:tab/></w:r>', run('Policy'))}${paragraph('<w:r><w:pict><v:shape><v:textpath string="CONFIDENTIAL"/></v:shape></w:pict></w:r>')}</w:hdr>`;
  expect(await linesOf(wordParagraph('x'), { 'word/header1.xml': header })).toEqual(['p Logo of Acme | Policy', 'p CONFIDENTIAL', 'p x']);
});

test('included documents, embedded files and charts of newer kinds are counted as left out', async () => {
  const part = '<a/>';
  const document = await read(paragraph(run('Text')), {
    'word/aFChunk1.xml': part,
    'word/oleObject1.xml': part,
    'word/chartEx1.xml': part,
  });
  expect(outlineOf(document)).toEqual(['p Text']);
  expect(document.warnings).toEqual([expect.objectContaining({ code: 'embedded_left_out', count: 3 })]);
});

test('cells of a row that begins or ends within the table stay in their columns', async () => {
  const cell = (text: string) => `<w:tc>${paragraph(run(text))}</w:tc>`;
  const row = (properties: string, ...texts: string[]) => `<w:tr><w:trPr>${properties}</w:trPr>${texts.map(cell).join('')}</w:tr>`;
  const body = `<w:tbl>${row('', 'a', 'b', 'c')}${row('<w:gridBefore w:val="1"/>', 'd', 'e')}${row('<w:gridAfter w:val="2"/>', 'f')}</w:tbl>`;
  expect(await linesOf(body)).toEqual(['| a | b | c', '| | d | e', '| f']);
});

test('a name beside a page number is kept', async () => {
  const page = `<w:fldSimple w:instr=" PAGE ">${run('8')}</w:fldSimple>`;
  const parts = {
    'word/footer1.xml': `<w:ftr ${w}>${paragraph(run('Acme Ltd '), page)}</w:ftr>`,
    'word/footer2.xml': `<w:ftr ${w}>${paragraph(run('Seite '), page)}</w:ftr>`,
  };
  expect(await linesOf(wordParagraph('x'), parts)).toEqual(['p x', 'p Acme Ltd']);
});

test('comments are counted; line breaks of old files keep words apart', async () => {
  const comments = `<w:comments ${w}><w:comment w:id="1">${paragraph(run('why?'))}</w:comment></w:comments>`;
  const body = paragraph('<w:r><w:t>a</w:t><w:cr/><w:t>b</w:t></w:r>');
  const document = await read(body, { 'word/comments.xml': comments });
  expect(outlineOf(document)).toEqual(['p a\nb']);
  expect(document.warnings.map(({ code, count }) => [code, count])).toEqual([['comments_left_out', 1]]);
});

test('breaks of pages and columns keep words apart', async () => {
  expect(await linesOf(paragraph('<w:r><w:t>end</w:t><w:br w:type="page"/><w:t>begin</w:t></w:r>'))).toEqual(['p end\nbegin']);
});

const fieldTexts = [
  ['a fraction', String.raw` EQ \f(1,2) `, '1/2'],
  ['a fraction of sums', String.raw`eq \f(a+b;2)`, '(a+b)/2'],
  ['a number in a circle', String.raw` eq \o\ac(○,3) `, '③'],
  ['signs above each other', String.raw`EQ \o(0,/)`, '0/'],
  ['a root', String.raw`EQ \r(3,x) + \r(y)`, '3√x + √y'],
  ['raised and lowered signs', String.raw`EQ x\s\up5(2) + y\s\do4(n)`, 'x^2 + y_n'],
  ['a sum', String.raw`EQ \i\su(1,5,3x)`, '∑_1^5 3x'],
  ['brackets, a box and a list', String.raw`EQ \b\bc\[(\x(a)) \l(1,2,3)`, '(a) 1, 2, 3'],
  ['an array in a fraction', String.raw`EQ \f(\a\al\co2(1,2),\f(3,(4)))`, '(1, 2)/(3/(4))'],
  ['escaped signs', String.raw`EQ \f(1\,5,2)`, '1,5/2'],
  ['a symbol', String.raw` SYMBOL 252 \f "Wingdings" \s 12 `, '✓'],
  ['a symbol by its number in hex', String.raw`SYMBOL 0xFC \f Wingdings`, '✓'],
  ['a symbol of the font Symbol', String.raw`symbol 97`, 'α'],
  ['a quote', 'QUOTE "ten days"', 'ten days'],
  ['the words of a button', 'MACROBUTTON Order Click here', 'Click here'],
  ['no text by a link', 'HYPERLINK "http://x.y"', ''],
  ['no text by a page', 'PAGE', ''],
] as const;

const mark = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;
const instruction = (text: string) => `<w:r><w:instrText xml:space="preserve">${text.replaceAll('"', '&quot;')}</w:instrText></w:r>`;

test.each(fieldTexts)('a field that Word computes as it shows it is read: %s', async (_, text, shown) => {
  const simple = `<w:fldSimple w:instr="${text.replaceAll('"', '&quot;')}"/>`;
  for (const field of [
    mark('begin') + instruction(text) + mark('end'),
    mark('begin') + instruction(text.slice(0, 5)) + instruction(text.slice(5)) + mark('separate') + mark('end'),
    simple,
  ])
    expect(await linesOf(paragraph(run('Take '), field, run(' of it')))).toEqual([`p Take ${shown} of it`.replace(/ +/g, ' ')]);
});

test.each([
  ['= 2+3', 1],
  ['=SUM(ABOVE)', 1],
  ['REF price', 1],
  ['DOCPROPERTY "Due date"', 1],
  ['MERGEFIELD name', 1],
  ['PAGE', 0],
  ['TOC \\o "1-3"', 0],
  ['HYPERLINK "http://x.y"', 0],
])('a field whose text only Word can tell is counted where the file has none: %s', async (text, count) => {
  const fieldWith = (result: string) =>
    paragraph(run('Due '), mark('begin'), instruction(text), mark('separate'), result, mark('end'), run(' days'));
  const warningsOf = async (body: string) => (await read(body)).warnings.map((one) => [one.code, one.count]);
  expect(await warningsOf(fieldWith(''))).toEqual(count === 0 ? [] : [['formulas_left_out', count]]);
  expect(await warningsOf(fieldWith(run('5')))).toEqual([]);
});

test('a field with a stored result is read by that, also around other fields', async () => {
  const inner = mark('begin') + instruction('QUOTE "1"') + mark('end');
  const field = (result: string) => mark('begin') + instruction('EQ \\f(1,2)') + mark('separate') + result + mark('end');
  expect(await linesOf(paragraph(run('a '), field(run('half')), run(' b')))).toEqual(['p a half b']);
  expect(await linesOf(paragraph(run('a '), mark('begin'), instruction('EQ \\f('), inner, instruction(',3)'), mark('end')))).toEqual([
    'p a 1/3',
  ]);
  const hidden = '<w:r><w:rPr><w:vanish/></w:rPr><w:instrText>EQ \\f(1,2)</w:instrText></w:r>';
  expect(await linesOf(paragraph(run('a'), mark('begin'), hidden, mark('end')))).toEqual(['p a']);
});

test('deep and broken instructions are read in time that grows with them', async () => {
  for (const text of ['EQ ' + '\\f(('.repeat(3000), 'EQ ' + '\\o\\ac'.repeat(2500), 'EQ ' + '(,'.repeat(8000), 'EQ \\', 'EQ \\f(1'])
    expect((await linesOf(paragraph(run('a '), mark('begin'), instruction(text), mark('end'), run(' end')))).join()).toContain('end');
});
