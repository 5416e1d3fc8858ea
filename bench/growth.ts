import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../scripts/local/settings.ts';
import { runProgram } from '../scripts/local/run-program.ts';
import { operations, type Operation } from './account/operations.ts';
import { findRisingCounts, measureGrowth, scales } from './growth/growth.ts';
import { startSleepers, type Storm } from './growth/wake-up-storm.ts';
import { table } from './table.ts';

await runProgram(async () => {
  const startedAt = performance.now();
  const progress = (text: string) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${text}`);
  const chosen = process.argv.slice(2);
  // The runs sleep for ten minutes, in which the units are counted.
  const sleepers = chosen.length === 0 || chosen.includes('storms') ? await startSleepers(progress) : null;
  const [growth, storms] = await Promise.all([measureGrowth(progress, chosen), sleepers?.watch() ?? []]).finally(() => sleepers?.stop());
  const shown = operations.filter((operation) => operation.startsWith('d1') || operation.startsWith('object'));
  const countsOf = (unit: string, operation: Operation): string =>
    scales.map((scale) => Number(growth[scale][unit]!.counts[operation].toPrecision(4))).join(' / ');
  const lines = Object.keys(growth[1]).map((unit) => [unit].concat(shown.map((operation) => countsOf(unit, operation))));

  const { rising, stated } = findRisingCounts(growth);
  const report = [
    '# Growth',
    '',
    `What each unit of work is counted to use at ${scales.join(', ')} times the data:`,
    '',
    ...table(['unit of work', ...shown.map((operation) => operation.replaceAll('_', ' '))], lines),
    '',
    ...(rising.length > 0 ? ['Not flat:', '', ...rising.map((line) => `- ${line}`)] : ['Every other count is flat.']),
    ...(storms.length > 0 ? ['', ...stormLines(storms)] : []),
    ...(stated.length > 0 ? ['', 'Known to grow:', '', ...stated.map((line) => `- ${line}`)] : []),
  ].join('\n');
  console.log(`\n${report}`);
  if (chosen.length === 0) writeFileSync(join(projectDirectory, 'bench/results/growth.md'), `${report}\n`);
  if (rising.length > 0) process.exitCode = 1;
});

function stormLines(storms: Storm[]): string[] {
  const lines = storms.map((storm) => [
    String(storm.runs),
    storm.seconds.toFixed(1),
    (storm.calls / storm.runs).toFixed(2),
    String(storm.mostRunsPerSecond),
    String(storm.mostCallsPerSecond),
  ]);
  return [
    'Runs that slept for over ten minutes, and wake: until one moment, 10,000 until ten moments within 36 s. They are to begin within 20 s, whatever their',
    'number; this machine is busy with the counts above meanwhile, so the seconds are its own:',
    '',
    ...table(['runs', 'seconds until all have ended', 'D1 calls a run', 'most runs in a second', 'most D1 calls in a second'], lines),
  ];
}
