import { LocalError } from '../scripts/local/settings.ts';
import { runProgram } from '../scripts/local/run-program.ts';
import { endBench, fullPace, prepareBench, quickPace } from './bench.ts';
import { writePerformancePage } from './charts/write-page.ts';
import { caseNames, measureCases, ownCaseNames } from './cases.ts';
import { readMachineFacts } from './facts.ts';
import { report, writeReport } from './report.ts';
import { removeUnfinished, startProgress } from './unfinished.ts';

const options = new Set(['--quick', '--peers', '--continue']);

await runProgram(async () => {
  const parameters = process.argv.slice(2);
  const isQuick = parameters.includes('--quick');
  const withPeers = parameters.includes('--peers');
  const goesOn = parameters.includes('--continue');
  const chosen = parameters.filter((parameter) => !parameter.startsWith('--'));
  if (chosen.some((name) => !caseNames.includes(name)) || parameters.some((one) => one.startsWith('--') && !options.has(one)))
    throw new LocalError(`Usage: npm run bench [-- [--quick] [--peers] [--continue] [case ...]]\nCases: ${caseNames.join(', ')}`);
  const startedAt = performance.now();
  const progress = (text: string) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${text}`);
  progress('Bundling and starting the service, its recording and the floor');
  const bench = await prepareBench(isQuick ? quickPace : fullPace, progress);
  process.once('SIGINT', () => void endBench(bench).finally(() => process.exit(130)));
  try {
    const facts = readMachineFacts(bench);
    const isWhole = !isQuick && chosen.length === 0;
    const kept = startProgress(facts.commit, startedAt, { isKept: isWhole, goesOn });
    const findings = await measureCases(bench, chosen.length ? chosen : withPeers ? caseNames : ownCaseNames, kept);
    const seconds = kept.seconds();
    const written = report({ facts, findings, loggedLines: bench.rig.loggedLines(), seconds });
    console.log(`\n${written.markdown}`);
    // Only a complete run is written.
    if (!isWhole) return;
    progress(`Written to ${writeReport(written)}`);
    removeUnfinished();
    writePerformancePage();
  } finally {
    await endBench(bench);
  }
});
