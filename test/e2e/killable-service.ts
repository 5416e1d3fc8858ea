import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createDemoOrganization } from '../../scripts/local/demo-organization.ts';
import { ensureDevelopmentVariables } from '../../scripts/local/development-variables.ts';
import { waitUntilHealthy } from '../../scripts/local/service-health.ts';
import { portVariables, projectDirectory, serviceOrigin, simulatorsOrigin, type LocalSettings } from '../../scripts/local/settings.ts';
import { WranglerOutput } from '../../scripts/local/wrangler-output.ts';
import { applyMigrations, developmentArguments, wranglerEnvironment, wranglerProgram } from '../../scripts/local/wrangler.ts';
import { freePort } from './service.ts';

const tether = join(projectDirectory, 'scripts/local/exit-with-parent.ts');

export interface Answer {
  status: number;
  body: any;
}

export interface Call {
  method: string;
  /** Below the base path, or a whole address. */
  path: string;
  /** Text is sent as it is, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

/**
 * A local service that can be killed like a power cut: SIGKILL ends wrangler and workerd at once, in the middle of their work. The simulators are a
 * separate process that survives, with all requests that they got and all callbacks that they will send.
 */
export class KillableService {
  readonly #settings: LocalSettings;
  readonly #variables: Record<string, string>;
  readonly #simulated: Record<string, string>;
  readonly #config: string | undefined;
  #simulators: ChildProcess | undefined;
  #service: ChildProcess | undefined;
  #apiKey = '';
  /** What the service has logged, for a test that fails. */
  output = '';

  private constructor(settings: LocalSettings, variables: Record<string, string>, simulated: Record<string, string>, config?: string) {
    this.#settings = settings;
    this.#variables = variables;
    this.#simulated = simulated;
    this.#config = config;
  }

  /** Up, with an organization. `variables` are those of the Worker, `simulated` those of the simulators, `config` a file in the place of `wrangler.toml`. */
  static async create(
    variables: Record<string, string>,
    simulated: Record<string, string> = {},
    config?: string,
  ): Promise<KillableService> {
    const stateDirectory = mkdtempSync(join(tmpdir(), 'service-'));
    const settings = { port: await freePort(), simulatorsPort: await freePort(), stateDirectory };
    const service = new KillableService(settings, variables, simulated, config);
    try {
      service.#startSimulators();
      await applyMigrations(stateDirectory, AbortSignal.timeout(60_000));
      await service.start();
      service.#apiKey = await createDemoOrganization(service.baseUrl, { hasSimulatedCarrier: true });
      return service;
    } catch (error) {
      await service.remove();
      throw error;
    }
  }

  get baseUrl(): string {
    return `${serviceOrigin(this.#settings)}/api/v1`;
  }

  get origin(): string {
    return serviceOrigin(this.#settings);
  }

  get simulators(): string {
    return simulatorsOrigin(this.#settings);
  }

  get stateDirectory(): string {
    return this.#settings.stateDirectory;
  }

  #startSimulators(): void {
    const { port, simulatorsPort, stateDirectory } = this.#settings;
    this.#simulators = startGroup([join(projectDirectory, 'simulators/serve.ts')], {
      ...process.env,
      ...this.#simulated,
      PORT: String(port),
      SIM_PORT: String(simulatorsPort),
      STATE_DIR: stateDirectory,
    });
    for (const stream of [this.#simulators.stdout!, this.#simulators.stderr!]) stream.resume();
  }

  /** Resolves once the service is healthy. */
  async start(): Promise<void> {
    // A file of its own, so that nothing of a developer's .dev.vars is in it.
    const variablesFile = join(this.stateDirectory, 'variables.env');
    const names = ensureDevelopmentVariables(variablesFile);
    const variables = { ...portVariables(this.#settings, names), ...this.#variables };
    const service = startGroup(
      [
        wranglerProgram,
        ...developmentArguments(this.#settings, variables),
        ...(this.#config === undefined ? [] : ['--config', this.#config]),
        '--env-file',
        variablesFile,
      ],
      wranglerEnvironment(this.stateDirectory),
    );
    this.#service = service;
    for (const stream of [service.stdout!, service.stderr!]) {
      const lines = new WranglerOutput();
      createInterface({ input: stream }).on('line', (line) => {
        const kept = lines.filter(line);
        if (kept !== undefined) this.output += `${kept}\n`;
      });
    }
    const gone = once(service, 'exit').then(() => Promise.reject(new Error('it ended')));
    try {
      await Promise.race([waitUntilHealthy(this.baseUrl, AbortSignal.timeout(60_000)), gone]);
    } catch (error) {
      throw new Error(`the service did not start:\n${this.output.slice(-5000)}`, { cause: error });
    }
    gone.catch(() => undefined);
  }

  /** Ends wrangler and workerd at once; resolves when they are gone. */
  async kill(): Promise<void> {
    await endGroup(this.#service);
  }

  /** Ends all processes and deletes the state. */
  async remove(): Promise<void> {
    await Promise.all([endGroup(this.#service), endGroup(this.#simulators)]);
    rmSync(this.stateDirectory, { recursive: true, force: true });
  }

  /** Throws when no answer comes, as while the service is down. */
  async call({ method, path, body, headers = {} }: Call): Promise<Answer> {
    const response = await fetch(path.startsWith('http') ? path : this.baseUrl + path, {
      method,
      headers: { 'X-API-Key': this.#apiKey, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, body: isJson ? await response.json() : await response.text() };
  }

  /** The minute tick, now instead of at the next full minute. */
  async tick(): Promise<void> {
    await fetch(`${serviceOrigin(this.#settings)}/cdn-cgi/local/scheduled?cron=*+*+*+*+*`, { signal: AbortSignal.timeout(30_000) });
  }
}

/** A Node program in a process group of its own; it ends by itself when this process is gone. */
const startGroup = (parameters: string[], environment: NodeJS.ProcessEnv): ChildProcess =>
  spawn(process.execPath, ['--import', tether, ...parameters], {
    cwd: projectDirectory,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

async function endGroup(leader: ChildProcess | undefined): Promise<void> {
  if (leader?.pid === undefined) return;
  const hasEnded = leader.exitCode !== null || leader.signalCode !== null;
  const ended = hasEnded ? Promise.resolve() : once(leader, 'exit');
  try {
    process.kill(-leader.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  await ended;
}
