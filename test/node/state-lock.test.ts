import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lockState } from '../../scripts/local/state-lock.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const settingsFor = (stateDirectory: string) => ({ port: 9001, simulatorsPort: 9002, stateDirectory });

async function startProcess(...parameters: string[]): Promise<{ processId: number; end: () => Promise<void> }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', ...parameters]);
  await once(child, 'spawn');
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  onTestFinished(end);
  return { processId: child.pid!, end };
}

test('a second service on one state folder is refused, naming port, process and the variables to set', async () => {
  const stateDirectory = temporaryDirectory();
  const running = await startProcess('scripts/start.ts');
  writeFileSync(join(stateDirectory, 'running.json'), JSON.stringify({ process_id: running.processId, port: 8787 }));
  const refusal = new RegExp(`on port 8787 .*\\(process ${running.processId}\\).*PORT, SIM_PORT and STATE_DIR`);
  expect(() => lockState(settingsFor(stateDirectory))).toThrow(refusal);
});

test('the lock of a process that is gone is taken over', async () => {
  const stateDirectory = temporaryDirectory();
  const running = await startProcess('scripts/start.ts');
  writeFileSync(join(stateDirectory, 'running.json'), JSON.stringify({ process_id: running.processId, port: 8787 }));
  await running.end();
  lockState(settingsFor(stateDirectory))();
});

test.runIf(existsSync('/proc/self/cmdline'))('a lock whose process number now belongs to another program is taken over', async () => {
  const stateDirectory = temporaryDirectory();
  const stranger = await startProcess();
  writeFileSync(join(stateDirectory, 'running.json'), JSON.stringify({ process_id: stranger.processId, port: 8787 }));
  lockState(settingsFor(stateDirectory))();
});

test('a lock is given back, and a damaged one stops nobody', () => {
  const stateDirectory = join(temporaryDirectory(), 'made', 'when needed');
  lockState(settingsFor(stateDirectory))();
  expect(existsSync(join(stateDirectory, 'running.json'))).toBe(false);
  writeFileSync(join(stateDirectory, 'running.json'), '{"process_');
  lockState(settingsFor(stateDirectory))();
});
