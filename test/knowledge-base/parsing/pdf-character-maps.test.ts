import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { CharacterMaps } from '../../../src/knowledge-base/parsing/pdf/character-maps/character-maps.ts';
import { smallPdf, type SmallPdf } from '../../fixtures/documents/small-pdfs.ts';
import { outlineOf } from '../document-support.ts';
import { makeCjkPdf } from './make-cjk-pdf.ts';

const sentences: [SmallPdf, string][] = [
  ['cjk-90ms-RKSJ-H.pdf', '返品は四十五日以内にお願いします。'],
  ['cjk-ETen-B5-H.pdf', '退貨政策：商品可在四十五天內退回。'],
  ['cjk-GBK-EUC-H.pdf', '退货政策：商品可在四十五天内退回。'],
  ['cjk-KSCms-UHC-H.pdf', '반품은 사십오일 이내에 가능합니다.'],
  ['cjk-UniCNS-UCS2-H.pdf', '退貨政策：商品可在四十五天內退回。'],
  ['cjk-UniGB-UCS2-H.pdf', '退货政策：商品可在四十五天内退回。'],
  ['cjk-UniJIS-UCS2-H.pdf', '返品は四十五日以内にお願いします。'],
];

test.each(sentences)('%s is read by the character map that it names', async (name, sentence) => {
  const encoding = name.slice('cjk-'.length, -'.pdf'.length);
  const document = await parseDocument(smallPdf(name), name);
  expect(outlineOf(document)).toEqual([`p Shop policy ${encoding}`, `p ${sentence}`, 'p End of the policy.']);
  expect(document.warnings).toEqual([]);
});

const utf16 = (text: string) =>
  [...Array(text.length).keys()].map((index) => text.charCodeAt(index).toString(16).padStart(4, '0')).join('');

test.each([
  ['UniGB-UTF16-H', 'GB1', utf16('退货政策')],
  ['UniCNS-UTF16-H', 'CNS1', utf16('退貨政策')],
  ['UniJIS-UTF16-H', 'Japan1', utf16('返品政策')],
  ['UniKS-UTF16-H', 'Korea1', utf16('반품정책')],
  ['UniKS-UCS2-H', 'Korea1', utf16('반품정책')],
  ['GBK2K-H', 'GB1', 'cdcbbbf5d5feb2df'],
  ['GB-EUC-H', 'GB1', 'cdcbbbf5d5feb2df'],
  ['B5pc-H', 'CNS1', 'b068b366ac46b5a6'],
  ['HKscs-B5-H', 'CNS1', 'b068b366ac46b5a6'],
  ['90pv-RKSJ-H', 'Japan1', '95d4956990ad8df4'],
  ['EUC-H', 'Japan1', 'cad6c9cac0afbaf6'],
  ['KSC-EUC-H', 'Korea1', 'b9ddc7b0c1a4c3a5'],
])('%s, and its form for lines that run downwards, are known', async (encoding, ordering, codes) => {
  const expected = {
    GB1: '退货政策',
    CNS1: '退貨政策',
    Japan1: '返品政策',
    Korea1: '반품정책',
  }[ordering];
  expect(outlineOf(await parseDocument(makeCjkPdf({ encoding, ordering, codes }), 'a.pdf'))).toEqual([
    'p Shop policy',
    expect.stringMatching(new RegExp(`^\\S+ ${expected}$`)),
    'p End.',
  ]);
  if (encoding === 'B5pc-H' || encoding === '90pv-RKSJ-H') return;
  const downwards = makeCjkPdf({ encoding: encoding.replace(/H$/, 'V'), ordering, codes, before: 'Policy' });
  const texts = outlineOf(await parseDocument(downwards, 'a.pdf'));
  expect(texts.join('\n')).toContain(expected);
});

test('a font whose codes are the numbers of its characters is read by its collection', async () => {
  const document = await parseDocument(makeCjkPdf({ encoding: 'Identity-H', ordering: 'Japan1', codes: '0022002300240025' }), 'a.pdf');
  expect(outlineOf(document)).toContain('h1 ABCD');
});

test('lines that run downwards are read from the right', async () => {
  const bytes = makeCjkPdf({
    encoding: 'UniJIS-UCS2-V',
    ordering: 'Japan1',
    codes: `${utf16('返品は四十五日以内に')}> Tj ET BT /F2 12 Tf 50 700 Td <${utf16('お願いします。')}`,
    before: 'P',
  });
  expect(outlineOf(await parseDocument(bytes, 'a.pdf')).join('\n')).toContain('返品は四十五日以内にお願いします。');
});

test('other data than character maps is refused, and so is a map that does not exist', async () => {
  const maps = new CharacterMaps();
  expect((await maps.fetch({ kind: 'cMapUrl', filename: 'UniJIS-UTF16-H.bcmap' })).length).toBeGreaterThan(20_000);
  await expect(maps.fetch({ kind: 'cMapUrl', filename: 'Other-H.bcmap' })).rejects.toThrow('There is no character map Other-H.bcmap');
  await expect(maps.fetch({ kind: 'wasmUrl', filename: 'UniJIS-UCS2-H.bcmap' })).rejects.toThrow('There is no character map');
});

test('a change of a map that was handed out changes no other', async () => {
  const maps = new CharacterMaps();
  const first = await maps.fetch({ kind: 'cMapUrl', filename: 'H.bcmap' });
  const bytes = first.slice();
  first.fill(0);
  expect(await maps.fetch({ kind: 'cMapUrl', filename: 'H.bcmap' })).toEqual(bytes);
});
