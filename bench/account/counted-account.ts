import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { projectDirectory } from '../../scripts/local/settings.ts';
import type { Account } from './account.ts';
import type { Counts } from './operations.ts';

const file = join(projectDirectory, 'bench', 'account', 'counts.json');

/** The committed counts; none before they are first written. */
export const readCountedAccount = (): Record<string, Counts> =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Counts>) : {};

/** Writes the counts of these units, in place of those that are written; answers where. `isPart`: the other units stay. */
export function writeCountedAccount(account: Account, { isPart = false } = {}): string {
  const counted = Object.fromEntries(Object.entries(account).map(([unit, { counts }]) => [unit, counts]));
  writeFileSync(file, `${JSON.stringify({ ...(isPart && readCountedAccount()), ...counted }, null, 2)}\n`);
  return relative(projectDirectory, file);
}
