import { runCost, type RunUse } from './run-cost.ts';
import { table } from './table.ts';

const shown = (value: number) => String(Number(value.toPrecision(3)));
const dollars = (value: number) => value.toFixed(2);

/** The billed use of a run of the typical journey, beside its estimate. */
export function runCostSection(use: RunUse): string[] {
  const { lines, dollarsPerMillion } = runCost(use);
  const heads = ['resource', 'before the run', 'the run', '$ a million of each', '$ a million runs', 'estimate', '$ by it'];
  const cells = lines.map(({ resource, before, run, price, estimated }) => [
    resource,
    shown(before),
    shown(run),
    String(price),
    dollars(price * (before + run)),
    estimated === null ? '' : shown(estimated),
    estimated === null ? '' : dollars(price * estimated),
  ]);
  const { before, run, estimated } = dollarsPerMillion;
  cells.push(['together, $ a million runs', dollars(before), dollars(run), '', dollars(before + run), '', dollars(estimated)]);
  return [
    'What one run of 6 nodes that a webhook starts is billed for, beside an estimate made beforehand for the run alone:',
    '',
    ...table(heads, cells),
  ];
}
