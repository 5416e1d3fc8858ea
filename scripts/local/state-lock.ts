import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LocalError } from './settings.ts';
import type { LocalSettings } from './settings.ts';

interface LockHolder {
  process_id: number;
  port: number;
}

const lockFile = (stateDirectory: string) => join(stateDirectory, 'running.json');

/**
 * Locks the state folder for a process, by default this one; returns the function that unlocks it. Two services on one folder would use the same
 * database and queues. The lock of a dead process is taken over; a living holder is a `LocalError`.
 */
export function lockState({ stateDirectory, port }: Pick<LocalSettings, 'stateDirectory' | 'port'>, processId = process.pid): () => void {
  const file = lockFile(stateDirectory);
  mkdirSync(stateDirectory, { recursive: true });
  const holder = readHolder(file);
  if (holder !== undefined && isRunning(holder.process_id)) {
    throw new LocalError(
      `A local service already runs on port ${holder.port} with the state in ${stateDirectory} (process ${holder.process_id}). ` +
        'Stop it, or run another one beside it: "npm start" with PORT, SIM_PORT and STATE_DIR, or "wrangler dev" with --port and --persist-to.',
    );
  }
  rmSync(file, { force: true });
  const content: LockHolder = { process_id: processId, port };
  try {
    writeFileSync(file, JSON.stringify(content), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new LocalError(
      `Another local service is just starting with the state in ${stateDirectory}. Set STATE_DIR (or --persist-to) to another folder.`,
    );
  }
  return () => unlockState(stateDirectory, processId);
}

/** Gives the folder back, unless another process has taken it meanwhile. */
export function unlockState(stateDirectory: string, processId: number): void {
  if (isLockedBy(stateDirectory, processId)) rmSync(lockFile(stateDirectory), { force: true });
}

export const isLockedBy = (stateDirectory: string, processId: number): boolean =>
  readHolder(lockFile(stateDirectory))?.process_id === processId;

function readHolder(file: string): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as LockHolder;
  } catch {
    return undefined;
  }
}

/** Whether the process lives and is a service's: after a reboot its number may belong to something else. */
function isRunning(processId: number): boolean {
  if (processId === process.pid) return false;
  try {
    process.kill(processId, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    return readFileSync(`/proc/${processId}/cmdline`, 'utf8').match(/start\.ts|wrangler/) !== null;
  } catch {
    return true;
  }
}
