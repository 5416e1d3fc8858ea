import { LocalError } from '../scripts/local/settings.ts';
import { runProgram } from '../scripts/local/run-program.ts';
import { endBench, prepareBench, quickPace } from './bench.ts';
import { runSustainedLoad } from './sustained/sustained-load.ts';

const standardMinutes = 10;

await runProgram(async () => {
  const [given = String(standardMinutes), ...more] = process.argv.slice(2);
  const minutes = Number(given);
  if (more.length > 0 || !(minutes >= 1 && minutes <= 120)) throw new LocalError('Usage: npm run bench:sustained [-- minutes, 1 to 120]');
  const startedAt = performance.now();
  const progress = (text: string) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${text}`);
  progress('Bundling and starting the service');
  const bench = await prepareBench(quickPace, progress);
  process.once('SIGINT', () => void endBench(bench).finally(() => process.exit(130)));
  try {
    const findings = await runSustainedLoad(bench, minutes);
    console.log('');
    for (const { isRight, what } of findings) console.log(`${isRight ? 'right' : 'WRONG'}  ${what}`);
    const wrong = findings.filter(({ isRight }) => !isRight).length;
    console.log(wrong === 0 ? '\nEverything is right.' : `\n${wrong} of ${findings.length} are wrong.`);
    if (wrong > 0) process.exitCode = 1;
  } finally {
    await endBench(bench);
  }
});
