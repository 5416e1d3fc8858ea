import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runProgram } from './local/run-program.ts';
import { projectDirectory } from './local/settings.ts';
import { drawTerminal, pickLines } from './tour/picture.ts';

/** Takes the tour of the local service that is running, and writes what it prints to docs/tour.svg, which the README shows. */
await runProgram(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(projectDirectory, 'scripts/tour.ts')]);
  const picture = join(projectDirectory, 'docs/tour.svg');
  writeFileSync(picture, drawTerminal('npm run tour', pickLines(stdout)));
  console.log(`Wrote ${picture}`);
});
