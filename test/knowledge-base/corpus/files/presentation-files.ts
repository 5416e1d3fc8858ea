import { makePresentation, relationships, slideOf } from '../../parsing/make-archive.ts';
import { heading, item, table, text, type CorpusFile, type Part } from '../source.ts';
import { slideCell, slideParagraph, slideShape, slideTable } from '../write/write-presentation.ts';

const file = (name: string, source: Part[], deck: Parameters<typeof makePresentation>, more: Partial<CorpusFile> = {}): CorpusFile => ({
  name: `${name}.pptx`,
  bytes: () => makePresentation(...deck),
  source,
  ...more,
});
const title = (content: string) => slideShape(slideParagraph(content), 'title');
const bare = '<a:buNone/>';
const line = (content: string, properties = bare) => slideParagraph(content, properties);
const numbered = (content: string, type: string, level = 0, start = '') =>
  `<a:p><a:pPr lvl="${level}"><a:buAutoNum type="${type}" ${start}/></a:pPr><a:r><a:t>${content}</a:t></a:r></a:p>`;
const points = (values: (string | number)[]) => values.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join('');
const chart = `<c:chartSpace><c:chart><c:title><a:p><a:r><a:t>Cost</a:t></a:r></a:p></c:title><c:ser><c:tx><c:v>Rent</c:v></c:tx><c:cat><c:strLit>${points(['May', 'June'])}</c:strLit></c:cat><c:val><c:numLit><c:formatCode>General</c:formatCode>${points([1200, 491_761_234_567])}</c:numLit></c:val></c:ser></c:chart></c:chartSpace>`;
const frame = (content: string) => `<p:graphicFrame><a:graphic><a:graphicData>${content}</a:graphicData></a:graphic></p:graphicFrame>`;

export const presentationFiles: CorpusFile[] = [
  file(
    'lists',
    [
      heading(1, 'Steps'),
      item('3.', 'open'),
      item('a)', 'left', 1),
      item('b)', 'right', 1),
      item('4.', 'shut'),
      text('Then 5'),
      item('(I)', 'lock'),
      item('', 'bullet'),
    ],
    [
      [
        slideOf(
          title('Steps') +
            slideShape(
              numbered('open', 'arabicPeriod', 0, 'startAt="3"') +
                numbered('left', 'alphaLcParenR', 1) +
                numbered('right', 'alphaLcParenR', 1) +
                numbered('shut', 'arabicPeriod', 0, 'startAt="3"') +
                line('Then 5') +
                numbered('lock', 'romanUcParenBoth') +
                line('bullet', '<a:buChar char="•"/>'),
            ),
        ),
      ],
    ],
  ),
  file(
    'tables',
    [
      heading(1, 'Prices'),
      table(
        ['Item', 'Size', '', 'Price'],
        ['Kettle', '1 l', '', '49'],
        ['', '2 l', 'steel', '59'],
        ['Cup two lines', '', '', '4006381333931'],
      ),
    ],
    [
      [
        slideOf(
          title('Prices') +
            slideTable([
              [slideCell('Item'), slideCell('Size', 'gridSpan="2"'), slideCell('', 'hMerge="1"'), slideCell('Price')],
              [slideCell('Kettle', 'rowSpan="2"'), slideCell('1 l'), slideCell(''), slideCell('49')],
              [slideCell('', 'vMerge="1"'), slideCell('2 l'), slideCell('steel'), slideCell('59')],
              [slideCell('Cup\ntwo lines'), slideCell(''), slideCell(''), slideCell('4006381333931')],
            ]),
        ),
      ],
    ],
  ),
  file(
    'notes',
    [heading(1, 'One'), text('shown 1'), text('said & meant 2'), heading(1, 'Two'), text('shown 3')],
    [
      [slideOf(title('One') + slideShape(line('shown 1'))), slideOf(title('Two') + slideShape(line('shown 3')))],
      { 0: 'said &amp; meant 2' },
    ],
  ),
  file(
    'chart',
    [heading(1, 'Costs'), text('before 1'), text('Cost'), table(['', 'Rent'], ['May', '1200'], ['June', '491761234567']), text('after 2')],
    [
      [slideOf(title('Costs') + slideShape(line('before 1')) + frame('<c:chart r:id="r1"/>') + slideShape(line('after 2')))],
      {},
      { 0: chart },
    ],
  ),
  file(
    'groups-and-boxes',
    [heading(1, 'Boxes'), text('in a group 1'), text('deeper 2'), text('line 3\nbreak 4'), text('Area (a+b)/2')],
    [
      [
        slideOf(
          title('Boxes') +
            `<p:grpSp>${slideShape(line('in a group 1'))}<p:grpSp>${slideShape(line('deeper 2'))}</p:grpSp></p:grpSp>` +
            slideShape(`<a:p><a:pPr>${bare}</a:pPr><a:r><a:t>line 3</a:t></a:r><a:br/><a:r><a:t>break 4</a:t></a:r></a:p>`) +
            slideShape(
              `<a:p><a:pPr>${bare}</a:pPr><a:r><a:t>Area </a:t></a:r><mc:AlternateContent><mc:Choice><a14:m><m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath></a14:m></mc:Choice><mc:Fallback><a:r><a:t>picture</a:t></a:r></mc:Fallback></mc:AlternateContent></a:p>`,
            ),
        ),
      ],
    ],
  ),
  file(
    'described-shapes',
    [
      heading(1, 'Where'),
      text('Map: Main Street 5'),
      text('A star'),
      text('New 7'),
      text('Rises from 2 to 9'),
      text('Photo by Ada'),
      text('Logo of Acme'),
    ],
    [
      [
        slideOf(
          title('Where') +
            '<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture 3" descr="Main Street 5" title="Map"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill/></p:pic>' +
            slideShape(line('New 7'), '', 'descr="A star"') +
            `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="5" descr="Rises from 2 to 9"/></p:nvGraphicFramePr></p:graphicFrame>` +
            `<p:grpSp><p:nvGrpSpPr><p:cNvPr id="6"/></p:nvGrpSpPr><p:pic><p:nvPicPr><p:cNvPr id="7" descr="Photo by Ada"/></p:nvPicPr></p:pic></p:grpSp>`,
        ),
      ],
      {},
      {},
      {
        'ppt/slides/_rels/slide1.xml.rels': relationships([['slideLayout', '../slideLayouts/slideLayout1.xml']]),
        'ppt/slideLayouts/slideLayout1.xml':
          '<p:sldLayout><p:pic><p:nvPicPr><p:cNvPr id="8" descr="Logo of Acme"/></p:nvPicPr></p:pic></p:sldLayout>',
      },
    ],
  ),
  file(
    'symbols',
    [heading(1, 'Signs'), text('5 🡪 6 für 7 ⇨ 8'), text('🗹 paid'), text('α < β')],
    [
      [
        slideOf(
          title('Signs') +
            slideShape(
              `<a:p><a:pPr>${bare}</a:pPr><a:r><a:t>5 </a:t></a:r><a:r><a:rPr><a:sym typeface="Wingdings" charset="2"/></a:rPr><a:t>à</a:t></a:r><a:r><a:rPr><a:sym typeface="Wingdings"/></a:rPr><a:t> 6 für 7 \uf0f0 8</a:t></a:r></a:p>` +
                `<a:p><a:pPr>${bare}</a:pPr><a:r><a:rPr><a:latin typeface="Wingdings"/></a:rPr><a:t>\uf0fe</a:t></a:r><a:r><a:t> paid</a:t></a:r></a:p>` +
                `<a:p><a:pPr>${bare}</a:pPr><a:r><a:rPr><a:latin typeface="Symbol"/></a:rPr><a:t>a &lt; b</a:t></a:r></a:p>`,
            ),
        ),
      ],
    ],
  ),
  file(
    'symbols-of-other-fonts',
    [heading(1, 'Keys'), text('Press 1 twice 2')],
    [
      [
        slideOf(
          title('Keys') +
            slideShape(
              `<a:p><a:pPr>${bare}</a:pPr><a:r><a:rPr><a:latin typeface="Keys 3"/></a:rPr><a:t>Press 1 \uf041twice 2</a:t></a:r></a:p>`,
            ),
        ),
      ],
    ],
    { warned: ['symbols_unread'] },
  ),
  file(
    'raised-digits',
    [heading(1, 'Units'), text('10^6 of 5 m2')],
    [
      [
        slideOf(
          title('Units') +
            slideShape(
              `<a:p><a:pPr>${bare}</a:pPr><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r><a:r><a:t> of 5 m</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>2</a:t></a:r></a:p>`,
            ),
        ),
      ],
    ],
  ),
  file(
    'hidden-and-footers',
    [heading(1, 'Shown'), text('price 5'), heading(1, 'Slide 3'), text('untitled 7'), text('Acme Ltd, internal')],
    [
      [
        slideOf(
          title('Shown') +
            slideShape(line('old'), '', 'hidden="1"') +
            slideShape(line('price 5')) +
            slideShape(line('Acme Ltd, internal'), 'ftr'),
        ),
        slideOf(title('Draft'), 'show="0"'),
        slideOf(slideShape(line('untitled 7')) + slideShape(line('Acme Ltd, internal'), 'ftr') + slideShape(line('3'), 'sldNum')),
      ],
    ],
    { leftOut: { hidden_left_out: 'old Draft' } },
  ),
];
