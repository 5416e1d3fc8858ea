import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeTextStream } from '../../src/library/text/decode-text-stream.ts';
import { decodeText } from '../../src/library/text/decode-text.ts';

async function* inChunks(bytes: Uint8Array, size: number) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function textOf(bytes: Uint8Array, size = 1000): Promise<string> {
  let text = '';
  for await (const piece of decodeTextStream(inChunks(bytes, size))) text += piece;
  return text;
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const fromBase64 = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const joined = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => Array.from(part)));
const repeated = (bytes: Uint8Array, times: number) => {
  const all = new Uint8Array(bytes.length * times);
  for (let time = 0; time < times; time += 1) all.set(bytes, time * bytes.length);
  return all;
};

const windows1252 = fromBase64('Vm9ybmFtZTtTdGFkdApK/HJnZW47S/Zsbgpab+s7hFN0cmHfZZMgliA1IIAK');
const shiftJis = fromBase64('joGWvCyTZJhilNSNhgqOUpNjIJG+mFksMDMtMTIzNC01Njc4Cg==');

test('in pieces a file is the text that it is as a whole, wherever it is cut', async () => {
  const utf16 = (text: string) => Uint8Array.from([...text].flatMap((letter) => [letter.charCodeAt(0) & 255, letter.charCodeAt(0) >> 8]));
  const files = [
    utf8('név;Zoë 😀\n'),
    utf8('\ufeffnév;Zoë\n'),
    utf8('plain\n\u001a'),
    utf8(`a\u001ab\u000bc${'Ann;Rome\n'.repeat(40)}`),
    windows1252,
    shiftJis,
    fromBase64('yOz/O9Ll6+X07u0KyOLg7TsrNwo='),
    fromBase64('0NXD+yzK1rv6usUKzfXQocP3LDEzOAo='),
    joined(Uint8Array.of(0xff, 0xfe), utf16('Phone\tName\n+81 3\tZoë\n')),
    utf16('Phone\tName\n+81 3\tZoë\n'),
    joined(Uint8Array.of(0xff, 0xfe), utf16('ab')).subarray(0, -1),
  ];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...files), fc.integer({ min: 1, max: 40 }), async (file, size) => {
      expect(await textOf(file, size)).toBe(decodeText(file).text);
    }),
    { numRuns: 200 },
  );
});

describe('a file longer than what is held', () => {
  const plain = repeated(utf8('Ann;Rome;+12123456001\n'), 40_000);

  test.each([
    ['windows-1252', windows1252],
    ['shift_jis', shiftJis],
    ['UTF-8', utf8('Jürgen;Köln;郵便\n')],
  ])('tells %s from the first letters that are not ASCII, however late they come', async (_, foreign) => {
    const ends = repeated(foreign, 3);
    const text = await textOf(joined(plain, ends, plain));
    expect(text).toBe(decodeText(plain).text + decodeText(ends).text + decodeText(plain).text);
  });

  test('a letter that the end of the sample cuts in two stays whole', async () => {
    for (const foreign of [utf8('é'), utf8('郵便番号'), shiftJis]) {
      const long = repeated(joined(foreign, utf8(';')), 200_000);
      const first = await textOf(long, 65_536);
      expect(first.length).toBe(200_000 * decodeText(joined(foreign, utf8(';'))).text.length);
      expect(first).not.toContain('\ufffd');
    }
  });

  test('a stray NUL is a damaged character, wherever it is', async () => {
    expect(await textOf(joined(plain, Uint8Array.of(0), plain))).toBe(`${decodeText(plain).text}\ufffd${decodeText(plain).text}`);
  });

  test('bytes that are no text are found wherever they are', async () => {
    await expect(textOf(joined(plain, new Uint8Array(plain.length >> 4), plain))).rejects.toThrow(
      `The file is not text: its character ${plain.length + 1} is a NUL`,
    );
    await expect(textOf(joined(plain, utf8('\u0001\u0002\u0003'.repeat(20_000))))).rejects.toThrow(/not text/);
  });

  test('it is let go of when nobody reads on', async () => {
    let isOver = false;
    async function* chunks() {
      try {
        for (;;) yield utf8('Ann;Rome\n'.repeat(5000));
      } finally {
        isOver = true;
      }
    }
    for await (const piece of decodeTextStream(chunks())) if (piece) break;
    expect(isOver).toBe(true);
  });
});

test('nothing, and what is something else, is refused by its name', async () => {
  await expect(textOf(new Uint8Array(0))).rejects.toThrow('The file is empty');
  await expect(textOf(Uint8Array.of(0x50, 0x4b, 0x03, 0x04, 0x14))).rejects.toThrow(/Excel workbook.*save the sheet as CSV/);
  await expect(textOf(Uint8Array.from({ length: 3000 }, (_, index) => (index * 7919) % 256))).rejects.toThrow(/not text/);
});
