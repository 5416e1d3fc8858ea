import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { bytesOf, failureOf, outlineOf, parseText } from '../document-support.ts';

const outline = async (text: string, name: string) => outlineOf(await parseText(text, name));

test('plain text: paragraphs, wrapped lines, lists, headings in capitals and underlined', async () => {
  const text = `RETURN POLICY

Customers may return any item that they have not opened within
forty-five days of the day on which it was delivered to them and
get their money back.

Opening hours
=============
Mon-Fri 10-19
Sat 10-14

Bring along:
- the receipt
- the parcel, in the packaging
  that it came in
1. Go to the counter.
`;
  expect(await outline(text, 'policy.txt')).toEqual([
    'h2 RETURN POLICY',
    'p Customers may return any item that they have not opened within forty-five days of the day on which it was delivered to them and get their money back.',
    'h1 Opening hours',
    'p Mon-Fri 10-19\nSat 10-14',
    'p Bring along:',
    '- the receipt',
    '- the parcel, in the packaging that it came in',
    '- 1. Go to the counter.',
  ]);
});

test('a form feed begins a page', async () => {
  const document = await parseText('first\n\nstill first\fsecond\f\fafter an empty one', 'pages.txt');
  expect(document.blocks.map(({ text, page }) => [text, page])).toEqual([
    ['first', 1],
    ['still first', 1],
    ['second', 2],
    ['after an empty one', 4],
  ]);
  expect(document.metadata.pages).toBe(4);
});

test.each(['\n', '\r\n', '\r'])('line ends %j are one', async (end) => {
  expect(await outline(['one', 'two', '', 'three'].join(end), 'a.txt')).toEqual(['p one\ntwo', 'p three']);
});

test('encodings are found out: UTF-8 with and without mark, UTF-16 of both kinds, Windows-1252', async () => {
  const text = 'Größe: 5 €, naïve café';
  const utf16 = (isLittle: boolean) => {
    const view = new DataView(new ArrayBuffer(text.length * 2 + 2));
    [0xfeff, ...text].forEach((sign, index) => view.setUint16(index * 2, typeof sign === 'number' ? sign : sign.charCodeAt(0), isLittle));
    return new Uint8Array(view.buffer);
  };
  const western = Uint8Array.from(text, (sign) => (sign === '€' ? 0x80 : sign.charCodeAt(0)));
  for (const bytes of [bytesOf(text), bytesOf(`\ufeff${text}`), utf16(true), utf16(false), western])
    expect(outlineOf(await parseDocument(bytes, 'a.txt'))).toEqual([`p ${text}`]);
});

test('invisible characters and ligatures are resolved', async () => {
  expect(await outline('of\ufb01ce re\u00adfund\u200b \u00a0a\u0301', 'a.txt')).toEqual(['p office refund á']);
});

test('Markdown: headings, lists, tables, code, front matter, and HTML in it', async () => {
  const text = `---
title: "Returns handbook"
---
# Returns

Unopened items go back within **45 days**, see [the form](https://example.org/form).

1. Pack it
2. Send it
   - insured

| Item | Days |
|---|---|
| Kettle | 45 |
| *Gift card* | none |

\`\`\`sh
refund --all
# not a heading
\`\`\`
<p>Call <b>us</b> &amp; ask</p>
`;
  const document = await parseText(text, 'handbook.md');
  expect(document.title).toBe('Returns handbook');
  expect(outlineOf(document)).toEqual([
    'h1 Returns',
    'p Unopened items go back within 45 days, see the form.',
    '- 1. Pack it',
    '- 2. Send it',
    '- insured',
    '| Item | Days',
    '| Kettle | 45',
    '| Gift card | none',
    'p refund --all\n# not a heading',
    'p Call us & ask',
  ]);
});

test('Markdown that is longer than a part is cut between blocks, never in code', async () => {
  const fence = `\`\`\`\n${'code\n\n# comment\n'.repeat(6000)}\`\`\``;
  const sections = Array.from({ length: 300 }, (_, index) => `## Section ${index}\n\n${'word '.repeat(60)}\n`).join('\n');
  const lines = await outline(`${sections}\n${fence}\n\n## Last\n\nend`, 'long.md');
  expect(lines.filter((line) => line.startsWith('h'))).toEqual([
    ...Array.from({ length: 300 }, (_, index) => `h2 Section ${index}`),
    'h2 Last',
  ]);
});

test('a CSV is a table whatever its delimiter, a TSV too', async () => {
  expect(await outline('Name;Price\n"Kettle; black";49,90\n', 'a.csv')).toEqual(['| Name | Price', '| Kettle; black | 49,90']);
  expect(await outline('Name\tPrice\nKettle\t49\n', 'a.tsv')).toEqual(['| Name | Price', '| Kettle | 49']);
});

test('a long table comes in parts that know their header', async () => {
  const rows = Array.from({ length: 5000 }, (_, index) => `Kettle ${index},${index}.90`);
  const { blocks } = await parseText(`Name,Price\n${rows.join('\n')}\n`, 'prices.csv');
  expect(blocks.length).toBeGreaterThan(1);
  expect(blocks.map((block) => block.kind === 'table' && block.header)).toEqual(blocks.map(() => 'Name | Price'));
  expect(blocks.map((block) => block.kind === 'table' && block.isContinued)).toEqual(blocks.map((_, index) => index > 0));
  expect(blocks.flatMap((block) => block.text.split('\n'))).toEqual(['Name | Price', ...rows.map((row) => row.replace(',', ' | '))]);
});

test('JSON: every value with its name, objects of a list as paragraphs, ids beyond 2^53 whole', async () => {
  const text = JSON.stringify({
    shop: 'Acme',
    opening: { monday: '10-19', sunday: null, friday: '', '': 'ask', more: {}, '  ': [] },
    tags: ['kettles', 'tea'],
    products: [
      { id: 1, name: 'Kettle', price: { amount: 49.9, currency: 'EUR' }, colours: ['black', 'white'] },
      { id: 2, name: 'Pot\nof tea', isSold: true, offers: [], sizes: [1, null, 3], note: null },
    ],
  }).replace('"id":1', '"id":9007199254740993');
  expect(await outline(text, 'shop.json')).toEqual([
    'p shop: Acme',
    'h1 opening',
    'p monday: 10-19\nsunday:\nfriday:\nask\nmore:',
    'h1 tags',
    '- kettles',
    '- tea',
    'h1 products',
    'p id: 9007199254740993\nname: Kettle\nprice.amount: 49.9\nprice.currency: EUR\ncolours: black, white',
    'p id: 2\nname: Pot of tea\nisSold: true\noffers:\nsizes: 1, , 3\nnote:',
  ]);
});

test('JSON: a list, lines of objects and a lone value', async () => {
  expect(await outline('[{"q":"Open?","a":"Yes"},{"q":"Sunday?","a":"No"}]', 'faq.json')).toEqual([
    'p q: Open?\na: Yes',
    'p q: Sunday?\na: No',
  ]);
  expect(await outline('{"a":1}\n{"a":2}\n', 'lines.jsonl')).toEqual(['p a: 1', 'p a: 2']);
  expect(await outline('"hello"', 'word.json')).toEqual(['p hello']);
});

test('JSON: plain values behind a section stand below a heading of their own', async () => {
  expect(await outline('{"contact":{"phone":"123"},"closed":[],"note":"Shop is open"}', 'a.json')).toEqual([
    'h1 contact',
    'p phone: 123',
    'h1 closed',
    'h1 note',
    'p note: Shop is open',
  ]);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const values = Object.fromEntries(names.map((name) => [name, name === 'b' ? null : 1]));
  expect(await outline(JSON.stringify({ first: 0, hours: ['9', '18'], ...values, tags: ['x'], last: true }), 'a.json')).toEqual([
    'p first: 0',
    'h1 hours',
    '- 9',
    '- 18',
    'h1 a, b, c, d, e, ...',
    'p a: 1\nb:\nc: 1\nd: 1\ne: 1\nf: 1',
    'h1 tags',
    '- x',
    'h1 last',
    'p last: true',
  ]);
  expect(await outline('{"a":{"x":1}}\n{"b":2}\n', 'a.jsonl')).toEqual(['h1 a', 'p x: 1', 'h1 b', 'p b: 2']);
});

test('JSON: an empty name loses no value, and values stay in their order', async () => {
  expect(await outline('{"": "x", "b": 1}', 'a.json')).toEqual(['p x\nb: 1']);
  expect(await outline('[{"id": 1, "": "x", "b": {"": 2, "c": null}}]', 'a.json')).toEqual(['p id: 1\nx\nb: 2\nb.c:']);
  expect(await outline('{"a": {"c": 1, "": ["x", "y"], "d": 2}}', 'a.json')).toEqual(['h1 a', 'p c: 1', '- x', '- y', 'p d: 2']);
  expect(await outline('{"a": null}', 'a.json')).toEqual(['p a:']);
  expect(await failureOf(bytesOf('[null, {}, []]'), 'a.json')).toMatchObject({ code: 'empty' });
});

test.each([
  ['a placeholder', 'Call <your-key> with <words> or <angle text> daily.'],
  ['types of code', 'Vec<String>, List<int>, Map<K, V> and Array<object> of <T>'],
  ['names of elements as placeholders', 'cp <source> <address> <title> <path>, see <a> and <object>'],
  ['a comparison', 'a < b, c <d and e> f <= g'],
  ['an address', 'Write to <name@example.org> or <https://example.org/a>'],
  ['a closing tag of no element', 'ends with </words> here'],
  ['an instruction', 'Begin with <?xml ?> or <!important note>'],
  ['a comment without an end', 'before <!-- and after'],
])('Markdown: %s in angle brackets is read as text', async (_what, line) => {
  const read = line.replace(/<(name@example.org|https:[^>]*)>/g, '$1');
  expect(await outline(`# Use\n\n${line}\n`, 'a.md')).toEqual(['h1 Use', `p ${read}`]);
  expect(await outline(`# ${line}\n\n- ${line}\n\nend`, 'a.md')).toEqual([`h1 ${read}`, `- ${read}`, 'p end']);
  expect(await outline(`<div>${line}</div>\n`, 'a.md')).toEqual([`p ${line}`]);
});

test.each(['<words>', '<your-key>', '<title>', '<script>', '<style>', '<iframe>', '<!-- draft', '<pre>', '<svg>', '<textarea>'])(
  'Markdown: a line that begins with %s, which nothing ends, takes no text with it',
  async (tag) => {
    expect(await outline(`${tag} of **all**\n\n- one\n\nend`, 'a.md')).toEqual([`p ${tag} of all`, '- one', 'p end']);
    expect(await outline(`${tag}\n\n# Next\n\nend`, 'a.md')).toEqual([`p ${tag}`, 'h1 Next', 'p end']);
  },
);

test('Markdown: tags of elements, of custom elements and comments are no text', async () => {
  const text =
    'H<sub>2</sub>O, <b>all</b> and<br>next <my-note kind="x">5</my-note> <my-tab>6</my-tab> <!-- draft --> <img src="x.png" alt="Map"> <a href="x">form</a>';
  expect(await outline(text, 'a.md')).toEqual(['p H2O, all and\nnext 5 6 Map form']);
  expect(await outline('<!-- one\n\ntwo -->\n\n<div align="center">\n\n# Acme\n\n</div>\n\n<p>Open 9<p>to 5\n', 'a.md')).toEqual([
    'h1 Acme',
    'p Open 9',
    'p to 5',
  ]);
  expect(await outline('<details><summary>Who pays?</summary>\n\nWe <pay>.\n\n</details>\n', 'a.md')).toEqual([
    'p Who pays?',
    'p We <pay>.',
  ]);
  expect(await outline('<svg width="9"><path d="M0 0"/><text>Sales</text></svg> after', 'a.md')).toEqual(['p after']);
});

test('a picture is read by its title and its description, in HTML and in Markdown', async () => {
  expect(await outline('![Map: Main Street 5](map.png "Our shop") and ![](x.png "Our door")', 'a.md')).toEqual([
    'p Our shop: Map: Main Street 5 and Our door',
  ]);
  const page = await parseText(
    '<p>See <img src="x.png" alt="" title="Our door"> and <img src="y.png" title="Map" alt="Map of us"> <img src="z.png"></p>',
    'a.html',
  );
  expect(outlineOf(page)).toEqual(['p See Our door and Map of us']);
  expect(page.warnings).toMatchObject([{ code: 'images_skipped', count: 1 }]);
});

test('an e-mail without HTML is read as text, and says what is attached', async () => {
  const text = [
    'From: Ada <ada@example.org>',
    'To: Bob <bob@example.org>, carol@example.org',
    'Subject: =?utf-8?q?Gr=C3=B6=C3=9Fe?=',
    'Date: Fri, 16 Dec 2022 17:04:16 +0000',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Hello=20Bob',
    '',
    '- one',
    '--b',
    'Content-Type: application/pdf',
    'Content-Disposition: attachment; filename="price list.pdf"',
    'Content-Transfer-Encoding: base64',
    '',
    'AAAA',
    '--b--',
    '',
  ].join('\r\n');
  expect(await outline(text, 'mail.eml')).toEqual([
    'h1 Größe',
    'p From: Ada <ada@example.org>\nTo: Bob <bob@example.org>, carol@example.org\nDate: 2022-12-16T17:04:16.000Z',
    'p Hello Bob',
    '- one',
    'p Attachments: price list.pdf',
  ]);
  expect((await parseText(text, 'mail.eml')).warnings).toMatchObject([{ code: 'attachments_left_out', count: 1 }]);
});

test('a text of blanks is empty', async () => {
  expect(await failureOf(bytesOf(' \n\t\n '), 'blank.txt')).toMatchObject({ code: 'empty' });
  expect(await failureOf(bytesOf('<html><body><script>x()</script></body></html>'), 'blank.html')).toMatchObject({ code: 'empty' });
});

test('Markdown: a row that is wider than its header keeps its cells, whether or not bars stand at the ends', async () => {
  expect(await outline('| a | b |\n|---|:-:|\n| 1 | 2 | 3 |\n| 4 |\n', 'a.md')).toEqual(['| a | b', '| 1 | 2 | 3', '| 4']);
  expect(await outline('a | b\n--|--\n1 | 2 | | x \\| y\n\nafter', 'a.md')).toEqual(['| a | b', '| 1 | 2 |  | x | y', 'p after']);
});

test('Markdown: a table that filled up would be huge is read as text', async () => {
  const wide = `|${' x |'.repeat(2000)}`;
  const read = await outline(`| a |\n|---|\n${wide}\n${'| y |\n'.repeat(2000)}`, 'a.md');
  expect(read.join(' ').match(/x/g)?.length).toBe(2000);
  expect(read.join(' ').match(/y/g)?.length).toBe(2000);
});

test('Markdown: footnotes of one word, boxes, settings above the text and descriptions of pictures are read', async () => {
  expect(
    await outline('---\ntitle: T\nauthor: Ada\n---\nText[^1] ![map](x.png)\n\n- [x] done\n- [ ] open\n\n[^1]: Giftcards\n', 'a.md'),
  ).toEqual(['p author: Ada', 'p Text[^1] map', '- ☑ done', '- ☐ open', 'p [^1]: Giftcards']);
});

test('names of columns are read as they stand, and far cells stay below them', async () => {
  expect(await outline('Name,,Phone,Phone\nAnn,x,1,2\n', 'a.csv')).toEqual(['| Name |  | Phone | Phone', '| Ann | x | 1 | 2']);
  const row = Array.from({ length: 60 }, (_, index) => `c${index}`);
  const sparse = row.map((cell, index) => (index === 0 || index === 59 ? cell : ''));
  expect(await outline(`${row.join()}\n${sparse.join()}\n`, 'a.csv')).toEqual([`| ${row.join(' | ')}`, `| ${sparse.join(' | ')}`]);
});

test('a file that ends with control-Z is text', async () => {
  expect(await outline('a,b\r\n1,2\r\n\u001a', 'a.csv')).toEqual(['| a | b', '| 1 | 2']);
});

test('attachments and damaged signs of an e-mail are counted', async () => {
  const head = 'From: a@example.org\nTo: b@example.org\nSubject: Hi\nDate: Fri, 16 Dec 2022 17:04:16 +0000\n';
  const part = 'Content-Type: application/pdf\nContent-Disposition: attachment\n\nx\n';
  const text = `${head}Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=utf-8\n\nOpen \u00e4 9\n--b\n${part}--b--\n`;
  const { warnings } = await parseDocument(
    Uint8Array.from(text, (sign) => sign.charCodeAt(0)),
    'a.eml',
  );
  expect(warnings.map(({ code, count }) => [code, count])).toEqual([
    ['attachments_left_out', 1],
    ['characters_damaged', 1],
  ]);
});

const mailOf = (headers: string, body: string): Uint8Array =>
  Uint8Array.from(
    `From: a@example.org\nTo: b@example.org\nSubject: Hi\nDate: Fri, 16 Dec 2022 17:04:16 +0000\n${headers}\n${body}`,
    (sign) => sign.charCodeAt(0),
  );

test.each([
  ['no charset, UTF-8', 'Content-Type: text/plain\n', 'Gr\u00c3\u00b6\u00c3\u009fe', 'Größe', []],
  [
    'no charset, Cyrillic',
    'Content-Type: text/plain\n',
    '\u00cf\u00f0\u00e8\u00e2\u00e5\u00f2 \u00e2\u00f1\u00e5\u00ec',
    'Привет всем',
    ['encoding_guessed'],
  ],
  [
    'an unknown charset',
    'Content-Type: text/plain; charset=x-none\n',
    '\u00cf\u00f0\u00e8\u00e2\u00e5\u00f2 \u00e2\u00f1\u00e5\u00ec',
    'Привет всем',
    ['encoding_guessed'],
  ],
  ['UTF-8 that is named ASCII', 'Content-Type: text/plain; charset=us-ascii\n', 'Gr\u00c3\u00b6\u00c3\u009fe', 'Größe', []],
  ['UTF-8 that is named Latin-1', 'Content-Type: text/plain; charset=iso-8859-1\n', 'Gr\u00c3\u00b6\u00c3\u009fe', 'Größe', []],
  ['a page that names its charset', 'Content-Type: text/html\n', '<meta charset="windows-1251"><p>\u00cf\u00f0\u00e8', 'При', []],
  ['a charset in a spelling of its own', 'Content-Type: text/plain; charset=x-big5\n', '\u00b0\u0068\u00b3\u0066', '退貨', []],
])('an e-mail with %s is read in its encoding', async (_what, headers, body, expected, warned) => {
  const { blocks, warnings } = await parseDocument(mailOf(headers, body), 'a.eml');
  expect(blocks.at(-1)!.text).toBe(expected);
  expect(warnings.map(({ code }) => code)).toEqual(warned);
});

test('Markdown: a note of one word is text, an address is none', async () => {
  expect(await outline('See [a].\n\n[Note]: Important\n\n[a]: https://example.org\n', 'a.md')).toEqual(['p See a.', 'p [Note]: Important']);
});
