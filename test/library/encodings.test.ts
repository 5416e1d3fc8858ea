/// <reference types="vite/client" />
import { describe, expect, test } from 'vitest';
import { decodeText } from '../../src/library/text/decode-text.ts';
import { toEncodingName } from '../../src/library/text/encodings/encoding-names.ts';
import { guessEncoding } from '../../src/library/text/encodings/guess-encoding.ts';
import { UncertainEncoding, UnreadableFileError } from '../../src/library/text/unreadable-file.ts';
import { parseDocument } from '../../src/knowledge-base/parsing/parse-document.ts';
import { dosCodePages } from '../../src/library/text/encodings/dos-code-pages.ts';
import { encodeText } from '../support/encode-text.ts';
import { encodingsOfLanguages, prose } from '../support/returns-policies.ts';

const files = import.meta.glob<string>('../fixtures/encodings/*.txt', { query: '?url&inline', import: 'default', eager: true });
const bytesOf = async (name: string) =>
  new Uint8Array(await (await fetch(files[`../fixtures/encodings/returns-policy.${name}.txt`]!)).arrayBuffer());

const texts = Object.entries(encodingsOfLanguages).flatMap(([language, encodings]) =>
  encodings.map((encoding) => ({ encoding, language, text: writable(prose[language]!, encoding) })),
);
/** The text without the signs that the encoding lacks. */
function writable(text: string, encoding: string): string {
  return [...text].filter((sign) => canWrite(sign, encoding)).join('');
}
function canWrite(sign: string, encoding: string): boolean {
  try {
    encodeText(sign, encoding);
    return true;
  } catch {
    return false;
  }
}

describe('the encoding of a text is told by its letters', () => {
  test.each(texts)('$encoding, $language', ({ encoding, text }) => {
    expect(decodeText(encodeText(text, encoding)).text).toBe(text);
  });

  test('of lines and of short pieces, what is sure is right', () => {
    let [right, sure, all] = [0, 0, 0];
    for (const { encoding, text } of texts)
      for (const piece of [text, text.slice(0, 40), text.slice(20, 45), text.slice(0, 12)].filter((part) => /[^\0-\u007f]/.test(part))) {
        if (encoding === 'iso-2022-jp') continue;
        const guess = guessEncoding(encodeText(piece, encoding));
        const isRight = new TextDecoder(guess.encoding).decode(encodeText(piece, encoding)) === piece;
        all += 1;
        right += isRight ? 1 : 0;
        sure += guess.isSure ? 1 : 0;
        if (guess.isSure) expect([encoding, piece, guess.encoding, isRight]).toEqual([encoding, piece, guess.encoding, true]);
        else if (piece.length >= 25)
          expect(
            guess.candidates.some((candidate) => new TextDecoder(candidate).decode(encodeText(piece, encoding)) === piece),
            `${encoding} ${piece}`,
          ).toBe(true);
      }
    expect(right / all).toBeGreaterThan(0.9);
    expect(sure / all).toBeGreaterThan(0.75);
  });

  test.each([
    ['12,50 €\n9,90 €', 'windows-1252'],
    ['The price is 5 € each.', 'windows-1252'],
    ['€5 or €7', 'windows-1252'],
    ['5 € za kus, žádné další poplatky', 'windows-1250'],
    ['5 € pièce, après la fête 7 €', 'macintosh'],
  ])('a currency beside a number is no letter: %s', (text, encoding) => {
    expect(decodeText(encodeText(text, encoding)).text).toBe(text);
  });

  test.each([
    ['big5', '退貨政策：四十五天內退貨'],
    ['koi8-r', 'Политика возврата: сорок пять дней'],
    ['tis-620', 'นโยบายการคืนสินค้า 45 วัน'],
    ['windows-1253', 'Πολιτική επιστροφών: 45 ημέρες'],
    ['windows-1254', 'İade politikası: kırk beş gün içinde ücretsiz değişim yapılır'],
    ['windows-1255', 'מדיניות החזרות: 45 ימים'],
    ['windows-1256', 'سياسة الإرجاع: خلال خمسة واربعين يوما'],
  ])('a document in %s is read, and says that its encoding was guessed', async (name, text) => {
    const { blocks, warnings } = await parseDocument(await bytesOf(name), 'returns.txt');
    expect(blocks.map((block) => block.text)).toEqual([text]);
    expect(warnings).toMatchObject([{ code: 'encoding_guessed', count: 1, message: expect.stringContaining(toEncodingName(name)!) }]);
  });
});

/** A text in a code page of DOS. Signs that the page lacks are left out. */
function encodeForDos(text: string, page: string): Uint8Array {
  const bytes = [...text].map((sign) => (sign < '\u0080' ? sign.charCodeAt(0) : 0x80 + dosCodePages[page]!.indexOf(sign)));
  return Uint8Array.from(bytes.filter((byte) => byte !== 0x7f));
}

describe('a text in a code page of DOS, which no browser knows, is never sure', () => {
  const written: [page: string, text: string][] = [
    ['ibm437', 'Name;Telefon\nMüller für Öl;+4930901820\nGünther Schön;+4930901821\n'],
    ['ibm437', 'Jürgen Köhler'],
    ['ibm850', 'Åke Sjöström\nBjörn Nyström\nÄlvsborg'],
    ['ibm850', 'Hélène Lefèvre\nFrançois Prévôt\nAgnès Bérengère'],
    ['ibm850', 'José Muñoz\nBegoña Núñez\nÁngel Peña'],
    ['ibm852', 'Łukasz Wójcik\nMałgorzata Gąska\nZdzisław Ćwięk'],
    ['ibm852', 'Jiří Dvořák\nŽofie Černá\nŠtěpán'],
    ['ibm857', 'Ayşe Yılmaz\nİsmail Öğüt\nŞükrü Çağlar'],
    ...['de', 'fr', 'es', 'sv', 'fi'].map((language): [string, string] => ['ibm850', prose[language]!]),
    ...['pl', 'cs', 'hu', 'hr'].map((language): [string, string] => ['ibm852', prose[language]!]),
    ['ibm737', prose['el']!],
    ['ibm862', prose['he']!],
    ['ibm775', prose['lt']!],
  ];

  test.each(written)('%s: %s', async (page, text) => {
    const bytes = encodeForDos(text, page);
    expect(guessEncoding(bytes).isSure).toBe(false);
    expect(() => decodeText(bytes)).toThrow(
      /^The encoding of the file cannot be told for sure: it may be .*; name it in "encoding", or save the file in UTF-8$/,
    );
    const { warnings } = await parseDocument(bytes, 'a.txt');
    expect(warnings.map(({ code }) => code)).toContain('encoding_uncertain');
  });

  test('the error says so', () => {
    expect(() => decodeText(encodeForDos('Größe für Öl über Töpfe, Müller', 'ibm437'))).toThrow(
      /, or ibm\d+, a code page of DOS, which is not read;/,
    );
  });
});

function readOrRefuse(bytes: Uint8Array): string | null {
  try {
    return decodeText(bytes).text;
  } catch (error) {
    if (error instanceof UnreadableFileError) return null;
    throw error;
  }
}

describe('Unicode without a mark', () => {
  test.each(['utf-16le', 'utf-16be'])('%s is told from other text, in any language', (encoding) => {
    for (const text of [...Object.values(prose), 'Привет', 'ab', `${prose['zh-Hans']!.repeat(200)}\n`, '電話\t名前\r\n+81\t太郎\r\n']) {
      // A text without a blank, a digit or a line end may be an error, but never another text.
      if (/[\0-\u007f]|Привет/.test(text)) expect(decodeText(encodeText(text, encoding))).toEqual({ text, encoding });
      else expect(readOrRefuse(encodeText(text, encoding))).toBeOneOf([text, null]);
    }
  });

  test('UTF-8 goes first, and needs no guess', () => {
    for (const text of Object.values(prose)) expect(decodeText(encodeText(text, 'utf-8'))).toEqual({ text, encoding: 'utf-8' });
  });
});

describe('where the bytes do not tell', () => {
  const unsure = encodeText('name,phone\nAyşe,+905321234567\n', 'windows-1254');

  test('the error names the candidates', () => {
    expect(() => decodeText(unsure)).toThrow(UncertainEncoding);
    expect(() => decodeText(unsure)).toThrow(
      /^The encoding of the file cannot be told for sure: it may be .*windows-1254.*; name it in "encoding"/,
    );
  });

  test('the sender names it, by any label', () => {
    expect(decodeText(unsure, 'latin5').text).toContain('Ayşe');
    expect(decodeText(encodeText('é', 'utf-8'), 'latin1').text).toBe('Ã©');
    expect(decodeText(Uint8Array.from([0xef, 0xbb, 0xbf, 0xc3, 0xa9]), 'latin1').text).toBe('é');
  });

  test('bytes that mean nothing in the named encoding are an error', () => {
    expect(() => decodeText(unsure, 'utf-8')).toThrow(/^The file is not in utf-8/);
    expect(() => decodeText(encodeText('ab', 'utf-8'), 'utf-8')).not.toThrow();
  });

  test('a document is read as the likeliest and says so', async () => {
    const { warnings } = await parseDocument(encodeText('Ayşe ve Şükrü', 'windows-1254'), 'a.txt');
    expect(warnings).toMatchObject([{ code: 'encoding_uncertain', message: expect.stringContaining('windows-1254') }]);
    const named = await parseDocument(encodeText('Ayşe ve Şükrü', 'windows-1254'), 'a.txt', undefined, 'windows-1254');
    expect([named.blocks[0]!.text, named.warnings]).toEqual(['Ayşe ve Şükrü', []]);
    await expect(parseDocument(unsure, 'a.csv', undefined, 'utf-8')).rejects.toThrow('the file is not in utf-8');
  });
});

test('every encoding of browsers that has a text can be named', () => {
  for (const label of [
    'utf-8',
    'utf-16',
    'ibm866',
    'latin2',
    'iso-8859-8-i',
    'koi8-u',
    'macintosh',
    'windows-874',
    'x-mac-cyrillic',
    'gbk',
    'big5-hkscs',
    'sjis',
    'ks_c_5601-1987',
  ])
    expect(toEncodingName(label)).not.toBeNull();
  for (const label of ['utf-7', 'x-user-defined', 'iso-2022-kr', '', 'nonsense']) expect(toEncodingName(label)).toBeNull();
});
