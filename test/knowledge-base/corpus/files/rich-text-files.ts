import { encodeText } from '../../../support/encode-text.ts';
import { prose } from '../../../support/returns-policies.ts';
import { heading, item, table, text, type CorpusFile, type Part } from '../source.ts';
import { escapeAs, toRichText } from '../write/write-rich-text.ts';
import { splitPolicy } from './encoded-files.ts';

const file = (name: string, body: string, source: Part[], more: Partial<CorpusFile> = {}): CorpusFile => ({
  name,
  bytes: () => new TextEncoder().encode(String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}}` + `\n${body}}`),
  source,
  ...more,
});

const codePages: [page: number, encoding: string, language: string][] = [
  [1250, 'windows-1250', 'pl'],
  [1251, 'windows-1251', 'ru'],
  [1253, 'windows-1253', 'el'],
  [1254, 'windows-1254', 'tr'],
  [1255, 'windows-1255', 'he'],
  [1256, 'windows-1256', 'ar'],
  [1257, 'windows-1257', 'lt'],
  [874, 'windows-874', 'th'],
  [932, 'shift_jis', 'ja'],
  [936, 'gb18030', 'zh-Hans'],
  [949, 'euc-kr', 'ko'],
  [950, 'big5', 'zh-Hant'],
  [866, 'ibm866', 'ru'],
  [20866, 'koi8-r', 'ru'],
  [28592, 'iso-8859-2', 'cs'],
];

const encoded = codePages.map(([page, encoding, language]): CorpusFile => {
  const [title, body] = splitPolicy(prose[language]!);
  const source = [heading(1, title), text(body), item('', title), table([title, '45'], [body, ''])];
  return {
    name: `code-page-${page}.rtf`,
    source,
    bytes: () =>
      new TextEncoder().encode(
        toRichText(source, { head: `\\ansi\\ansicpg${page}`, escape: escapeAs((content) => encodeText(content, encoding)) }),
      ),
  };
});

export const richTextFiles: CorpusFile[] = [
  ...encoded,
  file(
    'headers-and-notes.rtf',
    String.raw`{\header\pard Acme Ltd\par}{\footer\pard Hotline 0800 123\par}{\footerf\pard Hotline 0800 123\par}{\footer\pard Page {\field{\*\fldinst PAGE}{\fldrslt 7}}\par}
\pard Items go back{\super\chftn}{\footnote\pard\chftn  Except gift cards 5.\par} in time.\par\pard Next line.\par`,
    [text('Acme Ltd'), text('Items go back in time.'), text('Except gift cards 5.'), text('Next line.'), text('Hotline 0800 123')],
  ),
  file(
    'boxes.rtf',
    String.raw`\pard Before\par{\shp{\*\shpinst\shpleft1{\sp{\sn shapeType}{\sv 202}}{\shptxt \pard In the box 12\par}}{\shprslt{\*\do\dptxbx{\dptxbxtext\pard In the box 12\par}}}}\pard After\par{\object\objemb{\*\objclass Excel.Sheet.12}{\*\objdata 0105}{\result {\pard Result 9\par}}}`,
    [text('Before'), text('In the box 12'), text('After'), text('Result 9')],
  ),
  file(
    'pictures-and-hidden.rtf',
    String.raw`\pard See {\pict\pngblip 89504e47}{\*\shppict{\pict\pngblip 89504e47}}{\nonshppict{\pict\wmetafile8 0100}}below{\v secret} 5{\deleted old} x.\par\pard{\v \pard Draft\par}\pard End\par`,
    [text('See below 5 x.'), text('End')],
    { leftOut: { images_skipped: '', hidden_left_out: 'secret Draft' } },
  ),
  file(
    'described-pictures.rtf',
    String.raw`\pard Find us 1 {\*\shppict{\pict{\*\picprop{\sp{\sn wzDescription}{\sv Map: Main Street 5}}}\pngblip 89}}{\nonshppict{\pict\wmetafile8 01}}or call 2\par\pard{\shp{\*\shpinst\shpleft1{\sp{\sn gtextUNICODE}{\sv Summer sale 3}}{\sp{\sn shapeType}{\sv 136}}}}\par`,
    [text('Find us 1 Map: Main Street 5 or call 2'), text('Summer sale 3')],
  ),
  file(
    'tables.rtf',
    String.raw`\trowd\clmgf\cellx1000\clmrg\cellx2000\cellx3000\pard\intbl Size\cell\cell Price\cell\row
\trowd\clvmgf\cellx1000\cellx2000\cellx3000\pard\intbl Kettle\par black\cell 1 l\cell 49\cell\row
\trowd\clvmrg\cellx1000\cellx2000\cellx3000\pard\intbl\cell 2 l\cell\cell\row\pard after\par
\trowd\cellx1000\cellx2000\pard\intbl last\cell row 7\cell\row`,
    [table(['Size', '', 'Price'], ['Kettle black', '1 l', '49'], ['', '2 l']), text('after'), table(['last', 'row 7'])],
  ),
  file(
    'lists.rtf',
    String.raw`\pard{\listtext\pard 1.\tab}one\par\pard{\listtext\pard 1.1.\tab}deep\par\pard{\listtext\pard 2.\tab}two\par\pard{\pntext\'b7\tab}bullet 5\par{\*\listtable{\list 9}}\pard (a) typed\par`,
    [item('1.', 'one'), item('1.1.', 'deep', 1), item('2.', 'two'), item('', 'bullet 5'), item('(a)', 'typed')],
  ),
  file(
    'signs.rtf',
    String.raw`\pard \ldblquote a\rdblquote\~b\emdash c\endash d\bullet e\lquote f\rquote\tab g\line h\_i\-j {\uc0\u8364}5 {\uc2\u8364 ??}6 10{\super 6} m{\super 2} 10\up6 3\up0  x\par`,
    [text('“a” b—c–d•e‘f’ g\nh-ij €5 €6 10^6 m2 10^3 x')],
  ),
  {
    name: 'fonts-of-two-code-pages.rtf',
    bytes: () =>
      new TextEncoder().encode(
        String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial Cyr;}}\f0 caf\'e9 7 \f1 \'cf\'f0\'e8 \f0 \'e4\par}`,
      ),
    source: [text('café 7 При ä')],
  },
];
