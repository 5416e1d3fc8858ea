import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectDirectory } from './settings.ts';

const exitWithParentModule = new URL('exit-with-parent.ts', import.meta.url).href;

export interface Child {
  name: string;
  /** Settles with how it ended ("exit code 1", "SIGKILL"), whoever ended it. */
  ended: Promise<string>;
  /** Ends it and everything it started: first by asking, after `graceMs` by force. */
  stop: () => Promise<void>;
}

export interface ChildOptions {
  name: string;
  parameters: string[];
  environment: NodeJS.ProcessEnv;
  onLine: (line: string, stream: 'stdout' | 'stderr') => void;
  graceMs?: number;
}

/** Starts a Node program in a process group of its own, which Ctrl-C at the terminal does not reach: ending it is ours. */
export function startChild({ name, parameters, environment, onLine, graceMs = 5_000 }: ChildOptions): Child {
  const child = spawn(process.execPath, ['--import', exitWithParentModule, ...parameters], {
    cwd: projectDirectory,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of ['stdout', 'stderr'] as const) createInterface({ input: child[stream] }).on('line', (line) => onLine(line, stream));
  const ended = once(child, 'exit').then(([code, signal]) => (signal === null ? `exit code ${code}` : String(signal)));
  return {
    name,
    ended,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await Promise.race([ended, sleep(graceMs, undefined, { ref: false })]);
      }
      killGroup(child.pid);
      await ended;
    },
  };
}

/** Kills the whole group, which may outlive its leader. */
function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
