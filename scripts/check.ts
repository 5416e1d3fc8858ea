import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { runProgram } from './local/run-program.ts';
import { LocalError, projectDirectory } from './local/settings.ts';

/** The compiler takes a core about as long as all other checks together. */
const besides = 'types';
const inTurn = ['format', 'lint', 'dependencies', 'unused', 'generated', 'openapi', 'size'];

/** Runs one check, which prints to the terminal or into `printed`. */
async function check(name: string, output: 'inherit' | 'pipe'): Promise<{ passed: boolean; printed: string }> {
  const child = spawn('npm', ['run', '--silent', `check:${name}`], { cwd: projectDirectory, stdio: ['ignore', output, 'inherit'] });
  const printed = child.stdout ? text(child.stdout) : Promise.resolve('');
  const passed = await new Promise<boolean>((resolve, reject) => child.once('error', reject).once('close', (code) => resolve(code === 0)));
  return { passed, printed: await printed };
}

await runProgram(async () => {
  const compiled = check(besides, 'pipe');
  const failed: string[] = [];
  for (const name of inTurn) if (!(await check(name, 'inherit')).passed) failed.push(name);
  const { passed, printed } = await compiled;
  process.stdout.write(printed);
  if (!passed) failed.push(besides);
  if (failed.length > 0) throw new LocalError(`Failed: ${failed.map((name) => `npm run check:${name}`).join(', ')}`);
});
