import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Ledger } from '../../simulators/ledger.ts';
import type { LedgerEntry } from '../../simulators/ledger.ts';
import { temporaryDirectory } from './temporary-directory.ts';

interface Note extends LedgerEntry {
  text: string;
}

const texts = (ledger: Ledger<Note>) => ledger.list().map(({ text }) => text);

test('a ledger reads back after a restart what it had, and numbers on', () => {
  const file = join(temporaryDirectory(), 'deeper', 'notes.jsonl');
  const before = new Ledger<Note>(file);
  before.append({ text: 'first' });
  before.append({ text: 'second\nwith a second line' });

  const after = new Ledger<Note>(file);
  expect(after.list()).toEqual(before.list());
  expect(after.append({ text: 'third' }).id).toBe(3);
  expect(texts(new Ledger<Note>(file))).toEqual(['first', 'second\nwith a second line', 'third']);
});

test('a line that a crash cut short is left out and harms no later line', () => {
  const file = join(temporaryDirectory(), 'notes.jsonl');
  new Ledger<Note>(file).append({ text: 'whole' });
  appendFileSync(file, '{"id":2,"text":"cut sh');

  new Ledger<Note>(file).append({ text: 'after the crash' });
  expect(texts(new Ledger<Note>(file))).toEqual(['whole', 'after the crash']);
});

test('only the newest entries are kept, in memory and on disk', () => {
  const file = join(temporaryDirectory(), 'notes.jsonl');
  const ledger = new Ledger<Note>(file, 3);
  for (let count = 1; count <= 20; count += 1) {
    ledger.append({ text: String(count) });
    expect(texts(ledger)).toEqual([count - 2, count - 1, count].filter((kept) => kept > 0).map(String));
    expect(readFileSync(file, 'utf8').trim().split('\n').length).toBeLessThan(6);
  }
  expect(texts(new Ledger<Note>(file, 3))).toEqual(['18', '19', '20']);
});

test('what is forgotten stays forgotten after a restart, and its number is not given again', () => {
  const file = join(temporaryDirectory(), 'notes.jsonl');
  const ledger = new Ledger<Note>(file);
  for (const text of ['a', 'b', 'a']) ledger.append({ text });
  ledger.forget(({ text }) => text === 'b');
  expect(texts(new Ledger<Note>(file))).toEqual(['a', 'a']);
  ledger.forget();
  expect(ledger.append({ text: 'c' }).id).toBe(4);
});
