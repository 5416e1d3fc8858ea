import { runProgram } from '../scripts/local/run-program.ts';
import { operations } from './account/operations.ts';
import { findRisingCounts, measureGrowth, scales } from './growth/growth.ts';
import { table } from './table.ts';

await runProgram(async () => {
  const startedAt = performance.now();
  const progress = (text: string) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${text}`);
  const growth = await measureGrowth(progress, process.argv.slice(2));
  const shown = operations.filter((operation) => operation.startsWith('d1') || operation.startsWith('object'));
  const lines = Object.keys(growth[1]).map((unit) => [
    unit,
    ...shown.map((operation) => scales.map((scale) => Number(growth[scale][unit]!.counts[operation].toPrecision(4))).join(' / ')),
  ]);
  console.log(`\nEach count at ${scales.join(', ')} times the data:\n`);
  console.log(table(['unit of work', ...shown.map((operation) => operation.replaceAll('_', ' '))], lines).join('\n'));
  const rising = findRisingCounts(growth);
  console.log(rising.length > 0 ? `\nNot flat:\n${rising.join('\n')}` : '\nEvery count is flat.');
  if (rising.length > 0) process.exitCode = 1;
});
