import { table } from '../table.ts';
import type { Account } from './account.ts';
import { dollarsPerMillion, operations } from './operations.ts';

const shown = (value: number) => String(Number(value.toPrecision(4)));

/** The cost account as a table of Markdown: a line a unit, a column an operation. */
export function accountSection(account: Account): string[] {
  const heads = ['unit of work', ...operations.map((operation) => operation.replaceAll('_', ' ')), '$ a million'];
  const cells = Object.entries(account).map(([unit, { counts }]) =>
    [unit].concat(
      operations.map((operation) => shown(counts[operation])),
      dollarsPerMillion(counts).toFixed(2),
    ),
  );
  return ['What each unit of work is billed for, processor and object time left out:', '', ...table(heads, cells)];
}

/** The cost account as the report's JSON has it. */
export const toAccountLines = (account: Account) =>
  Object.entries(account).map(([unit, { counts }]) => Object.assign({ unit }, counts, { dollars_a_million: dollarsPerMillion(counts) }));
