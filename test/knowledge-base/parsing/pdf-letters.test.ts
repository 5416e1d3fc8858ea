import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { outlineOf } from '../document-support.ts';
import { lines, makePdf } from './make-pdf.ts';
import { drawing } from './make-raw-pdf.ts';

const textsOf = async (content: string) =>
  outlineOf(await parseDocument(drawing(content), 'letters.pdf')).map((line) => line.replace(/^\S+ /, ''));
const typed = async (text: string) => (await textsOf(`BT /F1 12 Tf 50 700 Td (${text}) Tj ET`)).join(' ');
const spread = async (text: string, space: number, size = 12) =>
  (await textsOf(`BT /F1 ${size} Tf ${space} Tc 50 700 Td (${text}) Tj ET BT /F1 10 Tf 0 Tc 50 650 Td (Text below it.) Tj ET`))[0];

test.each([
  ['S U M M A R Y', 'SUMMARY'],
  ['A N N U A L   R E P O R T', 'ANNUAL REPORT'],
  ['I n v o i c e', 'Invoice'],
  ['This is i m p o r t a n t to us', 'This is important to us'],
])('letters that are typed apart become words: %s', async (text, expected) => {
  expect(await typed(text)).toBe(expected);
});

test.each(['A B C D E', 'Y N N Y N', 'a b', '1 2 3 4 5 6', 'X Y Z'])(
  'single letters and digits that are no word stay apart: %s',
  async (text) => {
    expect(await typed(text)).toBe(text);
  },
);

test.each([2, 4, 6, 9, 14])('letters that are set %s points apart become words', async (space) => {
  expect(await spread('SUMMARY', space)).toBe('SUMMARY');
  expect(await spread('ANNUAL REPORT', space)).toBe('ANNUAL REPORT');
});

test.each([
  ['at the same place', 0, 0],
  ['beside each other, to be bold', 0.4, 0],
  ['with a shadow', 1.5, -1.5],
])('text that is drawn twice is read once: %s', async (_, right, down) => {
  const draw = (x: number, y: number) => `BT /F1 14 Tf ${x} ${y} Td (Terms of sale) Tj ET`;
  expect(await textsOf(`${draw(50, 700)} ${draw(50 + right, 700 + down)} ${draw(50 + right / 2, 700 + down / 2)}`)).toEqual([
    'Terms of sale',
  ]);
});

test('text that is drawn a second time letter by letter, or word by word, is read once', async () => {
  const letters = [...'Sum'].map(
    (letter, index) => `BT /F1 12 Tf ${50 + index * 8} 700 Td (${letter}) Tj ET BT /F1 12 Tf ${50.3 + index * 8} 700 Td (${letter}) Tj ET`,
  );
  expect(await textsOf(letters.join(' '))).toEqual(['Sum']);
  const words =
    'BT /F1 12 Tf 50 700 Td (Total amount) Tj ET BT /F1 12 Tf 50.3 700 Td (Total) Tj ET BT /F1 12 Tf 79.7 700 Td (amount) Tj ET';
  expect(await textsOf(words)).toEqual(['Total amount']);
});

test('the same word twice in a line, and below each other, is read twice', async () => {
  expect(outlineOf(await parseDocument(makePdf([[...lines(['very very good', 'very very good'], 50, 700)]]), 'a.pdf'))).toEqual([
    'p very very good very very good',
  ]);
});

const word = fc.constantFrom('Total', 'EUR', '030', '9018', '20', 'WARRANTY', 'of', 'Kettle', 'AB-12', 'price', 'returns', 'free,', '7.50');
const show = (size: number, drawn: string) =>
  drawing(`BT /F1 ${size} Tf 50 700 Td ${drawn} ET BT 0 Tc /F1 10 Tf 50 650 Td (Text below it.) Tj ET`, '/Font << /F1 5 0 R /F2 6 0 R >>', [
    '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>',
  ]);
const readAll = async (bytes: Uint8Array) =>
  outlineOf(await parseDocument(bytes, 'letters.pdf'))
    .map((line) => line.replace(/^\S+ /, ''))
    .join(' ');

test('with any space between all letters, words, numbers and their blanks are read as they are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(word, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 0, max: 200 }),
      fc.integer({ min: 7, max: 16 }),
      fc.constantFrom('Tj', 'TJ', 'split', "'", '"'),
      async (words, hundredths, size, operator) => {
        const text = words.join(' ');
        const [first, rest] = [text.slice(0, 3), text.slice(3)];
        const space = ((hundredths / 100) * size).toFixed(2);
        const drawn = {
          Tj: `${space} Tc (${text}) Tj`,
          TJ: `${space} Tc [(${first})-10(${rest})] TJ`,
          split: `${space} Tc (${first}) Tj (${rest}) Tj`,
          "'": `${space} Tc 0 TL (${text}) '`,
          '"': `0 TL 0 ${space} (${text}) "`,
        }[operator];
        expect(await readAll(show(size, drawn))).toBe(`${text} Text below it.`);
      },
    ),
    { numRuns: 120, seed: 15 },
  );
});

test('letters that are placed one by one, each in a place of the same width, or with the same gaps, are words', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => ['Garantie', ...words].join(' ')),
      fc.integer({ min: 70, max: 120 }),
      fc.integer({ min: 7, max: 13 }),
      fc.constantFrom('Helvetica', 'Courier', 'array'),
      fc.boolean(),
      async (text, hundredths, size, how, hasBlanks) => {
        const step = (hundredths / 100) * size;
        const letters = [...text].flatMap((letter, index) =>
          letter === ' ' && !hasBlanks ? [] : [`1 0 0 1 ${(50 + index * step).toFixed(2)} 700 Tm (${letter}) Tj`],
        );
        const array = `[${[...text].map((letter) => `(${letter})`).join(`-${hundredths * 5}`)}] TJ`;
        const font = how === 'Courier' ? `/F2 ${size} Tf` : '';
        expect(await readAll(show(size, how === 'array' ? array : `${font} ${letters.join(' ')}`))).toBe(`${text} Text below it.`);
      },
    ),
    { numRuns: 120, seed: 15 },
  );
});

test('digits that are drawn apart are a number only where the file says so', async () => {
  expect(await readAll(show(12, '3 Tc (030 9018 20) Tj'))).toBe('030 9018 20 Text below it.');
  expect(await readAll(show(12, '(T o t a l  5 0  E U R) Tj'))).toBe('Total 50 EUR Text below it.');
  expect(await readAll(show(12, `<${Buffer.from('T o t a l  5 0  E U R').toString('hex')}> Tj`))).toBe('Total 50 EUR Text below it.');
  const cells = [...'YNNY12'].map((cell, index) => `1 0 0 1 ${50 + index * 60} 700 Tm (${cell}) Tj`).join(' ');
  expect(await readAll(show(12, cells))).toMatch(/Y.+N.+N.+Y.+1.+2/);
  expect(
    await readAll(show(12, '1 0 0 1 50 700 Tm (1) Tj 1 0 0 1 64 700 Tm (2) Tj 1 0 0 1 78 700 Tm (3) Tj 1 0 0 1 92 700 Tm (4) Tj')),
  ).toBe('1 2 3 4 Text below it.');
});

test('what stands in the line behind letters that are drawn apart follows them', async () => {
  expect(await readAll(show(12, '6 Tc (PRICE) Tj 0 Tc ( is free) Tj'))).toBe('PRICE is free Text below it.');
  expect(await readAll(show(12, '4 Tc [(P)333(R)333(I)333(C)333(E)] TJ'))).toBe('PRICE Text below it.');
  expect(await readAll(show(12, 'q 6 Tc Q (plain) Tj'))).toBe('plain Text below it.');
});
