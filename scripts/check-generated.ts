import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { staleFiles } from './generated.ts';
import { runProgram } from './local/run-program.ts';
import { LocalError, projectDirectory, readLocalSettings } from './local/settings.ts';

/** Fails when a generated file, or the migrations, are behind the code that they are made from. */
await runProgram(async () => {
  const stale = await staleFiles(readLocalSettings(process.env).stateDirectory);
  if (await hasUnmigratedSchema()) stale.push('migrations (npx drizzle-kit generate --name <what changes>)');
  if (stale.length) throw new LocalError(`Not up to date: ${stale.join(', ')}`);
  console.log('Generated files and migrations are up to date.');
});

/** Lets drizzle-kit generate into a copy: it says so when there is nothing to write. */
async function hasUnmigratedSchema(): Promise<boolean> {
  const copy = await mkdtemp(join(projectDirectory, 'node_modules', '.migrations-'));
  try {
    await cp(join(projectDirectory, 'migrations'), copy, { recursive: true });
    const program = join(projectDirectory, 'node_modules', 'drizzle-kit', 'bin.cjs');
    const options = ['--dialect', 'sqlite', '--schema', './src/database/schema/index.ts', '--out', relative(projectDirectory, copy)];
    const { stdout } = await promisify(execFile)(process.execPath, [program, 'generate', ...options], { cwd: projectDirectory });
    return !stdout.includes('No schema changes');
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
