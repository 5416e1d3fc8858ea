import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Who listens on a local port, as words for an error message, or undefined when the system does not tell. */
export async function findPortHolder(port: number): Promise<string | undefined> {
  const [ours, process] = await Promise.all([findOurs(port), findProcess(port)]);
  if (ours && process) return `${ours} (${process})`;
  return ours ?? process;
}

/** A service or simulators of this project say so themselves. */
async function findOurs(port: number): Promise<string | undefined> {
  const healthOf = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(1_000) });
    return (await response.json()) as Record<string, unknown>;
  };
  const service = await healthOf('/api/v1/health').catch(() => undefined);
  if (service?.deployment_mode !== undefined) return 'another copy of this service';
  const simulators = await healthOf('/__sim/health').catch(() => undefined);
  return simulators?.providers === undefined ? undefined : 'the simulators of another copy of this service';
}

async function findProcess(port: number): Promise<string | undefined> {
  const listing = await run('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fp']).catch(() => undefined);
  const processId = listing?.stdout.match(/^p(\d+)$/m)?.[1];
  if (processId === undefined) return undefined;
  const command = await run('ps', ['-p', processId, '-o', 'args=']).catch(() => undefined);
  return command === undefined ? `process ${processId}` : `process ${processId}: ${command.stdout.trim().slice(0, 80)}`;
}
