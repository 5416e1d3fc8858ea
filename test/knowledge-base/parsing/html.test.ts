import { expect, test } from 'vitest';
import { outlineOf, parseText } from '../document-support.ts';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';

const outline = async (html: string) => outlineOf(await parseText(`<!doctype html>${html}`, 'page.html'));

test('what nobody reads on the page is left out', async () => {
  const html = `<head><title>Kettles &amp; more</title><style>p { color: red }</style></head><nav>Home</nav>
    <p>Shown <span style="display: none">hidden</span><span hidden>hidden</span>text</p><script>bad()</script><noscript>off</noscript>
    <svg><title>icon</title></svg><p aria-hidden="true">icon</p><select><option>1</option></select>`;
  const document = await parseText(`<!doctype html>${html}`, 'page.html');
  expect(document.title).toBe('Kettles & more');
  expect(outlineOf(document)).toEqual(['p Shown text']);
});

test('blanks are as the page shows them, line breaks stay', async () => {
  expect(await outline('<p>one\n   two<br>three</p>four<div>five</div><pre>a\n  b</pre>')).toEqual([
    'p one two\nthree',
    'p four',
    'p five',
    'p a\nb',
  ]);
});

test('lists keep the numbers of their items', async () => {
  expect(await outline('<ol start=3><li>c</li><li value=7><p>g</p><p>more</p></li><li>h<ul><li>inner</li></ul></li></ol>')).toEqual([
    '- 3. c',
    '- 7. g',
    'p more',
    '- 8. h',
    '- inner',
  ]);
});

test('lists that are typed with dashes are lists', async () => {
  expect(await outline('<p>Bring:<br>- the receipt<br>• the parcel</p>')).toEqual(['p Bring:', '- the receipt', '- the parcel']);
});

test('a short paragraph that is bold as a whole is a heading; bold words in a text are not', async () => {
  expect(await outline('<p><b>Opening hours</b></p><p>We are <b>open</b> today</p><p><b>Note:</b></p>')).toEqual([
    'h5 Opening hours',
    'p We are open today',
    'p Note:',
  ]);
});

test('tables are read row by row; spanning cells keep the others in their columns', async () => {
  const html = `<table><thead><tr><th>Day</th><th colspan=2>Hours</th></tr></thead><tbody>
    <tr><td rowspan=2>Mon</td><td>10</td><td>19</td></tr><tr><td>20</td><td>22</td></tr><tr><td>Tue</td><td><p>10</p><p>12</p></td></tr></table>`;
  const { blocks } = await parseText(`<!doctype html>${html}`, 'page.html');
  expect(blocks).toMatchObject([{ kind: 'table', header: 'Day | Hours', text: 'Day | Hours\nMon | 10 | 19\nMon | 20 | 22\nTue | 10 12' }]);
});

test('a page laid out in tables is read as a page', async () => {
  const html = `<table><tr><td><h1>News</h1><p>First story.</p></td><td><table><tr><td>Mon</td><td>10</td></tr></table></td></tr>
    <tr><td>Only cell</td></tr></table>`;
  expect(await outline(html)).toEqual(['h1 News', 'p First story.', '| Mon | 10', 'p Only cell']);
});

test('a long table is written as it comes, with every row once', async () => {
  const rows = Array.from({ length: 500 }, (_, index) => `<tr><td>Kettle ${index}</td><td>${index}</td></tr>`).join('');
  expect(await outline(`<table><tr><th>Name</th><th>No</th></tr>${rows}</table><p>after</p>`)).toEqual([
    '| Name | No',
    ...Array.from({ length: 500 }, (_, index) => `| Kettle ${index} | ${index}`),
    'p after',
  ]);
});

test('the encoding that a page names is believed', async () => {
  const html = '<!doctype html><meta charset="iso-8859-7"><p>\u00c1\u00e8\u00de\u00ed\u00e1</p>';
  expect(
    outlineOf(
      await parseDocument(
        Uint8Array.from(html, (sign) => sign.charCodeAt(0)),
        'greek.html',
      ),
    ),
  ).toEqual(['p Αθήνα']);
});

test('elements that are never closed lose no text', async () => {
  expect(await outline('<div><p>one<p>two<table><tr><td>a<td>b<tr><td>c<td>d<ul><li>x')).toEqual([
    'p one',
    'p two',
    '| a | b',
    '| c | d x',
  ]);
});

const warningsOf = async (html: string) =>
  (await parseText(`<!doctype html>${html}`, 'page.html')).warnings.map(({ code, count }) => [code, count]);

test('what is left out of a page is counted: menus, buttons, hidden parts, readings; empty ones are not', async () => {
  const html = `<p>x</p><nav><a>Home</a></nav><nav></nav><button>Buy</button><div hidden>Old <b>price</b></div><span style="display:none"> </span>
    <ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp></ruby><svg><title>Icon</title></svg><svg><text>Sales</text></svg><script>bad()</script>`;
  expect(await warningsOf(html)).toEqual([
    ['images_skipped', 1],
    ['hidden_left_out', 1],
    ['controls_left_out', 2],
    ['readings_left_out', 1],
  ]);
});

test('a button that opens an answer is the question', async () => {
  expect(
    await outline('<h3><button>Who pays?</button></h3><p>We</p><div><button aria-expanded="false">When?</button><p>Now</p></div>'),
  ).toEqual(['h3 Who pays?', 'p We', 'p When?', 'p Now']);
});

test('pictures are read by their alternative texts, fields of forms by their values and boxes', async () => {
  expect(
    await outline(
      '<p>See <img alt="the map"> and <img alt=""></p><label><input type=checkbox checked>Tea</label> <input value=5> <textarea>no milk</textarea>',
    ),
  ).toEqual(['p See the map and', 'p ☑ Tea 5 no milk']);
});

test('lists are numbered as they are shown: from zero, downwards, in letters and Roman numbers', async () => {
  expect(
    await outline(
      '<ol start=0><li>a<li>b</ol><ol reversed><li>c<li>d</ol><ol type=a start=26><li>e<li>f</ol><ol type=I start=4><li>g</ol>',
    ),
  ).toEqual(['- 0. a', '- 1. b', '- 2. c', '- 1. d', '- z. e', '- aa. f', '- IV. g']);
});

test('raised digits make no other number', async () => {
  expect(await outline('<p>10<sup>6</sup>, 1101<sub>2</sub>, m<sup>2</sup>, 1<sup>st</sup></p>')).toEqual(['p 10^6, 1101_2, m2, 1st']);
});

test('rows below a cell that spans them stay rows, also those without a cell of their own', async () => {
  const html =
    '<table><tr><td>Day<td>Hours<tr><td rowspan=2>Mon<td>9<tr><td>14<tr><td rowspan=2>Tue<td rowspan=2>10</tr><tr></tr><tr><td>Wed<td>11</table>';
  expect(await outline(html)).toEqual(['| Day | Hours', '| Mon | 9', '| Mon | 14', '| Tue | 10', '| Tue | 10', '| Wed | 11']);
});

test('a row that is read cell by cell is a row of the cells above it, too', async () => {
  const inner = '<table><tr><td>in1<td>in2</table>';
  const rows = (span: number) => `<table><tr><td>h1<td rowspan=${span}>Tall<tr><td>c2${inner}<tr><td>r3<td>r3b<tr><td>r4<td>r4b</table>`;
  expect(await outline(rows(2))).toEqual(['| h1 | Tall', 'p c2', '| in1 | in2', '| r3 | r3b', '| r4 | r4b']);
  expect(await outline(rows(3))).toEqual(['| h1 | Tall', 'p c2', '| in1 | in2', '| r3 | Tall | r3b', '| r4 | r4b']);
});

test('a cell that spans rows right of a shorter row stays in its column', async () => {
  const html = '<table><tr><td>a<td>b<td rowspan=3>Tall<tr><td>c<tr><td>d<td>e<tr><td>f<td>g<td>h</table>';
  expect(await outline(html)).toEqual(['| a | b | Tall', '| c |  | Tall', '| d | e | Tall', '| f | g | h']);
});

test('sections of CDATA are text in XHTML, and comments in HTML', async () => {
  const body = '<body><p>a<![CDATA[cd <b> words]]>b</p><script>//<![CDATA[\nlet x = 5;\n//]]></script><p>end</p></body>';
  const read = async (start: string) => outlineOf(await parseText(`${start}${body}</html>`, 'page.xhtml'));
  expect(await read('<?xml version="1.0" encoding="utf-8"?><html>')).toEqual(['p acd <b> wordsb', 'p end']);
  expect(await read('<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">')).toEqual(['p acd <b> wordsb', 'p end']);
  expect((await read('<!DOCTYPE html><html>')).join()).not.toContain('cd');
});

test('formulas are read as they are typed, and once', async () => {
  const half =
    '<math><semantics><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac><annotation>\\frac{a+1}{2}</annotation></semantics></math>';
  const matrix =
    '<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable></math>';
  expect(await outline(`<p>It is ${half} of ${matrix}.</p><p><math><munderover><mo>∑</mo><mi>i</mi><mn>9</mn></munderover><mi>i`)).toEqual([
    'p It is (a+1)/2 of [1, 2; 3, 4].',
    'p ∑_i^9 i',
  ]);
});
