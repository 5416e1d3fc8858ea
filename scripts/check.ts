import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { runProgram } from './local/run-program.ts';
import { LocalError, projectDirectory } from './local/settings.ts';

/** Two at a time, those that take long first. */
const names = ['types', 'size', 'generated', 'unused', 'dependencies', 'lint', 'openapi', 'format'];

/** Runs one check, and prints what it says when it has ended. */
async function check(name: string): Promise<boolean> {
  const child = spawn('npm', ['run', '--silent', `check:${name}`], { cwd: projectDirectory, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = Promise.all([text(child.stdout), text(child.stderr)]);
  const passed = await new Promise<boolean>((resolve, reject) => child.once('error', reject).once('close', (code) => resolve(code === 0)));
  process.stdout.write((await printed).join(''));
  return passed;
}

await runProgram(async () => {
  const failed: string[] = [];
  const waiting = names.values();
  const lane = async () => {
    for (const name of waiting) if (!(await check(name))) failed.push(name);
  };
  await Promise.all([lane(), lane()]);
  if (failed.length > 0) throw new LocalError(`Failed: ${failed.map((name) => `npm run check:${name}`).join(', ')}`);
});
