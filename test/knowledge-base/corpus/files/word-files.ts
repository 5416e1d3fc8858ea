import { heading, item, table, text, type CorpusFile, type Part } from '../source.ts';
import {
  listProperties,
  numberingPart,
  paragraphOf,
  toWord,
  wordCell,
  wordParagraph,
  wordPart,
  wordRow,
  wordRun,
  wordTable,
  type NumberedLevel,
} from '../write/write-word.ts';

const file = (
  name: string,
  body: string,
  source: Part[],
  { parts = {}, ...more }: Partial<CorpusFile> & { parts?: Record<string, string> } = {},
): CorpusFile => ({ name: `${name}.docx`, bytes: () => toWord(body, parts), source, ...more });

const listItem = (content: string, depth = 0, list = 1) => wordParagraph(content, listProperties(list, depth));
const numbering = (...lists: { levels: NumberedLevel[]; more?: string }[]) => ({ 'word/numbering.xml': numberingPart(lists) });
const head = (level: number, content: string) => wordParagraph(content, `<w:pStyle w:val="H${level}"/>`);
const rowOf = (...cells: string[]) => wordRow(cells.map((cell) => wordCell(cell)));
const field = (code: string, shown: string) =>
  `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> ${code} </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${wordRun(shown)}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
const tab = '<w:r><w:tab/></w:r>';
const box = (content: string) =>
  `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><wps:wsp><wps:txbx><w:txbxContent>${content}</w:txbxContent></wps:txbx></wps:wsp></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>${content}</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>`;
const points = (values: (string | number)[]) => values.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join('');
const series = (name: string, values: number[]) =>
  `<c:ser><c:tx><c:strRef><c:strCache>${points([name])}</c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache>${points(['North', 'South'])}</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:formatCode>0.0%</c:formatCode>${points(values)}</c:numCache></c:numRef></c:val></c:ser>`;
const chart = `<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>${series('2025', [0.125, 0.25])}${series('2026', [0.5, 1])}</c:barChart><c:catAx><c:title><c:tx><c:rich><a:p><a:r><a:t>Region</a:t></a:r></a:p></c:rich></c:tx></c:title></c:catAx></c:plotArea></c:chart></c:chartSpace>`;
const note = (id: number, content: string) => `<w:footnote w:id="${id}">${wordParagraph(content)}</w:footnote>`;

const lists: CorpusFile[] = [
  file(
    'clauses',
    listItem('Parties') +
      listItem('seller', 1) +
      listItem('name', 2) +
      listItem('buyer', 1) +
      wordParagraph('between 5') +
      listItem('Price') +
      listItem('net', 1),
    [
      item('Section I', 'Parties'),
      item('1.1', 'seller', 1),
      item('(a)', 'name', 2),
      item('1.2', 'buyer', 1),
      text('between 5'),
      item('Section II', 'Price'),
      item('2.1', 'net', 1),
    ],
    {
      parts: numbering({
        levels: [
          { text: 'Section %1', format: 'upperRoman' },
          { text: '%1.%2', more: '<w:isLgl/>' },
          { text: '(%3)', format: 'lowerLetter' },
        ],
      }),
    },
  ),
  file(
    'starts-and-restarts',
    listItem('five') + listItem('six') + listItem('one', 0, 2) + listItem('two', 0, 2) + listItem('seven'),
    [item('5)', 'five'), item('6)', 'six'), item('1)', 'one'), item('2)', 'two'), item('7)', 'seven')],
    { parts: numbering({ levels: [{ text: '%1)', start: 5 }] }, { levels: [{ text: '%1)' }] }) },
  ),
  file(
    'formats',
    ['aa', 'bb', 'cc', 'dd', 'ee', 'ff'].map((content, index) => listItem(content, 0, index + 1)).join(''),
    [item('BB.', 'aa'), item('xiv.', 'bb'), item('07.', 'cc'), item('3rd', 'dd'), item('十二、', 'ee'), item('②', 'ff')],
    {
      parts: numbering(
        { levels: [{ text: '%1.', format: 'upperLetter', start: 28 }] },
        { levels: [{ text: '%1.', format: 'lowerRoman', start: 14 }] },
        { levels: [{ text: '%1.', format: 'decimalZero', start: 7 }] },
        { levels: [{ text: '%1', format: 'ordinal', start: 3 }] },
        { levels: [{ text: '%1、', format: 'chineseCounting', start: 12 }] },
        { levels: [{ text: '%1', format: 'decimalEnclosedCircle', start: 2 }] },
      ),
    },
  ),
  file('bullets-in-numbers', listItem('one') + listItem('dash', 1, 2) + listItem('dot', 1, 2) + listItem('two'), [
    item('1.', 'one'),
    item('', 'dash', 1),
    item('', 'dot', 1),
    item('2.', 'two'),
  ]),
];

const tables: CorpusFile[] = [
  file(
    'merged-cells',
    wordTable([
      wordRow([wordCell('Item'), wordCell('Size', '<w:gridSpan w:val="2"/>'), wordCell('Price')], '<w:tblHeader/>'),
      wordRow([wordCell('Kettle', '<w:vMerge w:val="restart"/>'), wordCell('1 l'), wordCell(''), wordCell('49')]),
      wordRow([wordCell('', '<w:vMerge/>'), wordCell('2 l'), wordCell('steel'), wordCell('59')]),
      wordRow([wordCell('Delivery', '<w:gridSpan w:val="3"/>'), wordCell('5')]),
    ]),
    [table(['Item', 'Size', '', 'Price'], ['Kettle', '1 l', '', '49'], ['Kettle', '2 l', 'steel', '59'], ['Delivery', '', '', '5'])],
  ),
  file(
    'rows-that-begin-later',
    wordTable([
      rowOf('Day', 'From', 'To'),
      wordRow([wordCell('9'), wordCell('18')], '<w:gridBefore w:val="1"/>'),
      wordRow([wordCell('Sun')], '<w:gridAfter w:val="2"/>'),
      wordRow([wordCell('14')], '<w:gridBefore w:val="2"/>'),
    ]),
    [table(['Day', 'From', 'To'], ['', '9', '18'], ['Sun'], ['', '', '14'])],
  ),
  file(
    'table-in-a-table',
    wordTable([wordRow([wordCell('Plan 1'), wordCell(wordTable([rowOf('Day', 'Hours'), rowOf('Mon', '9')]) + wordParagraph('below 3'))])]),
    [text('Plan 1'), table(['Day', 'Hours'], ['Mon', '9']), text('below 3')],
  ),
  file(
    'cells-of-lines-and-lists',
    wordTable([
      rowOf('Step', 'What'),
      wordRow([wordCell('A'), wordCell(listItem('first') + listItem('second'))]),
      rowOf('B', 'two\nlines 5'),
    ]),
    [table(['Step', 'What'], ['A', '1. first 2. second'], ['B', 'two lines 5'])],
  ),
  file(
    'wide-table',
    wordTable(
      [0, 1, 2].map((row) =>
        rowOf(...Array.from({ length: 30 }, (_, column) => (row === 2 && column % 29 !== 0 ? '' : `r${row}c${column}`))),
      ),
    ),
    [
      table(
        ...[0, 1, 2].map((row) => Array.from({ length: 30 }, (_, column) => (row === 2 && column % 29 !== 0 ? '' : `r${row}c${column}`))),
      ),
    ],
  ),
  file('long-table', wordTable(Array.from({ length: 1200 }, (_, row) => rowOf(`Item ${row}`, '', String(row * 3)))), [
    table(...Array.from({ length: 1200 }, (_, row) => [`Item ${row}`, '', String(row * 3)])),
  ]),
];

const others: CorpusFile[] = [
  file(
    'notes',
    paragraphOf(
      wordRun('Items go back') +
        '<w:r><w:footnoteReference w:id="2"/></w:r>' +
        wordRun(' in time') +
        '<w:r><w:endnoteReference w:id="3"/></w:r>' +
        wordRun('.'),
    ) + wordParagraph('Next 7.'),
    [text('Items go back[1] in time[2].'), text('Next 7.'), item('1.', 'Except gift cards 5.'), item('2.', 'Of 45 days.')],
    {
      parts: {
        'word/footnotes.xml': wordPart('footnotes', note(2, 'Except gift cards 5.')),
        'word/endnotes.xml': wordPart('endnotes', note(3, 'Of 45 days.').replaceAll('w:footnote', 'w:endnote')),
      },
    },
  ),
  file(
    'headers-and-footers',
    head(1, 'Returns') + wordParagraph('Send it back 1.'),
    [text('Acme Ltd | Policy 12'), text('Acme'), heading(1, 'Returns'), text('Send it back 1.'), text('Hotline 0800 123')],
    {
      parts: {
        'word/header1.xml': wordPart('hdr', paragraphOf(wordRun('Acme Ltd') + tab + wordRun('Policy 12'))),
        'word/header2.xml': wordPart('hdr', paragraphOf(wordRun('Acme ') + field('PAGE', '3'))),
        'word/footer1.xml': wordPart(
          'ftr',
          paragraphOf(wordRun('Hotline 0800 123') + tab + wordRun('Page ') + field('PAGE', '3') + wordRun(' of ') + field('NUMPAGES', '9')),
        ),
        'word/footer2.xml': wordPart(
          'ftr',
          paragraphOf(wordRun('Seite ') + field('PAGE', '4') + wordRun(' von ') + field('NUMPAGES', '9')),
        ),
      },
    },
  ),
  file(
    'boxes-and-charts',
    paragraphOf(wordRun('Before 1') + box(wordParagraph('In a box 2') + wordParagraph('and line 3'))) +
      paragraphOf(
        wordRun('See') +
          '<w:r><w:drawing><wp:inline><a:graphic><a:graphicData><c:chart r:id="r3"/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>',
      ) +
      paragraphOf(
        '<w:r><w:pict xmlns:v="urn:schemas-microsoft-com:vml"><v:oval><v:textbox><w:txbxContent>' +
          wordParagraph('In an oval 8') +
          '</w:txbxContent></v:textbox></v:oval></w:pict></w:r>',
      ) +
      wordParagraph('After 4'),
    [
      text('Before 1'),
      text('In a box 2'),
      text('and line 3'),
      text('See'),
      text('Sales Region'),
      table(['', '2025', '2026'], ['North', '12.5%', '50.0%'], ['South', '25.0%', '100.0%']),
      text('In an oval 8'),
      text('After 4'),
    ],
    { parts: { 'word/charts/chart1.xml': chart } },
  ),
  file(
    'described-drawings',
    paragraphOf(
      wordRun('Find us 1') +
        '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" title="Map" descr="Main Street 5"/><a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:embed="r9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>' +
        wordRun('or call 2'),
    ) +
      paragraphOf('<w:r><w:pict><v:shape><v:textpath on="t" string="Summer sale 3"/></v:shape></w:pict></w:r>') +
      paragraphOf(
        '<w:r><w:drawing><wp:inline><wp:docPr id="2" descr="How it works"/><a:graphic><a:graphicData><dgm:relIds r:dm="r3"/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>',
      ) +
      wordParagraph('After 4'),
    [
      text('Find us 1 Map: Main Street 5 or call 2'),
      text('Summer sale 3'),
      text('How it works'),
      text('pack 5'),
      text('send 6'),
      text('After 4'),
    ],
    {
      parts: {
        'word/diagrams/diagramData1.xml':
          '<dgm:dataModel><dgm:ptLst><dgm:pt type="doc"><dgm:t><a:p/></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p><a:r><a:t>pack 5</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p><a:r><a:t>send 6</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>',
      },
    },
  ),
  file(
    'symbols',
    paragraphOf(
      '<w:r><w:sym w:font="Symbol" w:char="F061"/></w:r>' +
        wordRun(' is 5') +
        wordRun('\uf0b0', '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/>') +
        wordRun(' ') +
        wordRun('\u00fe', '<w:rFonts w:ascii="Wingdings" w:hAnsi="Wingdings"/>') +
        wordRun(' paid 6 '),
    ),
    [text('α is 5° 🗹 paid 6')],
  ),
  file(
    'symbols-of-other-fonts',
    paragraphOf(wordRun('Press 1 ') + '<w:r><w:sym w:font="Keys 3" w:char="F041"/></w:r>' + wordRun('twice 2')),
    [text('Press 1 twice 2')],
    { warned: ['symbols_unread'] },
  ),
  file(
    'changes',
    paragraphOf(
      wordRun('It costs ') +
        '<w:del w:id="1"><w:r><w:delText>5</w:delText></w:r></w:del>' +
        `<w:ins w:id="2">${wordRun('6')}</w:ins>` +
        wordRun(' euros') +
        `<w:moveFrom w:id="3">${wordRun(' now')}</w:moveFrom><w:moveTo w:id="4">${wordRun(' today')}</w:moveTo>`,
    ),
    [text('It costs 6 euros today')],
  ),
  file(
    'comments',
    paragraphOf(
      `<w:commentRangeStart w:id="1"/>${wordRun('Price 5')}<w:commentRangeEnd w:id="1"/><w:r><w:commentReference w:id="1"/></w:r>`,
    ),
    [text('Price 5')],
    {
      leftOut: { comments_left_out: 'Really' },
      parts: { 'word/comments.xml': wordPart('comments', `<w:comment w:id="1" w:author="Ada">${wordParagraph('Really?')}</w:comment>`) },
    },
  ),
  file(
    'breaks-and-signs',
    paragraphOf(
      `<w:r><w:t>one</w:t><w:cr/><w:t>two</w:t><w:br/><w:t>three</w:t><w:tab/><w:t>four</w:t><w:noBreakHyphen/><w:t>4</w:t><w:softHyphen/><w:t>b</w:t></w:r>` +
        wordRun(' 10') +
        wordRun('6', '<w:vertAlign w:val="superscript"/>') +
        wordRun(' m') +
        wordRun('2', '<w:vertAlign w:val="superscript"/>') +
        `<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>`,
    ),
    [text('one\ntwo\nthree four‑4b 10^6 m2✓')],
  ),
  file(
    'fields-and-controls',
    paragraphOf(
      `<w:fldSimple w:instr="AUTHOR">${wordRun('Ada 1')}</w:fldSimple> ${wordRun(' and ')}${field('REF x', 'clause 2.1')}` +
        `<w:smartTag>${wordRun(' smart 3')}</w:smartTag><w:customXml>${wordRun(' custom 4')}</w:customXml><w:bdo w:val="rtl">${wordRun(' bdo 5')}</w:bdo>` +
        `<w:hyperlink r:id="r99">${wordRun(' link 6')}</w:hyperlink>`,
    ) +
      `<w:sdt><w:sdtPr><w:alias w:val="x"/></w:sdtPr><w:sdtContent>${wordParagraph('in a control 7')}</w:sdtContent></w:sdt>` +
      paragraphOf(
        `<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr><w:sdtContent>${wordRun('☒')}</w:sdtContent></w:sdt>${wordRun(' Nuts 8')}`,
      ),
    [text('Ada 1 and clause 2.1 smart 3 custom 4 bdo 5 link 6'), text('in a control 7'), text('☑ Nuts 8')],
  ),
  file(
    'formulas',
    paragraphOf(
      wordRun('Area ') +
        '<m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>12</m:t></m:r></m:sup></m:sSup></m:oMath>' +
        wordRun(' of 7.'),
    ),
    [text('Area (a+b)/2x^12 of 7.')],
  ),
  file(
    'readings-and-hidden',
    paragraphOf(
      `<w:r><w:ruby><w:rubyPr/><w:rt>${wordRun('とう')}</w:rt><w:rubyBase>${wordRun('東')}</w:rubyBase></w:ruby></w:r>${wordRun('の店')}${wordRun(' secret', '<w:vanish/>')}${wordRun(' 24')}`,
    ),
    [text('東の店 24')],
    { leftOut: { hidden_left_out: 'secret', readings_left_out: 'とう' } },
  ),
  file(
    'parts-of-other-documents',
    wordParagraph('Before 1') + '<w:altChunk r:id="r3"/>' + wordParagraph('After 2'),
    [text('Before 1'), text('After 2')],
    { warned: ['embedded_left_out'], parts: { 'word/aFChunk1.xml': '<html><body><p>Chunk</p></body></html>' } },
  ),
  file(
    'headings',
    [1, 2, 3, 4, 5, 6].map((level) => head(level, `Level ${level}`) + wordParagraph(`text ${level}`)).join(''),
    [1, 2, 3, 4, 5, 6].flatMap((level) => [heading(level, `Level ${level}`), text(`text ${level}`)]),
  ),
];

export const wordFiles: CorpusFile[] = [...lists, ...tables, ...others];
