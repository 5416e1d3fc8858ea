import { describe, expect, test } from 'vitest';
import { decodeText } from '../../src/library/text/decode-text.ts';
import { UnreadableFileError } from '../../src/library/text/unreadable-file.ts';
import { encodeText } from '../support/encode-text.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const fromBase64 = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const utf16 = (text: string, isBigEndian: boolean) =>
  Uint8Array.from(
    [...Array(text.length).keys()].flatMap((index) => {
      const unit = text.charCodeAt(index);
      return isBigEndian ? [unit >> 8, unit & 0xff] : [unit & 0xff, unit >> 8];
    }),
  );
const bytes = (...parts: (number[] | Uint8Array)[]) => Uint8Array.from(parts.flatMap((part) => Array.from(part)));

describe('Unicode', () => {
  test('UTF-8 is read with and without its mark', () => {
    expect(decodeText(utf8('név;Zoë\n'))).toEqual({ text: 'név;Zoë\n', encoding: 'utf-8' });
    expect(decodeText(bytes([0xef, 0xbb, 0xbf], utf8('név;Zoë\n')))).toEqual({ text: 'név;Zoë\n', encoding: 'utf-8' });
    expect(decodeText(utf8('name,phone\n'))).toEqual({ text: 'name,phone\n', encoding: 'utf-8' });
  });

  test.each([
    ['utf-16le', false, [0xff, 0xfe]],
    ['utf-16be', true, [0xfe, 0xff]],
  ] as const)('%s is read with and without its mark, in any script', (encoding, isBigEndian, mark) => {
    for (const text of ['Phone\tName\n+81 3\tZoë\n', '電話\t名前\n+81 3\t太郎\n', '1\n']) {
      expect(decodeText(utf16(text, isBigEndian))).toEqual({ text, encoding });
      expect(decodeText(bytes([...mark], utf16(text, isBigEndian)))).toEqual({ text, encoding });
    }
  });

  test('a UTF-16 file that lost its last byte loses one character', () => {
    expect(decodeText(bytes([0xff, 0xfe], utf16('ab', false)).subarray(0, -1)).text).toBe('a');
  });

  test('one damaged byte does not spoil a UTF-8 file', () => {
    const damaged = bytes(utf8('ärger;öl;üben;ärger;öl;üben;ärger;öl;üben;ärger;'), [0xfc], utf8(';x\n'));
    expect(decodeText(damaged)).toMatchObject({ encoding: 'utf-8', text: expect.stringContaining('ärger;\ufffd;x') });
  });
});

describe('code pages', () => {
  test.each([
    ['windows-1252', 'Vm9ybmFtZTtTdGFkdApK/HJnZW47S/Zsbgpab+s7hFN0cmHfZZMgliA1IIAK', 'Vorname;Stadt\nJürgen;Köln\nZoë;„Straße“ – 5 €\n'],
    ['windows-1252', 'bmFtZSxub3RlCkFubixpdJJzIJNva5QK', 'name,note\nAnn,it’s “ok”\n'],
    ['windows-1252', 'Y3Lp6WUK', 'créée\n'],
    ['windows-1250', 'SW1p6jtOYXp3aXNrbwqjdWthc3o7V2Gz6nNhCq9hbmV0YTtCs2FzemN6eWsK', 'Imię;Nazwisko\nŁukasz;Wałęsa\nŻaneta;Błaszczyk\n'],
    ['windows-1251', 'yOz/O9Ll6+X07u0KyOLg7TsrNwo=', 'Имя;Телефон\nИван;+7\n'],
    ['shift_jis', 'joGWvCyTZJhilNSNhgqOUpNjIJG+mFksMDMtMTIzNC01Njc4Cg==', '氏名,電話番号\n山田 太郎,03-1234-5678\n'],
    ['gb18030', '0NXD+yzK1rv6usUKzfXQocP3LDEzOAo=', '姓名,手机号\n王小明,138\n'],
    ['euc-kr', 'wMy4pyzA/MitufjIowqx6MO2vPYsMDEwCg==', '이름,전화번호\n김철수,010\n'],
  ])('%s is recognized by its bytes (%s)', (encoding, base64, text) => {
    expect(decodeText(fromBase64(base64))).toEqual({ text, encoding });
  });

  test('every byte of Windows-1252 that has a character gives it', () => {
    expect(decodeText(Uint8Array.from([0x80, 0x92, 0x99, 0xa9, 0x20, 0xe9, 0x0a]), 'windows-1252').text).toBe('€’™© é\n');
  });
});

describe('stray NUL are damaged characters of the text', () => {
  const texts = {
    'utf-8': [
      'Name,City\nAda,Rome\n\n',
      'Items can be returned within 45 days of the purchase. '.repeat(40),
      'Größe;Straße\nKöln;Fünf',
      'Größe aus Köln',
      '姓名,手机号\n王小明,138\n李四,139',
    ],
    'windows-1252': ['Vorname;Stadt\nJürgen;Köln\nFrançois;Besançon\nRené;Orléans\n'],
    'windows-1251': ['Имя;Телефон\nИван;+7 495 1234567\nЕлена;+7 495 1234568\nмагазин открыт каждый день\n'],
  };
  const cases = Object.entries(texts).flatMap(([encoding, all]) => all.map((text) => [encoding, text] as const));

  test.each(cases)('at any place of %s: %s', (encoding, text) => {
    const whole = encodeText(text, encoding);
    for (let place = 0; place <= text.length; place += Math.ceil(text.length / 40)) {
      const before = encodeText(text.slice(0, place), encoding);
      const damaged = bytes([...before, 0], whole.subarray(before.length));
      expect(decodeText(damaged)).toEqual({ text: `${text.slice(0, place)}\ufffd${text.slice(place)}`, encoding });
    }
  });

  test('in UTF-16, too', () => {
    expect(decodeText(bytes([0xff, 0xfe], utf16('Name,City\nA\0da,Rome\n', false))).text).toBe('Name,City\nA\ufffdda,Rome\n');
  });

  test('a text in UTF-16 with few zero bytes is none of them', () => {
    for (const text of [
      '姓名,手机号\n王小明和李四住在北京市朝阳区的一条老街上',
      '영업시간은 언제인가요\n매일 아침 아홉 시부터 저녁 여섯 시까지 엽니다',
      'ราคาสินค้า\nร้านเปิดทุกวันตั้งแต่เก้าโมงเช้า',
    ])
      for (const isBigEndian of [false, true])
        expect(decodeText(utf16(text, isBigEndian))).toEqual({ text, encoding: isBigEndian ? 'utf-16be' : 'utf-16le' });
  });
});

describe('what is not text is refused with its name', () => {
  test.each([
    ['an Excel workbook', [0x50, 0x4b, 0x03, 0x04, 0x14, 0x00], /\.xlsx.*save the sheet as CSV/],
    ['an old Excel workbook', [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1], /old Excel workbook/],
    ['a PDF', [...utf8('%PDF-1.7\n%âãÏÓ')], /a PDF/],
    ['a gzip file', [0x1f, 0x8b, 0x08, 0x00], /gzip/],
    ['a PNG picture', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a], /PNG/],
    ['a JPEG picture', [0xff, 0xd8, 0xff, 0xe0], /JPEG/],
    ['zero bytes in no order', [1, 0, 0, 65, 0, 0, 0, 66, 0, 67, 0, 0], /not text/],
    ['control characters', [...Array(64).keys()].map((byte) => (byte % 8) + 1), /not text/],
    ['UTF-32', [0xff, 0xfe, 0, 0, 65, 0, 0, 0], /not text/],
    ['nothing', [], /empty/],
    ['a mark alone', [0xef, 0xbb, 0xbf], /empty/],
    ['blank lines', [...utf8(' \r\n\t\r\n')], /nothing but blanks/],
  ])('%s', (_, content, message) => {
    expect(() => decodeText(Uint8Array.from(content))).toThrow(UnreadableFileError);
    expect(() => decodeText(Uint8Array.from(content))).toThrow(message);
  });

  test.each([
    ['one in many cells', 'Name\0\0\0City\0\0\0\0\nAda\0\0\0Paris\0\0\0', /byte 5 is a NUL/],
    ['a long text with two in a hundred', 'ab\0'.padEnd(100, 'é').repeat(40) + '\0'.repeat(60), /character 3 is a NUL/],
  ])('NUL that are no strays are named: %s', (_, text, message) => {
    expect(() => decodeText(utf8(text))).toThrow(message);
    expect(() => decodeText(utf8(text))).toThrow(/The file is not text: its/);
  });

  test('the control-Z at the end of an old file is no fault', () => {
    expect(decodeText(utf8('a;b\n\u001a')).text).toBe('a;b\n');
  });
});
