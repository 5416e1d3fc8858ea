import { expect, test } from 'vitest';
import type { Table } from '../../../src/knowledge-base/parsing/blocks.ts';
import { PackedTexts } from '../../../src/knowledge-base/parsing/packed-texts.ts';

const tableOf = (text: string): Table => ({ kind: 'table', header: 'a | b', isContinued: false, page: null, text });
const isPacked = (table: Table) => Object.getOwnPropertyDescriptor(table, 'text')!.get !== undefined;

test.each([
  ['mostly Latin letters and one other', `${'Zoë pays 5 € | '.repeat(1000)}Łódź`, true],
  ['Cyrillic letters', 'Гарантия | '.repeat(1000), true],
  ['letters beyond the first plane', '😀 and so on | '.repeat(1000), true],
  ['a byte order mark in the middle and at the beginning', `\ufeffa\ufeff${'bc€'.repeat(5000)}`, true],
  ['ASCII alone', 'Zoe | '.repeat(1000), true],
  ['a few letters of Latin 1', 'Zoë pays 5 | '.repeat(1000), true],
  ['many letters of Latin 1', 'éèêë'.repeat(2000), false],
  ['letters that take three bytes', '保証期間'.repeat(2000), false],
  ['a short text', 'Łódź', false],
  ['half a surrogate pair', `${'a€'.repeat(5000)}\ud83d`, false],
])('a table reads the same, packed or not: %s', (_, text, packed) => {
  const texts = new PackedTexts();
  const table = texts.pack(tableOf(text));
  const other = texts.pack(tableOf(`${text}!`));
  expect(isPacked(table)).toBe(packed);
  for (const one of [table, table, other, table]) expect(one.text).toBe(one === other ? `${text}!` : text);
  expect({ ...table }).toEqual(tableOf(text));
});
