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
