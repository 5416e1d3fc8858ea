import { heading, item, table, text, type CorpusFile, type Part } from '../source.ts';
import { toHtml } from '../write/write-html.ts';

const file = (name: string, content: string, source: Part[], more: Partial<CorpusFile> = {}): CorpusFile => ({
  name,
  bytes: () => new TextEncoder().encode(content),
  source,
  ...more,
});
const page = (name: string, body: string, source: Part[], more: Partial<CorpusFile> = {}): CorpusFile =>
  file(name, `<!doctype html><html><head><meta charset="utf-8"></head><body>${body}</body></html>`, source, more);

const webPages: CorpusFile[] = [
  page(
    'navigation.html',
    `<header><nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop</a></li></ul></nav><p>Acme</p></header>
    <main><h1>Returns</h1><article><p>Send it back.</p></article><aside>Hotline 0800 123</aside></main>
    <form><button>Subscribe</button></form><footer><p>Imprint 2026</p><div role="navigation">Sitemap</div></footer>`,
    [text('Acme'), heading(1, 'Returns'), text('Send it back.'), text('Hotline 0800 123'), text('Imprint 2026')],
    { leftOut: { controls_left_out: 'Home Shop Subscribe Sitemap' } },
  ),
  page(
    'hidden-parts.html',
    `<h1>Open</h1><p>Daily<span style="display:none"> secretly</span> from 9</p><div hidden><p>Draft <b>one</b></p></div><p aria-hidden="true">Icon</p><script>never()</script>`,
    [heading(1, 'Open'), text('Daily from 9')],
    { leftOut: { hidden_left_out: 'secretly Draft one Icon' } },
  ),
  page(
    'questions.html',
    `<h2><button aria-expanded="false">May I send it back?</button></h2><div><p>Within 45 days.</p></div>
    <details><summary>Who pays?</summary><p>We pay.</p></details><div><button aria-controls="a3">How long?</button><p id="a3">2 weeks.</p></div>`,
    [heading(2, 'May I send it back?'), text('Within 45 days.'), text('Who pays?'), text('We pay.'), text('How long?'), text('2 weeks.')],
  ),
  page(
    'lists.html',
    `<ol><li>one</li><li>two<ol type="a"><li>left</li><li>right<ol type="i"><li>deep</li></ol></li></ol></li></ol>
    <ol start="0"><li>zero</li><li>next</li></ol><ol type="A" start="27"><li>far</li></ol><ol reversed><li>last</li><li>first</li></ol>
    <ol reversed start="9"><li>nine</li><li value="3">three</li><li>two</li></ol><ul><li>plain<ul><li>inner</li></ul></li></ul>
    <ol style="list-style-type: upper-roman"><li>rome</li></ol><ol style="list-style: none"><li>bare</li></ol>`,
    [
      item('1.', 'one'),
      item('2.', 'two'),
      item('a.', 'left'),
      item('b.', 'right'),
      item('i.', 'deep'),
      item('0.', 'zero'),
      item('1.', 'next'),
      item('AA.', 'far'),
      item('2.', 'last'),
      item('1.', 'first'),
      item('9.', 'nine'),
      item('3.', 'three'),
      item('2.', 'two'),
      item('', 'plain'),
      item('', 'inner'),
      item('I.', 'rome'),
      item('', 'bare'),
    ],
  ),
  page(
    'merged-cells.html',
    `<table><caption>Prices 2026</caption><thead><tr><th>Item</th><th colspan="2">Size</th><th>Price</th></tr></thead><tbody>
    <tr><td rowspan="2">Kettle</td><td>1 l</td><td></td><td>49</td></tr><tr><td>2 l</td><td>steel</td><td>59</td></tr>
    <tr><td colspan="3">Delivery</td><td>5</td></tr></tbody><tfoot><tr><td>Sum</td><td></td><td></td><td>113</td></tr></tfoot></table>`,
    [
      text('Prices 2026'),
      table(
        ['Item', 'Size', '', 'Price'],
        ['Kettle', '1 l', '', '49'],
        ['Kettle', '2 l', 'steel', '59'],
        ['Delivery', '', '', '5'],
        ['Sum', '', '', '113'],
      ),
    ],
  ),
  page(
    'one-column-beside-a-merged-one.html',
    `<table><tr><th>Day</th><th>Hours</th></tr><tr><td rowspan="3">Mon</td><td>9-12</td></tr><tr><td>13-15</td></tr><tr><td>16-18</td></tr></table>`,
    [table(['Day', 'Hours'], ['Mon', '9-12'], ['Mon', '13-15'], ['Mon', '16-18'])],
  ),
  page(
    'table-in-a-table.html',
    `<table><tr><td>Plan</td><td><table><tr><th>Day</th><th>Hours</th></tr><tr><td>Mon</td><td>9</td></tr></table></td></tr></table><p>after</p>`,
    [text('Plan'), table(['Day', 'Hours'], ['Mon', '9']), text('after')],
  ),
  page(
    'pictures.html',
    `<h1>Shop</h1><img src="map.png" alt="Map: Main Street 5"><p>Find us <img src="x.png" alt=""> there.</p><figure><img src="y.png"><figcaption>Our door 12</figcaption></figure>
    <svg><title>Icon</title><path d="M0 0"/></svg><svg><text>Sales 2026</text></svg>`,
    [heading(1, 'Shop'), text('Map: Main Street 5'), text('Find us there.'), text('Our door 12')],
    { leftOut: { images_skipped: 'Sales' } },
  ),
  page(
    'forms.html',
    `<form><label>Name <input name="a" value="Ada Lovelace"></label><label><input type="checkbox" checked> Nuts</label><label><input type="checkbox"> Milk</label>
    <label><input type="radio" checked> Cash</label><input type="hidden" value="secret"><textarea>No onions, 2 forks</textarea><select><option>small<option selected>large</select><input type="submit" value="Send"></form>`,
    [text('Name Ada Lovelace ☑ Nuts ☐ Milk ☑ Cash No onions, 2 forks large')],
    { leftOut: { controls_left_out: 'small Send' } },
  ),
  page(
    'raised-digits.html',
    `<p>Of 10<sup>6</sup> items, H<sub>2</sub>O, 5 m<sup>2</sup>, 2<sup>-3</sup>, the 1<sup>st</sup>, 1101<sub>2</sub> and log<sub>10</sub>x</p>`,
    [text('Of 10^6 items, H2O, 5 m2, 2^-3, the 1st, 1101_2 and log10x')],
  ),
  page('readings.html', `<p><ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rt>きょう</rt></ruby>の店</p>`, [text('東京の店')], {
    warned: ['readings_left_out'],
  }),
  page(
    'entities.html',
    `<p>&Auml;pfel &amp; Birnen&nbsp;&ndash; 5&nbsp;&euro; &#x20AC;6 &#8364;7 &lt;b&gt; &copy; 2026 &frac12; AT&T</p><pre>a  b\n  c &lt;d&gt;</pre><dl><dt>Term</dt><dd>Meaning 1</dd></dl><blockquote>Quoted 8</blockquote><address>Main Street 5</address>`,
    [
      text('Äpfel & Birnen – 5 € €6 €7 <b> © 2026 ½ AT&T'),
      text('a b\nc <d>'),
      text('Term'),
      text('Meaning 1'),
      text('Quoted 8'),
      text('Main Street 5'),
    ],
  ),
  page('unclosed.html', '<h1>Title</h1><p>one<p>two<ul><li>a<li>b 5</ul><table><tr><td>c<td>d<tr><td>e<td>f</table>end', [
    heading(1, 'Title'),
    text('one'),
    text('two'),
    item('', 'a'),
    item('', 'b 5'),
    table(['c', 'd'], ['e', 'f']),
    text('end'),
  ]),
  file(
    'xhtml.html',
    `<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Terms</title></head><body><h1>Terms</h1><p>Line<br/>break 7</p></body></html>`,
    [heading(1, 'Terms'), text('Line\nbreak 7')],
  ),
  page(
    'wide-table.html',
    `<table>${[0, 1, 2].map((row) => `<tr>${Array.from({ length: 40 }, (_, column) => `<td>${row === 2 && column > 0 && column < 39 ? '' : `r${row}c${column}`}</td>`).join('')}</tr>`).join('')}</table>`,
    [
      table(
        ...[0, 1, 2].map((row) =>
          Array.from({ length: 40 }, (_, column) => (row === 2 && column > 0 && column < 39 ? '' : `r${row}c${column}`)),
        ),
      ),
    ],
  ),
  file('fragment.html', toHtml([text('Only a line 5')], ''), [text('Only a line 5')]),
];

const markdown: CorpusFile[] = [
  file('notes.md', '# Terms\n\nItems go back[^1] in time[^b].\n\n[^1]: Giftcards\n[^b]: Within 45 days, "at most"\n', [
    heading(1, 'Terms'),
    text('Items go back[^1] in time[^b].'),
    text('[^1]: Giftcards\n[^b]: Within 45 days, "at most"'),
  ]),
  file(
    'rows-wider-than-their-header.md',
    '# Prices\n\n| Item | Price |\n|---|---:|\n| Tea | 2 | Mondays |\n| Cup |\n| Pot | 9 | | x |\n\nafter\n',
    [heading(1, 'Prices'), table(['Item', 'Price'], ['Tea', '2', 'Mondays'], ['Cup'], ['Pot', '9', '', 'x']), text('after')],
  ),
  file('tasks.md', '## Steps\n\n- [x] pack 3\n- [ ] send\n  - [x] label\n', [
    heading(2, 'Steps'),
    item('', '☑ pack 3'),
    item('', '☐ send'),
    item('', '☑ label'),
  ]),
  file('settings.md', '---\ntitle: Handbook\nauthor: Ada\nversion: 2.10\n---\n# Returns\n\nWithin 45 days.\n', [
    text('author: Ada\nversion: 2.10'),
    heading(1, 'Returns'),
    text('Within 45 days.'),
  ]),
  file('numbers.md', '5. five\n6. six\n   1. inner\n   2. second\n\ntext\n\n0. zero\n1. one\n', [
    item('5.', 'five'),
    item('6.', 'six'),
    item('1.', 'inner', 1),
    item('2.', 'second', 1),
    text('text'),
    item('0.', 'zero'),
    item('1.', 'one'),
  ]),
  file(
    'code.md',
    '# Code\n\n```sh\nrefund --all 5\n# no heading\n```\n\nUse `x | y` and `a < b`.\n\n    indented 7\n\n<div>Inside <b>html</b> 8</div>\n',
    [heading(1, 'Code'), text('refund --all 5\n# no heading'), text('Use x | y and a < b.'), text('indented 7'), text('Inside html 8')],
  ),
  file(
    'links.md',
    'See [the form][f], <https://example.org/5>, ![Map: Main Street 5](map.png) and ![](x.png).\n\n[f]: https://example.org "Form"\n\n> Quoted 3\n> more\n\n1\\. no list \\*stars\\* 10^6\n',
    [text('See the form, https://example.org/5, Map: Main Street 5 and .'), text('Quoted 3 more'), text('1. no list *stars* 10^6')],
    { warned: ['images_skipped'] },
  ),
  file(
    'words-in-brackets.md',
    '# Set up <your-shop>\n\nPut <api-key 5> into `<your-key>`, then `Vec<String>` is Vec<String>.\n\n<region>\n\n| <name> | List<int> |\n|---|---|\n| a <b | <https://example.org/7> |\n\n<div class="x">Ask <support-team> 8</div>\n',
    [
      heading(1, 'Set up <your-shop>'),
      text('Put <api-key 5> into <your-key>, then Vec<String> is Vec<String>.'),
      text('<region>'),
      table(['<name>', 'List<int>'], ['a <b', 'https://example.org/7']),
      text('Ask <support-team> 8'),
    ],
  ),
  file('pictures.md', 'Come in: ![Map: Main Street 5](map.png "Our shop 2")\n', [text('Come in: Our shop 2: Map: Main Street 5')]),
  file('cells.md', '| a | b | c |\n|:-:|---|---|\n| x \\| y | | `p \\| q` |\n| | two<br>lines | **5** |\n', [
    table(['a', 'b', 'c'], ['x | y', '', 'p | q'], ['', 'two lines', '5']),
  ]),
];

const json: CorpusFile[] = [
  file(
    'nested.json',
    JSON.stringify({
      shop: 'Acme',
      open: { monday: '9-18', sunday: { from: 10, to: 12.5 } },
      tags: ['tea', 'pots'],
      items: [
        { id: 1, name: 'Kettle', price: { amount: 49.9, currency: 'EUR' }, colours: ['black', 'white'], sizes: [[1, 2], [3]] },
        { id: 2, name: 'Pot\nof tea', isSold: false },
      ],
    }).replace('"id":1,', '"id":90071992547409931234,'),
    [
      text('shop: Acme'),
      heading(1, 'open'),
      text('monday: 9-18\nsunday.from: 10\nsunday.to: 12.5'),
      heading(1, 'tags'),
      item('', 'tea'),
      item('', 'pots'),
      heading(1, 'items'),
      text(
        'id: 90071992547409931234\nname: Kettle\nprice.amount: 49.9\nprice.currency: EUR\ncolours: black, white\nsizes.1: 1, 2\nsizes.2: 3',
      ),
      text('id: 2\nname: Pot of tea\nisSold: false'),
    ],
  ),
  file('lines.json', '{"q":"Open?","a":"Yes, 9\\u201318"}\n{"q":"Sunday?","a":"No"}\n', [
    text('q: Open?\na: Yes, 9–18'),
    text('q: Sunday?\na: No'),
  ]),
  file('numbers.json', '{"a":1e5,"b":-0.00001,"c":12345678901234567890,"d":1.50,"e":true}', [
    text('a: 1e5'),
    text('b: -0.00001\nc: 12345678901234567890\nd: 1.50\ne: true'),
  ]),
  file(
    'without-values.json',
    '{"shop":"Acme","fax":null,"open":{"mon":"9","sun":null,"":"ask 7","more":{}},"items":[{"id":1,"note":"","tags":[],"sizes":[4,null,6]}]}',
    [
      text('shop: Acme\nfax:'),
      heading(1, 'open'),
      text('mon: 9\nsun:\nask 7\nmore:'),
      heading(1, 'items'),
      text('id: 1\nnote:\ntags:\nsizes: 4, , 6'),
    ],
  ),
  file('rows.json', '[["Tea",2],["Cup",3]]', [text('1: Tea, 2'), text('2: Cup, 3')]),
];

const plain: CorpusFile[] = [
  file('pages.txt', 'Page one\n\nstill 1\fsecond 2\n\f\nfourth 4', [text('Page one'), text('still 1'), text('second 2'), text('fourth 4')]),
  file(
    'letter.txt',
    'RETURN POLICY\n\nCustomers may return any item that they have not opened within\nforty-five days of the day on which it was delivered to them and\nget their money back.\n\n- the receipt\n- the parcel, in the packaging\n  that it came in\n1) Go to the counter.\n(b) Ask for Ada.\n',
    [
      heading(2, 'RETURN POLICY'),
      text(
        'Customers may return any item that they have not opened within forty-five days of the day on which it was delivered to them and get their money back.',
      ),
      item('', 'the receipt'),
      item('', 'the parcel, in the packaging that it came in'),
      item('1)', 'Go to the counter.'),
      item('(b)', 'Ask for Ada.'),
    ],
  ),
  file('signs.txt', 'of\ufb01ce re\u00adfund\u200b \u00a0a\u0301 \u2007 12\u202f500\u00a0€ １２３ ٤٥ ½ 😀 5 ‰ x² ﬂoor\n', [
    text('office refund á 12 500 € １２３ ٤٥ ½ 😀 5 ‰ x² floor'),
  ]),
  file('one-line.txt', `${'word 5 '.repeat(30_000)}end`, [text(`${'word 5 '.repeat(30_000)}end`)]),
  file('numbered.txt', 'First steps\n\n1. Scope\n\nThis is about returns.\n\n2. Time\n\n45 days.\n', [
    text('First steps'),
    heading(2, '1. Scope'),
    text('This is about returns.'),
    heading(2, '2. Time'),
    text('45 days.'),
  ]),
  file('columns.txt', 'Item      Price\nTea        2.50\nCup        3.00\n', [text('Item Price Tea 2.50 Cup 3.00')]),
];

export const markupFiles: CorpusFile[] = [...webPages, ...markdown, ...json, ...plain];
