import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectDirectory } from '../local/settings.ts';

const run = promisify(execFile);
const source = join(projectDirectory, 'console');
const built = join(projectDirectory, 'public', 'console');
/** Beside the pages, the sum of what they were built of. */
const sumFile = 'built-of.txt';

export const isConsoleBuilt = (): boolean => readSum() === sumOfSources();

/** Builds the console's pages, which the Worker serves, with the types of the API's document. They are replaced at once. */
export async function buildConsole(): Promise<void> {
  const sum = sumOfSources();
  if (readSum() === sum) return;
  const fresh = `${built}.${process.pid}`;
  try {
    await runProgram(join(source, 'node_modules', 'openapi-typescript', 'bin', 'cli.js'), [
      join(projectDirectory, 'openapi.json'),
      '--output',
      join(source, 'src', 'api', 'schema.d.ts'),
    ]);
    await runProgram(join(projectDirectory, 'node_modules', 'vite', 'bin', 'vite.js'), [
      'build',
      source,
      '--outDir',
      fresh,
      '--logLevel',
      'warn',
    ]);
    writeFileSync(join(fresh, sumFile), sum);
    mkdirSync(join(projectDirectory, 'public'), { recursive: true });
    replaceBuilt(fresh, sum);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Another program may be building the same at this moment, and be faster. */
function replaceBuilt(fresh: string, sum: string): void {
  rmSync(built, { recursive: true, force: true });
  try {
    renameSync(fresh, built);
  } catch (error) {
    if (readSum() !== sum) throw error;
  }
}

const runProgram = (program: string, parameters: string[]) => run(process.execPath, [program, ...parameters], { cwd: projectDirectory });

function readSum(): string | undefined {
  try {
    return readFileSync(join(built, sumFile), 'utf8');
  } catch {
    return undefined;
  }
}

function sumOfSources(): string {
  const hash = createHash('sha256');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (file) => !/(^|\/)node_modules(\/|$)|schema\.d\.ts$/.test(file) && statSync(join(source, file)).isFile(),
  );
  for (const file of files.toSorted()) hash.update(`${file}\n`).update(readFileSync(join(source, file)));
  for (const file of ['openapi.json', 'package-lock.json']) hash.update(readFileSync(join(projectDirectory, file)));
  return hash.digest('hex');
}
