import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { failureOf, outlineOf } from '../document-support.ts';
import { makePresentation, relationships, shapeOf, slideOf } from './make-archive.ts';

const read = async (...given: Parameters<typeof makePresentation>) => parseDocument(await makePresentation(...given), 'a.pptx');
const title = shapeOf('title', ['T']);
const line = (text: string, properties = '') => `<a:p>${properties}<a:r><a:t>${text}</a:t></a:r></a:p>`;
const shape = (paragraphs: string, more = '') =>
  `<p:sp><p:nvSpPr><p:cNvPr id="2" name="a" ${more}/><p:nvPr/></p:nvSpPr><p:txBody>${paragraphs}</p:txBody></p:sp>`;

test('numbered lines of a slide have the numbers that it shows', async () => {
  const numbered = (text: string, type: string, { level = 0, start = '' } = {}) =>
    line(text, `<a:pPr lvl="${level}"><a:buFont typeface="+mj-lt"/><a:buAutoNum type="${type}" ${start}/></a:pPr>`);
  const first = [
    numbered('open', 'arabicPeriod', { start: 'startAt="3"' }),
    numbered('left', 'alphaLcParenR', { level: 1 }),
    numbered('right', 'alphaLcParenR', { level: 1 }),
    line('', '<a:pPr/>'),
    numbered('shut', 'arabicPeriod', { start: 'startAt="3"' }),
    numbered('again', 'alphaLcParenR', { level: 1 }),
    line('Then', '<a:pPr><a:buNone/></a:pPr>'),
    numbered('lock', 'romanUcParenBoth'),
  ].join('');
  const document = await read([slideOf(title + shape(first) + shape(numbered('new', 'arabicPeriod')))]);
  expect(outlineOf(document)).toEqual([
    'h1 T',
    '- 3. open',
    '- a) left',
    '- b) right',
    '- 4. shut',
    '- a) again',
    'p Then',
    '- (I) lock',
    '- 1. new',
  ]);
});

test('the data of a chart stands as a table where the chart is, and once; formulas stand in their lines', async () => {
  const points = (values: (string | number)[]) => values.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join('');
  const series = (name: string, cost: number[]) =>
    `<c:ser><c:tx><c:v>${name}</c:v></c:tx><c:cat><c:strLit>${points(['May', 'June'])}</c:strLit></c:cat><c:val><c:numLit><c:formatCode>General</c:formatCode>${points(cost)}</c:numLit></c:val></c:ser>`;
  const chart = `<c:chartSpace><c:chart><c:title><a:p><a:r><a:t>Cost</a:t></a:r></a:p></c:title>${series('Rent', [1200, 1250.5])}${series('Power', [491_761_234_567, 80])}</c:chart></c:chartSpace>`;
  const frame = '<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="r1"/></a:graphicData></a:graphic></p:graphicFrame>';
  const math =
    '<a:p><a:r><a:t>Area: </a:t></a:r><mc:AlternateContent><mc:Choice><a14:m><m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath></a14:m></mc:Choice><mc:Fallback><a:r><a:t>picture</a:t></a:r></mc:Fallback></mc:AlternateContent></a:p>';
  const document = await read([slideOf(title + frame + frame + shape(math))], {}, { 0: chart });
  expect(outlineOf(document)).toEqual([
    'h1 T',
    'p Cost',
    '| | Rent | Power',
    '| May | 1200 | 491761234567',
    '| June | 1250.5 | 80',
    'p Area: (a+b)/2',
  ]);
});

test('points of a chart that series do not share have rows of their own', async () => {
  const points = (values: number[]) =>
    `<c:numLit>${values.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join('')}</c:numLit>`;
  const series = (name: string, x: number[], y: number[]) =>
    `<c:ser><c:tx><c:v>${name}</c:v></c:tx><c:xVal>${points(x)}</c:xVal><c:yVal>${points(y)}</c:yVal></c:ser>`;
  const chart = `<c:chartSpace><c:chart>${series('A', [1, 2], [10, 20])}${series('B', [1, 5], [30, 40])}</c:chart></c:chartSpace>`;
  const document = await read([slideOf(`${title}<p:graphicFrame><c:chart r:id="r1"/></p:graphicFrame>`)], {}, { 0: chart });
  expect(outlineOf(document)).toEqual(['h1 T', '| | A | B', '| 1 | 10 | 30', '| 2 | 20', '| 5 |  | 40']);
});

test('footers and typed dates are read once, without slide numbers; hidden shapes and slides are left out and counted', async () => {
  const date =
    '<p:sp><p:nvSpPr><p:nvPr><p:ph type="dt"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:fld type="datetime1"><a:t>2 June</a:t></a:fld></a:p></p:txBody></p:sp>';
  const footer = shapeOf('ftr', ['Acme Ltd, internal']) + shapeOf('sldNum', ['1']) + shapeOf('dt', ['1 May']) + date;
  const hiddenTable =
    '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="3" name="b" hidden="1"/></p:nvGraphicFramePr><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>cell</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>';
  const document = await read([
    slideOf(title + shape(line('old price'), 'hidden="1"') + hiddenTable + shape(line('price')) + footer),
    slideOf(shapeOf('title', ['Draft']), 'show="0"'),
    slideOf(shapeOf('title', ['U']) + footer),
    slideOf(footer),
  ]);
  expect(outlineOf(document)).toEqual(['h1 T', 'p price', 'h1 U', 'p Acme Ltd, internal', 'p 1 May']);
  expect(document.warnings.map(({ code, count }) => [code, count])).toEqual([
    ['pages_without_text', 1],
    ['hidden_left_out', 3],
  ]);
});

test.each([
  ['a hidden slide', slideOf(shapeOf('title', ['Draft']), 'show="0"'), 1],
  ['a hidden slide of a program that writes words', slideOf(shapeOf('title', ['Draft']), 'show="false"'), 1],
  ['a slide with nothing but hidden shapes', slideOf(shape(line('old price'), 'hidden="1"') + shape(line('older'), 'hidden="true"')), 2],
])('%s has one warning, and is not taken for a scan', async (_what, hidden, count) => {
  const document = await read([slideOf(title), hidden]);
  expect(document.warnings).toEqual([{ code: 'hidden_left_out', count, message: expect.stringContaining('left out') }]);
  expect(document.metadata).toMatchObject({ pages: 2, pages_without_text: 0 });
});

test('a presentation with nothing but hidden slides is refused with that reason, and one with a bare slide beside them as without text', async () => {
  const hidden = slideOf(shapeOf('title', ['Draft']), 'show="0"');
  expect(await failureOf(await makePresentation([hidden, hidden]), 'a.pptx')).toMatchObject({
    code: 'no_text',
    message: expect.stringContaining('is hidden'),
  });
  expect(await failureOf(await makePresentation([hidden, slideOf('')]), 'a.pptx')).toMatchObject({
    code: 'no_text',
    message: expect.stringContaining('pictures or scans'),
  });
});

test('raised digits make no other number', async () => {
  const raised = '<a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r>';
  expect(outlineOf(await read([slideOf(title + shape(`<a:p><a:r><a:t>10</a:t></a:r>${raised}</a:p>`))]))).toEqual(['h1 T', 'p 10^6']);
});

test('texts of layouts and masters are read once, and what placeholders ask for is not', async () => {
  const layout = (number: number) => relationships([['slideLayout', `../slideLayouts/slideLayout${number}.xml`]]);
  const prompt = shapeOf('title', ['Click to add a title']) + shapeOf('ftr', ['Footer']);
  const document = await read(
    [slideOf(title), slideOf(shapeOf('title', ['U']))],
    {},
    {},
    {
      'ppt/slides/_rels/slide1.xml.rels': layout(1),
      'ppt/slides/_rels/slide2.xml.rels': layout(2),
      'ppt/slideLayouts/slideLayout1.xml': slideOf(prompt + shape(line('Confidential 7'))),
      'ppt/slideLayouts/slideLayout2.xml': slideOf(prompt + shape(line('Confidential 7'))),
      'ppt/slideLayouts/_rels/slideLayout1.xml.rels': relationships([['slideMaster', '../slideMasters/slideMaster1.xml']]),
      'ppt/slideMasters/slideMaster1.xml': slideOf(prompt + shape(line('Acme Ltd'))),
      'ppt/slideMasters/_rels/slideMaster1.xml.rels': layout(1),
    },
  );
  expect(outlineOf(document)).toEqual(['h1 T', 'h1 U', 'p Confidential 7', 'p Acme Ltd']);
});
