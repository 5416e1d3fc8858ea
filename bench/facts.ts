import { execFileSync } from 'node:child_process';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { projectDirectory } from '../scripts/local/settings.ts';
import { connections, type Bench } from './bench.ts';

/** The machine and versions of a report, and its time; nothing that identifies the machine. */
export interface Facts {
  measured_at: string;
  commit: string;
  cores: number;
  memory_gib: number;
  platform: string;
  node: string;
  workerd: string;
  connections: number;
  /** Of the machine, over the minute before the run. */
  load_average: number;
}

export function readMachineFacts({ rig }: Bench): Facts {
  return {
    measured_at: new Date().toISOString(),
    commit: shortCommit(),
    cores: availableParallelism(),
    memory_gib: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    workerd: rig.workerdVersion,
    connections,
    load_average: Number(loadavg()[0]!.toFixed(2)),
  };
}

function shortCommit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: projectDirectory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}
