import { makeWorkbook, relationships } from '../../parsing/make-archive.ts';
import { heading, table, text, type CorpusFile, type Part } from '../source.ts';
import { toWorkbook } from '../write/write-workbook.ts';

const file = (name: string, source: Part[], bytes: CorpusFile['bytes'], more: Partial<CorpusFile> = {}): CorpusFile => ({
  name: `${name}.xlsx`,
  bytes,
  source,
  ...more,
});
const one = (name: string, rows: string[][]): CorpusFile => file(name, [table(...rows)], () => toWorkbook([{ name: 'Sheet1', rows }]));
const cell = (reference: string, value: string | number, more = '') => `<c r="${reference}" ${more}><v>${value}</v></c>`;
const inline = (reference: string, content: string) => `<c r="${reference}" t="inlineStr"><is>${content}</is></c>`;
const named = (reference: string, content: string) => inline(reference, `<t xml:space="preserve">${content}</t>`);

const formats: [pattern: string, value: number, shown: string][] = [
  ['yyyy-mm-dd', 45_366, '2024-03-15'],
  ['#,##0.00', 1249.5, '1,249.50'],
  ['0.0%', 0.125, '12.5%'],
  ['[$€-407] #,##0.00', 1249.5, '€ 1.249,50'],
  ['00000', 1067, '01067'],
  ['h:mm', 0.375, '9:00'],
  ['0 &quot;kg&quot;', 12, '12 kg'],
  ['0.00E+00', 491_761_234_567, '491761234567'],
  ['# ?/?', 2.5, '2 1/2'],
  ['#,##0;(#,##0)', -1234, '(1,234)'],
];

export const workbookFiles: CorpusFile[] = [
  one('empty-cells', [
    ['Item', 'Size', 'Price'],
    ['Kettle', '', '49.9'],
    ['', '', '12'],
    ['Pot', 'two\nlines', ''],
  ]),
  one('wide', [
    Array.from({ length: 60 }, (_, column) => `Column ${column + 1}`),
    ['first', ...Array.from({ length: 56 }, () => ''), 'far', '', 'last'],
    Array.from({ length: 60 }, (_, column) => String(column * 7)),
  ]),
  one('long', [['No', 'Name'], ...Array.from({ length: 3000 }, (_, row) => [String(row + 1), `Item ${row}`])]),
  file(
    'long-numbers',
    [
      table(
        ['Phone', 'EAN', 'Id', 'Ratio'],
        ['491761234567', '4006381333931', '12345678901234567890', '0.3'],
        ['0049 176', '-5', '007', '0.00001'],
      ),
    ],
    () =>
      makeWorkbook([
        {
          name: 'Sheet1',
          rows: `<row r="1">${named('A1', 'Phone')}${named('B1', 'EAN')}${named('C1', 'Id')}${named('D1', 'Ratio')}</row><row r="2">${cell('A2', 491_761_234_567)}${cell('B2', '4.006381333931E+12')}${cell('C2', '12345678901234567890')}${cell('D2', '0.30000000000000004')}</row><row r="3">${named('A3', '0049 176')}${cell('B3', -5)}${named('C3', '007')}${cell('D3', '0.00001')}</row>`,
        },
      ]),
  ),
  file('formats', [table(['As shown', ''], ...formats.map(([, , shown], row) => [`row ${row}`, shown]))], () =>
    makeWorkbook(
      [
        {
          name: 'Sheet1',
          rows: `<row r="1">${named('A1', 'As shown')}</row>${formats.map(([, value], row) => `<row r="${row + 2}">${named(`A${row + 2}`, `row ${row}`)}${cell(`B${row + 2}`, value, `s="${row + 1}"`)}</row>`).join('')}`,
        },
      ],
      { formats: formats.map(([pattern]) => pattern) },
    ),
  ),
  file(
    'sheets',
    [heading(1, 'Prices'), table(['Item', 'Price'], ['Tea', '2.5']), heading(1, 'Hours 2026'), table(['Day', 'From'], ['Mon', '9'])],
    () =>
      toWorkbook([
        {
          name: 'Prices',
          rows: [
            ['Item', 'Price'],
            ['Tea', '2.5'],
          ],
        },
        {
          name: 'Hours 2026',
          rows: [
            ['Day', 'From'],
            ['Mon', '9'],
          ],
        },
      ]),
  ),
  file('named-like-a-year', [heading(1, 'Prices2026'), table(['Item', 'Price'], ['Tea', '2.5'])], () =>
    toWorkbook([
      {
        name: 'Prices2026',
        rows: [
          ['Item', 'Price'],
          ['Tea', '2.5'],
        ],
      },
    ]),
  ),
  file(
    'two-tables',
    [table(['Price list']), table(['Item', 'Price'], ['Tea', '2.5']), table(['Day', 'From', 'To'], ['Mon', '9', '18'])],
    () =>
      toWorkbook([
        { name: 'Sheet1', rows: [['Price list'], ['Item', 'Price'], ['Tea', '2.5'], [], ['Day', 'From', 'To'], ['Mon', '9', '18']] },
      ]),
  ),
  file(
    'described-drawings',
    [
      heading(1, 'Sales'),
      table(['Region', 'Share'], ['North', '5']),
      text('Map: Main Street 5'),
      text('Grows 12'),
      text('🗹 checked'),
      text('pack 7'),
    ],
    () =>
      makeWorkbook(
        [
          {
            name: 'Sales',
            rows: `<row r="1">${named('A1', 'Region')}${named('B1', 'Share')}</row><row r="2">${named('A2', 'North')}${cell('B2', 5)}</row>`,
            after: '<drawing r:id="r1"/>',
            parts: [['drawing', 'drawings/drawing1.xml']],
          },
        ],
        {
          parts: {
            'xl/drawings/drawing1.xml':
              '<xdr:wsDr><xdr:pic><xdr:nvPicPr><xdr:cNvPr id="2" title="Map" descr="Main Street 5"/></xdr:nvPicPr></xdr:pic><xdr:graphicFrame><xdr:nvGraphicFramePr><xdr:cNvPr id="3" descr="Grows 12"/></xdr:nvGraphicFramePr></xdr:graphicFrame><xdr:sp><xdr:txBody><a:p><a:r><a:rPr><a:latin typeface="Wingdings"/></a:rPr><a:t>\u00fe</a:t></a:r><a:r><a:t> checked</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:wsDr>',
            'xl/drawings/_rels/drawing1.xml.rels': relationships([['diagramData', '../diagrams/data1.xml']]),
            'xl/diagrams/data1.xml':
              '<dgm:dataModel><dgm:ptLst><dgm:pt><dgm:t><a:p><a:r><a:t>pack 7</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>',
          },
        },
      ),
  ),
  file('symbols', [table(['Item', 'In stock', 'Note'], ['Tea', '✓', 'α 5'], ['Cup', '🗸', 'Page 6'])], () =>
    makeWorkbook(
      [
        {
          name: 'Sheet1',
          rows: `<row r="1">${named('A1', 'Item')}${named('B1', 'In stock')}${named('C1', 'Note')}</row><row r="2">${named('A2', 'Tea')}<c r="B2" s="1" t="s"><v>0</v></c>${cell('C2', 1, 't="s"')}</row><row r="3">${named('A3', 'Cup')}<c r="B3" s="2" t="inlineStr"><is><t>P</t></is></c>${cell('C3', 2, 't="s" s="2"')}</row>`,
        },
      ],
      {
        fonts: ['Wingdings', 'Wingdings 2'],
        texts: [
          '<t>\u00fc</t>',
          '<r><rPr><rFont val="Symbol"/></rPr><t>a</t></r><r><t xml:space="preserve"> 5</t></r>',
          '<r><rPr><rFont val="Arial"/></rPr><t>Page 6</t></r>',
        ],
      },
    ),
  ),
  file(
    'symbols-of-other-fonts',
    [table(['Key', 'Use'], ['', 'twice 2'])],
    () =>
      makeWorkbook(
        [
          {
            name: 'Sheet1',
            rows: `<row r="1">${named('A1', 'Key')}${named('B1', 'Use')}</row><row r="2"><c r="A2" s="1" t="inlineStr"><is><t>\uf041</t></is></c>${named('B2', 'twice 2')}</row>`,
          },
        ],
        {
          fonts: ['Keys 3'],
        },
      ),
    { warned: ['symbols_unread'] },
  ),
  file('merged-cells', [table(['Item', 'Size', '', 'Price'], ['Kettle', '1 l', '', '49'], ['', '2 l', 'steel', '59'])], () =>
    toWorkbook([
      {
        name: 'Sheet1',
        rows: [
          ['Item', 'Size', '', 'Price'],
          ['Kettle', '1 l', '', '49'],
          ['', '2 l', 'steel', '59'],
        ],
      },
    ]),
  ),
  file(
    'hidden',
    [table(['Item', 'Price'], ['Tea', '2.5'])],
    async () =>
      makeWorkbook([
        {
          name: 'Sheet1',
          columns: '<col min="3" max="3" hidden="1"/>',
          rows: `<row r="1">${named('A1', 'Item')}${named('B1', 'Price')}${named('C1', 'Margin')}</row><row r="2">${named('A2', 'Tea')}${cell('B2', 2.5)}${cell('C2', 77)}</row><row r="3" hidden="1">${named('A3', 'Secret')}</row>`,
        },
        { name: 'Drafts', state: 'hidden', rows: `<row r="1">${named('A1', 'Draft')}</row>` },
      ]),
    { leftOut: { hidden_left_out: 'Margin 77 Secret Draft' } },
  ),
  file(
    'formulas-and-errors',
    [table(['Item', 'Sum', 'Ready'], ['Tea', '12', 'TRUE'], ['Cup', '', 'FALSE'], ['Pot', 'twelve'])],
    () =>
      makeWorkbook([
        {
          name: 'Sheet1',
          rows: `<row r="1">${named('A1', 'Item')}${named('B1', 'Sum')}${named('C1', 'Ready')}</row><row r="2">${named('A2', 'Tea')}<c r="B2"><f>SUM(5,7)</f><v>12</v></c>${cell('C2', 1, 't="b"')}</row><row r="3">${named('A3', 'Cup')}<c r="B3" t="e"><f>1/0</f><v>#DIV/0!</v></c>${cell('C3', 0, 't="b"')}</row><row r="4">${named('A4', 'Pot')}<c r="B4" t="str"><f>A1</f><v>twelve</v></c><c r="C4"><f>SUM(A1:A3)</f></c></row>`,
        },
      ]),
    { warned: ['errors_left_out', 'formulas_left_out'] },
  ),
  file('texts', [table(['Rich text', 'Escaped'], ['bold and plain 5', 'one two'], ['10^6 m2', '_x41_ stays'], ['東京', 'a & b < c'])], () =>
    makeWorkbook(
      [
        {
          name: 'Sheet1',
          rows: `<row r="1">${cell('A1', 0, 't="s"')}${named('B1', 'Escaped')}</row><row r="2">${cell('A2', 1, 't="s"')}${cell('B2', 2, 't="s"')}</row><row r="3">${cell('A3', 3, 't="s"')}${cell('B3', 4, 't="s"')}</row><row r="4">${cell('A4', 5, 't="s"')}${named('B4', 'a &amp; b &lt; c')}</row>`,
        },
      ],
      {
        texts: [
          '<t>Rich text</t>',
          '<r><t>bold</t></r><r><t xml:space="preserve"> and plain 5</t></r>',
          '<t>one_x000D_\ntwo</t>',
          '<r><t>10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>6</t></r><r><t xml:space="preserve"> m</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>2</t></r>',
          '<t>_x005F_x41_ stays</t>',
          '<t>東京</t><rPh sb="0" eb="2"><t>とうきょう</t></rPh>',
        ],
      },
    ),
  ),
  file('dates-from-1904', [table(['Day', 'Sum'], ['2024-03-15', '5'])], () =>
    makeWorkbook(
      [
        {
          name: 'Sheet1',
          rows: `<row r="1">${named('A1', 'Day')}${named('B1', 'Sum')}</row><row r="2">${cell('A2', 43_904, 's="1"')}${cell('B2', 5)}</row>`,
        },
      ],
      {
        formats: ['yyyy-mm-dd'],
        from1904: true,
      },
    ),
  ),
  file('title-above', [table(['Hotel Alpha price list']), table(['Item', 'Price', 'Note'], ['Tea', '2.5', 'only on Mondays'])], () =>
    toWorkbook([{ name: 'Sheet1', rows: [['Hotel Alpha price list'], ['Item', 'Price', 'Note'], ['Tea', '2.5', 'only on Mondays']] }]),
  ),
  file(
    'boxes-charts-and-comments',
    [
      heading(1, 'Sales'),
      table(['Region', 'Share'], ['North', '5']),
      text('In a box 12'),
      text('Sales by region'),
      text('Acme Ltd | Confidential 7'),
    ],
    () =>
      makeWorkbook(
        [
          {
            name: 'Sales',
            rows: `<row r="1">${named('A1', 'Region')}${named('B1', 'Share')}</row><row r="2">${named('A2', 'North')}${cell('B2', 5)}</row>`,
            after:
              '<headerFooter><oddHeader>&amp;L&amp;&quot;Arial,Bold&quot;&amp;14Acme Ltd&amp;RConfidential 7</oddHeader><oddFooter>&amp;CPage &amp;P of &amp;N</oddFooter></headerFooter><drawing r:id="r1"/>',
            parts: [
              ['drawing', 'drawings/drawing1.xml'],
              ['comments', 'comments1.xml'],
            ],
          },
        ],
        {
          parts: {
            'xl/drawings/drawing1.xml':
              '<xdr:wsDr><xdr:sp><xdr:txBody><a:p><a:r><a:t>In a box 12</a:t></a:r></a:p></xdr:txBody></xdr:sp><xdr:graphicFrame><a:graphic><c:chart r:id="r1"/></a:graphic></xdr:graphicFrame></xdr:wsDr>',
            'xl/drawings/_rels/drawing1.xml.rels': relationships([['chart', '../charts/chart1.xml']]),
            'xl/charts/chart1.xml':
              '<c:chartSpace><c:chart><c:title><a:p><a:r><a:t>Sales by region</a:t></a:r></a:p></c:title><c:ser><c:val><c:numRef><c:numCache><c:pt idx="0"><c:v>5</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:chart></c:chartSpace>',
            'xl/comments1.xml':
              '<comments><commentList><comment ref="A1"><text><r><t>Really?</t></r></text></comment></commentList></comments>',
          },
        },
      ),
    { leftOut: { comments_left_out: 'Really' } },
  ),
];
