import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from '../local/child.ts';
import { waitUntilHealthy } from '../local/service-health.ts';
import { LocalError, projectDirectory } from '../local/settings.ts';

export interface StartedService {
  origin: URL;
  /** The last lines that it printed. */
  lines: () => string[];
  stop: () => Promise<void>;
}

const keptLines = 40;

/** What `npm start` starts, on free ports and with a state that goes with it. */
export async function startService(): Promise<StartedService> {
  const stateDirectory = await mkdtemp(join(tmpdir(), 'hostile-'));
  const [port, simulatorsPort] = await Promise.all([freePort(), freePort()]);
  const lines: string[] = [];
  const child = startChild({
    name: 'service',
    parameters: [join(projectDirectory, 'scripts', 'start.ts')],
    environment: { ...process.env, PORT: String(port), SIM_PORT: String(simulatorsPort), STATE_DIR: stateDirectory },
    onLine: (line) => {
      // Each request has a line, and most requests are refused: what is left says what went wrong.
      if (/"level":"(info|debug)"|curl -s/.test(line)) return;
      lines.push(line);
      if (lines.length > keptLines) lines.shift();
    },
  });
  const stop = async () => {
    await child.stop();
    await rm(stateDirectory, { recursive: true, force: true });
  };
  const origin = new URL(`http://127.0.0.1:${port}`);
  const early = child.ended.then((how) => {
    throw new LocalError(`The service ended before it could be attacked (${how}):\n${lines.join('\n')}`);
  });
  early.catch(() => undefined);
  const abortController = new AbortController();
  try {
    await Promise.race([waitUntilHealthy(`${origin.origin}/api/v1`, abortController.signal), early]);
  } catch (error) {
    abortController.abort();
    await stop();
    throw error;
  }
  return { origin, lines: () => [...lines], stop };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
