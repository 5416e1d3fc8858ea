import { expect, test } from 'vitest';
import { measureAccount } from '../../bench/account/account.ts';
import { compareAccounts } from '../../bench/account/compare.ts';
import { readCountedAccount } from '../../bench/account/counted-account.ts';

test('no unit of work uses more calls, rows, objects, files or messages than its written counts', { timeout: 400_000 }, async () => {
  const { rises, falls } = compareAccounts(readCountedAccount(), await measureAccount(() => {}));
  for (const fall of falls) console.warn(fall);
  expect(rises).toEqual([]);
});
