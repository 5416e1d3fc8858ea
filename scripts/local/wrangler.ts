import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LocalError, projectDirectory } from './settings.ts';
import type { LocalSettings } from './settings.ts';
import { withSecondDatabase, writeShardedConfig } from './second-database.ts';
import { simulatedVectorizeConfig, writeSimulatedConfig } from './simulated-vectorize.ts';

export const wranglerProgram = join(projectDirectory, 'node_modules', 'wrangler', 'bin', 'wrangler.js');

/** Keeps wrangler quiet, off the network and out of the home folder, so that several services can run side by side. */
export function wranglerEnvironment(stateDirectory: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    CI: '1',
    NO_COLOR: '1',
    NODE_NO_WARNINGS: '1',
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_SEND_ERROR_REPORTS: 'false',
    WRANGLER_HIDE_BANNER: 'true',
    WRANGLER_WRITE_LOGS: 'false',
    WRANGLER_REGISTRY_PATH: join(stateDirectory, 'registry'),
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    // Whoever starts wrangler by this has prepared what `wrangler dev` would prepare by itself.
    WRANGLER_DEV_PREPARED: 'true',
    // The local trace store would grow by 15 KB with each request and slow each down.
    X_LOCAL_OBSERVABILITY: 'false',
  };
}

/** The arguments of `wrangler dev`. Port 0 gives the debugger any free port. */
export function developmentArguments(
  { port, stateDirectory, hasVectorize, databases }: LocalSettings,
  variables: Record<string, string>,
): string[] {
  const fixed = ['dev', '--local', '--ip', '127.0.0.1', '--inspector-port', '0', '--show-interactive-dev-session=false'];
  const chosen = ['--port', String(port), '--persist-to', stateDirectory];
  const change = databases === undefined ? undefined : withSecondDatabase;
  const sharded = databases === undefined ? [] : ['--config', writeShardedConfig()];
  const workers = hasVectorize ? ['--config', writeSimulatedConfig(change), '--config', simulatedVectorizeConfig] : sharded;
  return [...fixed, ...workers, ...chosen, ...Object.entries(variables).flatMap(([name, value]) => ['--var', `${name}:${value}`])];
}

/** Runs a wrangler command; returns its output. A failed command is a `LocalError` with its output. */
export async function runWrangler(
  parameters: string[],
  stateDirectory: string,
  signal?: AbortSignal,
  environment: Record<string, string> = {},
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [wranglerProgram, ...parameters], {
      cwd: projectDirectory,
      env: { ...wranglerEnvironment(stateDirectory), ...environment },
      maxBuffer: 64 * 1024 * 1024,
      ...(signal ? { signal } : {}),
    });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new LocalError(
      `"wrangler ${parameters.slice(0, 3).join(' ')}" failed:\n${[stdout, stderr, stdout || stderr ? '' : String(error)].join('\n').trim()}`,
    );
  }
}

/** Applies them to each database. */
export async function applyMigrations(stateDirectory: string, signal?: AbortSignal, databases = 1): Promise<void> {
  const config = databases > 1 ? ['--config', writeShardedConfig()] : [];
  for (const binding of ['DB', 'DB_1'].slice(0, databases))
    await runWrangler(['d1', 'migrations', 'apply', binding, '--local', '--persist-to', stateDirectory, ...config], stateDirectory, signal);
}
