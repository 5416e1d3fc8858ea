import { join } from 'node:path';
import { buildConsole, isConsoleBuilt } from './build/build-console.ts';
import { startChild } from './local/child.ts';
import type { Child } from './local/child.ts';
import { ensureCredentials, makeSignInLink } from './local/demo-organization.ts';
import { ensureDevelopmentVariables } from './local/development-variables.ts';
import { tickEachMinute } from './local/minute-tick.ts';
import { requireFreePort } from './local/ports.ts';
import { runProgram } from './local/run-program.ts';
import { waitUntilHealthy } from './local/service-health.ts';
import { isTwilioSimulated, LocalError, portVariables, projectDirectory, readLocalSettings, serviceOrigin } from './local/settings.ts';
import type { LocalSettings } from './local/settings.ts';
import { lockState } from './local/state-lock.ts';
import { Terminal } from './local/terminal.ts';
import { welcome } from './local/welcome.ts';
import { isError, WranglerOutput } from './local/wrangler-output.ts';
import { applyMigrations, developmentArguments, wranglerEnvironment, wranglerProgram } from './local/wrangler.ts';

const terminal = new Terminal();
const ending = new AbortController();
let isUp = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort());
// The shell between npm and this process forwards no signal, so its end is the signal.
if (process.env.npm_lifecycle_event !== undefined) await import('./local/exit-with-parent.ts');

await runProgram(async () => {
  const settings = readLocalSettings(process.env);
  const unlock = lockState(settings);
  const children: Child[] = [];
  try {
    await serve(settings, children);
  } catch (error) {
    if (!ending.signal.aborted) throw error;
  } finally {
    terminal.end();
    ending.abort();
    await Promise.all(children.map((child) => child.stop()));
    unlock();
  }
});

/** Runs until a signal comes, which rejects it, or something goes wrong. */
async function serve(settings: LocalSettings, children: Child[]): Promise<void> {
  await requireFreePort(settings.port, 'PORT');
  await requireFreePort(settings.simulatorsPort, 'SIM_PORT');
  const alreadySet = ensureDevelopmentVariables(join(projectDirectory, '.dev.vars'));
  if (!isConsoleBuilt()) {
    terminal.begin('Building the console');
    await buildConsole();
  }
  terminal.begin('Applying database migrations');
  await applyMigrations(settings.stateDirectory, ending.signal, settings.databases);

  const failure = Promise.withResolvers<never>();
  ending.signal.addEventListener('abort', () => failure.reject(ending.signal.reason));
  children.push(startSimulators(settings), startService(settings, alreadySet, failure.reject));
  for (const child of children) {
    void child.ended.then((how) =>
      failure.reject(new LocalError(`The ${child.name} ended unexpectedly (${how}). Everything else is ended too.`)),
    );
  }
  await Promise.race([failure.promise, attend(settings, isTwilioSimulated(alreadySet))]);
}

async function attend(settings: LocalSettings, hasSimulatedCarrier: boolean): Promise<void> {
  terminal.begin('Starting the service');
  const baseUrl = `${serviceOrigin(settings)}/api/v1`;
  await waitUntilHealthy(baseUrl, ending.signal);
  isUp = true;
  const credentials = await ensureCredentials(settings, { hasSimulatedCarrier });
  terminal.end();
  terminal.line(welcome(credentials, await makeSignInLink(credentials)));
  await tickEachMinute(serviceOrigin(settings), ending.signal, (problem) => terminal.line(problem));
}

/** Hides what children print while they end. */
function showLine(line: string): void {
  if (!ending.signal.aborted) terminal.line(line);
}

function startSimulators({ port, simulatorsPort, stateDirectory }: LocalSettings): Child {
  return startChild({
    name: 'simulators process',
    parameters: [join(projectDirectory, 'simulators', 'serve.ts')],
    environment: { ...process.env, PORT: String(port), SIM_PORT: String(simulatorsPort), STATE_DIR: stateDirectory },
    onLine: showLine,
  });
}

function startService(settings: LocalSettings, alreadySet: Set<string>, fail: (reason: LocalError) => void): Child {
  const outputs = { stdout: new WranglerOutput(), stderr: new WranglerOutput() };
  const giveUp = () => {
    if (!isUp) fail(new LocalError('The service did not start, for the reason above.'));
  };
  return startChild({
    name: 'service process (wrangler dev)',
    parameters: [wranglerProgram, ...developmentArguments(settings, portVariables(settings, alreadySet))],
    environment: wranglerEnvironment(settings.stateDirectory),
    onLine: (rawLine, stream) => {
      const line = outputs[stream].filter(rawLine);
      if (line === undefined) return;
      showLine(line);
      if (!isUp && isError(line)) setTimeout(giveUp, 3_000).unref();
    },
  });
}
