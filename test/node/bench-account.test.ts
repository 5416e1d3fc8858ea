import { expect, test } from 'vitest';
import type { Account } from '../../bench/account/account.ts';
import { compareAccounts } from '../../bench/account/compare.ts';
import { readCountedAccount } from '../../bench/account/counted-account.ts';
import { dollarsPerMillion, mapCounts, toCounts, type Counts } from '../../bench/account/operations.ts';
import { accountSection } from '../../bench/account/section.ts';
import { noUsage } from '../../bench/usage.ts';

const unit = 'An event';
const counts = (more: Partial<Counts> = {}): Counts => ({ ...mapCounts(() => 0), d1_calls: 4, d1_rows_written: 7, ...more });
const account = (more: Partial<Counts> = {}, spread = 0): Account => ({ [unit]: { counts: counts(more), spread } });
const compare = (counted: Account, options?: { isPart: boolean }) => compareAccounts({ [unit]: counts() }, counted, options);

test('a count that rises is told with its unit, its operation, and what it was and is', () => {
  const { rises, falls } = compare(account({ d1_rows_written: 8 }));
  expect(rises).toEqual([expect.stringContaining('An event: d1_rows_written was 7 and is 8.')]);
  expect(rises[0]).toContain('npm run costs -- --write');
  expect(falls).toEqual([]);
});

test('a count that falls is told apart, and asks to be kept', () => {
  const { rises, falls } = compare(account({ d1_calls: 1 }));
  expect(rises).toEqual([]);
  expect(falls).toEqual(['An event: d1_calls was 4 and is 1. Keep it there: npm run costs -- --write']);
});

test('equal counts say nothing', () => {
  expect(compare(account())).toEqual({ rises: [], falls: [] });
});

test('a unit whose counts spread may rise by its share and a third, and no further', () => {
  expect(compare(account({ d1_rows_written: 8 }, 0.1)).rises).toEqual([]);
  expect(compare(account({ d1_rows_written: 8.1 }, 0.1)).rises).toHaveLength(1);
});

test('a unit that is new, or is no longer counted, needs the written counts to follow', () => {
  const other = { 'A webhook': account()[unit]! };
  expect(compare({ ...account(), ...other }).rises).toEqual([expect.stringContaining('A webhook: has no written counts')]);
  expect(compare({}).rises).toEqual([expect.stringContaining('An event: is written but no longer counted')]);
  expect(compare({}, { isPart: true }).rises).toEqual([]);
});

test('each operation is counted once and costs its price', () => {
  const usage = { ...noUsage(), objectCalls: 2, alarmsFired: 1, socketFrames: 40, filesRead: 1, filesWritten: 2, workerRequests: 1 };
  const calls = [{ by: 'request' as const, isBatch: true, statements: [], rowsRead: 3, rowsWritten: 5 }];
  const counted = toCounts(calls, usage);
  expect(counted).toMatchObject({ d1_calls: 1, d1_rows_read: 3, d1_rows_written: 5, object_requests: 5, files_read: 1, files_written: 2 });
  expect(dollarsPerMillion(counted)).toBeCloseTo(0.003 + 5 + 5 * 0.15 + 0.36 + 9 + 0.3, 9);
});

test('the table has a line for each unit', () => {
  const lines = accountSection(account());
  expect(lines.at(-1)).toMatch(/^\| An event +\| +4 \|.* 7\.00 \|$/);
});

test('the committed counts are those of all operations', () => {
  const written = Object.values(readCountedAccount());
  expect(written.length).toBeGreaterThan(20);
  for (const one of written) expect(Object.keys(one)).toEqual(Object.keys(counts()));
});
