import { expect, test } from 'vitest';
import { outlineOf, parseText } from '../document-support.ts';

const outline = async (rtf: string) => outlineOf(await parseText(rtf, 'a.rtf'));

test('letters are read in the code page of their font, and as Unicode with its fallback left out', async () => {
  const fonts = String.raw`{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial Cyr;}{\f2\fcharset128 Gothic;}}`;
  expect(
    await outline(
      String.raw`{\rtf1\ansi\ansicpg1252${fonts}\f0 caf\'e9 \f1 \'cf\'f0\'e8 \f2 \'93\'fa\par \uc1\u8364?5 \u-10179?\u-8704? \{x\}\par}`,
    ),
  ).toEqual(['p café При 日', 'p €5 😀 {x}']);
});

test('headings come from outline levels and styles, the title from the information', async () => {
  const rtf = String.raw`{\rtf1{\info{\title Handbook}{\author Ada}}{\stylesheet{\s0 Normal;}{\s1\b heading 2;}}
\pard\s1 Returns\par\pard\s0 Within 45 days.\par\pard\outlinelevel2 Gifts\par\pard\plain text\par}`;
  const document = await parseText(rtf, 'a.rtf');
  expect(document.title).toBe('Handbook');
  expect(outlineOf(document)).toEqual(['h2 Returns', 'p Within 45 days.', 'h3 Gifts', 'p text']);
});

test('pictures, codes of fields and hidden text are left out; bullets and numbers of lists are distinguished', async () => {
  const rtf = String.raw`{\rtf1{\header Acme}{\pict 0123abcd}{\*\generator Word}{\field{\*\fldinst HYPERLINK "https://x"}{\fldrslt the link}}\par
{\listtext\'b7\tab}the receipt\par{\listtext 2.\tab}second\par{\v secret}shown\par\bin4 {{{{last\par}`;
  expect(await outline(rtf)).toEqual(['p Acme', 'p the link', '- the receipt', '- 2. second', 'p shown', 'p last']);
});

test('tables are read row by row', async () => {
  const rtf = String.raw`{\rtf1\trowd\cellx1\cellx2\intbl Name\cell Price\cell\row\trowd\intbl Kettle\par black\cell 49\cell\row\pard after\par}`;
  expect(await outline(rtf)).toEqual(['| Name | Price', '| Kettle black | 49', 'p after']);
});

test('headers come once, notes after their paragraph, footers last and without page numbers', async () => {
  const rtf = String.raw`{\rtf1{\headerl Acme\par}{\headerr Acme\par}{\footer Page {\field{\*\fldinst PAGE}{\fldrslt 3}}\par}{\footerf Hotline 5\par}
Back{\footnote Not gift cards.\par} soon.\par Next.\par}`;
  expect(await outline(rtf)).toEqual(['p Acme', 'p Back soon.', 'p Not gift cards.', 'p Next.', 'p Hotline 5']);
});

test('a box of text is read once, beside the paragraph that holds it', async () => {
  const rtf = String.raw`{\rtf1 One{\shp{\*\shpinst{\sp{\sn a}{\sv 1}}{\shptxt \pard Box 7\par}}{\shprslt{\*\do{\dptxbxtext Box 7\par}}}} line\par}`;
  expect(await outline(rtf)).toEqual(['p Box 7', 'p One line']);
});

test('pictures, hidden texts and comments are counted; deleted text is no text', async () => {
  const rtf = String.raw`{\rtf1 a{\pict 01}{\*\shppict{\pict 01}}{\nonshppict{\pict 02}}{\v secret}{\deleted old}{\*\annotation note}{\xe entry} b\par}`;
  const document = await parseText(rtf, 'a.rtf');
  expect(outlineOf(document)).toEqual(['p a b']);
  expect(document.warnings.map(({ code, count }) => [code, count])).toEqual([
    ['images_skipped', 2],
    ['hidden_left_out', 1],
    ['comments_left_out', 1],
  ]);
});

test('what a picture is described as, and words that are drawn, are read where they stand, once', async () => {
  const described = (text: string) => String.raw`{\*\picprop{\sp{\sn wzName}{\sv Picture 3}}{\sp{\sn wzDescription}{\sv ${text}}}}`;
  const rtf = String.raw`{\rtf1\ansi Find us {\*\shppict{\pict${described(String.raw`Map: Stra\'dfe \u8364?5`)}\pngblip 01}}{\nonshppict{\pict 02}}here{\pict${described('')}01}\par
{\shp{\*\shpinst{\sp{\sn gtextUNICODE}{\sv Summer sale}}{\sp{\sn fillColor}{\sv 255}}}}\par{\v {\pict${described('Draft')}01}}end\par}`;
  const document = await parseText(rtf, 'a.rtf');
  expect(outlineOf(document)).toEqual(['p Find us Map: Straße €5 here', 'p Summer sale', 'p end']);
  expect(document.warnings).toMatchObject([
    { code: 'images_skipped', count: 1 },
    { code: 'hidden_left_out', count: 1 },
  ]);
});

test('symbols of fonts are read as Unicode has them, in texts and as bullets; those that are not known are counted', async () => {
  const fonts = String.raw`{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset2 Symbol;}{\f2\fnil\fcharset2{\*\panose 05}Wingdings;}{\f3\fcharset2 Keys 3;}}`;
  const rtf = String.raw`{\rtf1\ansi${fonts}\f0 It is 5{\f1 \'b0} and {\f1 a}, {\f2\'fc} paid, {\f2 \u-3844?} sent, {\f3\u-4031?}press \f2\'80\plain  end\par
{\pntext\f2\'d8\tab}one\par}`;
  const document = await parseText(rtf, 'a.rtf');
  expect(outlineOf(document)).toEqual(['p It is 5° and α, ✓ paid, ✓ sent, press 🄋 end', '- one']);
  expect(document.warnings).toMatchObject([{ code: 'symbols_unread', count: 1, message: expect.stringContaining('Keys 3') }]);
});

test('a field without a result is counted', async () => {
  const document = await parseText(
    String.raw`{\rtf1\ansi Due {\field{\*\fldinst = 2+3}{\fldrslt }} days, page {\field{\*\fldinst PAGE}{\fldrslt }}\par}`,
    'a.rtf',
  );
  expect(document.warnings.map(({ code, count }) => [code, count])).toEqual([['formulas_left_out', 1]]);
});

test('a code page whose letters are not known makes the document say so', async () => {
  const document = await parseText(String.raw`{\rtf1\ansi\ansicpg437 gr\'81n\par}`, 'a.rtf');
  expect(document.warnings).toMatchObject([{ code: 'encoding_uncertain', message: expect.stringContaining('code page 437') }]);
});

test('a row that is not ended is read', async () => {
  expect(await outline(String.raw`{\rtf1\trowd\pard\intbl a\cell b}`)).toEqual(['| a | b']);
});

test.each([
  [String.raw`EQ \\f(1,2)`, '1/2'],
  [String.raw`eq \\o\\ac({\u9675?},3)`, '③'],
  [String.raw`SYMBOL 252 \\f "Wingdings"`, '✓'],
  ['HYPERLINK "http://x.y"', ''],
])('a field that Word computes as it shows it is read: %s', async (instruction, shown) => {
  for (const field of [
    String.raw`{\field{\*\fldinst ${instruction}}{\fldrslt }}`,
    String.raw`{\field{\*\fldinst {\b ${instruction}}}}`,
    String.raw`{\field\fldlock{\*\fldinst ${instruction} \\* MERGEFORMAT}{\fldrslt{\f0 }}}`,
  ])
    expect(await outline(String.raw`{\rtf1\ansi Take ${field} of it\par}`)).toEqual([`p Take ${shown} of it`.replace(/ +/g, ' ')]);
  const withResult = String.raw`{\field{\*\fldinst ${instruction}}{\fldrslt half}}`;
  expect(await outline(String.raw`{\rtf1\ansi Take ${withResult} of it\par}`)).toEqual(['p Take half of it']);
});
