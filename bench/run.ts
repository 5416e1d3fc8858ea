import { LocalError } from '../scripts/local/settings.ts';
import { runProgram } from '../scripts/local/run-program.ts';
import { endBench, fullPace, prepareBench, quickPace } from './bench.ts';
import { writePerformancePage } from './charts/write-page.ts';
import { caseNames, measureCases, ownCaseNames } from './cases.ts';
import { readMachineFacts } from './facts.ts';
import { report, writeReport } from './report.ts';

await runProgram(async () => {
  const parameters = process.argv.slice(2);
  const isQuick = parameters.includes('--quick');
  const withPeers = parameters.includes('--peers');
  const chosen = parameters.filter((parameter) => parameter !== '--quick' && parameter !== '--peers');
  if (chosen.some((name) => !caseNames.includes(name)))
    throw new LocalError(`Usage: npm run bench [-- [--quick] [--peers] [case ...]]\nCases: ${caseNames.join(', ')}`);
  const startedAt = performance.now();
  const progress = (text: string) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${text}`);
  progress('Bundling and starting the service, its recording and the floor');
  const bench = await prepareBench(isQuick ? quickPace : fullPace, progress);
  process.once('SIGINT', () => void endBench(bench).finally(() => process.exit(130)));
  try {
    const facts = readMachineFacts(bench);
    const findings = await measureCases(bench, chosen.length ? chosen : withPeers ? caseNames : ownCaseNames);
    const seconds = (performance.now() - startedAt) / 1000;
    const written = report({ facts, findings, loggedLines: bench.rig.loggedLines(), seconds });
    console.log(`\n${written.markdown}`);
    // Only a complete run is written.
    if (isQuick || chosen.length) return;
    progress(`Written to ${writeReport(written)}`);
    writePerformancePage();
  } finally {
    await endBench(bench);
  }
});
