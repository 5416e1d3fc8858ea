import { spawn } from 'node:child_process';
import { join, relative, resolve } from 'node:path';
import { ensureDevelopmentVariables } from '../local/development-variables.ts';
import { requireFreePort } from '../local/ports.ts';
import { runProgram } from '../local/run-program.ts';
import { isTwilioSimulated, portVariables, projectDirectory, readLocalSettings, type LocalSettings } from '../local/settings.ts';
import { isLockedBy, lockState } from '../local/state-lock.ts';
import { applyMigrations } from '../local/wrangler.ts';
import { findWranglerDev, type WranglerDev } from './find-wrangler-dev.ts';
import { developmentPort } from './development-port.ts';
import { introduction } from './introduction.ts';

/**
 * Gives the `wrangler dev` that runs this its secrets, the addresses of the simulators and the tables of its database, and starts what
 * attends to it. It runs at the start and, since it is a build command, after each change of the code, when all that is done.
 */
export const prepare = (): Promise<void> =>
  runProgram(async () => {
    const wrangler = findWranglerDev(process.ppid);
    if (wrangler === undefined || wrangler.isRemote) return;
    const settings = settingsOf(wrangler);
    if (isLockedBy(settings.stateDirectory, wrangler.processId)) return;

    const unlock = lockState(settings, wrangler.processId);
    try {
      await requireFreePort(settings.port, '--port');
      const alreadySet = ensureDevelopmentVariables(join(projectDirectory, '.dev.vars'), (names) => portVariables(settings, names));
      await applyMigrations(settings.stateDirectory);
      startSupervisor(settings, wrangler, isTwilioSimulated(alreadySet));
      console.log(introduction(settings, logFile(settings)));
    } catch (error) {
      unlock();
      throw error;
    }
  });

function settingsOf({ port, persistTo }: WranglerDev): LocalSettings {
  const environment = {
    ...process.env,
    DATABASES: undefined,
    PORT: port ?? String(developmentPort()),
    STATE_DIR: persistTo && resolve(persistTo),
  };
  return readLocalSettings(environment);
}

const logFile = ({ stateDirectory }: LocalSettings) => relative(projectDirectory, join(stateDirectory, 'wrangler-dev.log'));

/** Its own process, since this one must end before wrangler begins; without wrangler's pipes, on which it would be waited for. */
function startSupervisor(settings: LocalSettings, { processId }: WranglerDev, hasSimulatedCarrier: boolean): void {
  const parameters = JSON.stringify({ settings, processId, hasSimulatedCarrier });
  spawn(process.execPath, [join(import.meta.dirname, 'supervise.ts'), parameters], {
    cwd: projectDirectory,
    detached: true,
    stdio: 'ignore',
  }).unref();
}
