import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const start = join(import.meta.dirname, '../../scripts/start.ts');

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A local service with ports and a state folder of its own; `kill` and `start` again keep the state. */
export class Service {
  readonly port: number;
  readonly simulatorsPort: number;
  readonly stateDirectory: string;
  #process: ChildProcess | undefined;
  output = '';

  private constructor(port: number, simulatorsPort: number, stateDirectory: string) {
    this.port = port;
    this.simulatorsPort = simulatorsPort;
    this.stateDirectory = stateDirectory;
  }

  static async create(): Promise<Service> {
    const stateDirectory = await mkdtemp(join(tmpdir(), 'service-'));
    return new Service(await freePort(), await freePort(), stateDirectory);
  }

  get simulators(): string {
    return `http://127.0.0.1:${this.simulatorsPort}`;
  }

  /** Resolves when the service has printed its address. */
  async start(): Promise<void> {
    const from = this.output.length;
    const child = spawn(process.execPath, [start], {
      env: { ...process.env, PORT: String(this.port), SIM_PORT: String(this.simulatorsPort), STATE_DIR: this.stateDirectory },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    await new Promise<void>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        this.output += chunk.toString();
        if (this.output.slice(from).includes('curl')) resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.on('exit', (code) => reject(new Error(`npm start ended with ${code}:\n${this.output.slice(from)}`)));
    });
  }

  /** Ends all processes at once, like a power cut. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#process;
    if (!child || child.exitCode !== null) return child?.exitCode ?? null;
    const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill(signal);
    const ended = await code;
    // The child processes exit with their parent; the port is free once they have.
    for (let tries = 0; tries < 200 && (await this.#answers()); tries++) await new Promise((resolve) => setTimeout(resolve, 50));
    return ended;
  }

  async #answers(): Promise<boolean> {
    const check = (port: number) =>
      fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      );
    return (await check(this.port)) || (await check(this.simulatorsPort));
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.stateDirectory, { recursive: true, force: true });
  }

  async credentials(): Promise<{ base_url: string; api_key: string; simulators_url: string }> {
    return JSON.parse(await readFile(join(this.stateDirectory, 'credentials.json'), 'utf8'));
  }

  async call(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }> {
    const { base_url, api_key } = await this.credentials();
    const response = await fetch(base_url + path, {
      method,
      headers: { 'X-API-Key': api_key, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  }

  /** The minute tick, now instead of at the next full minute. */
  async tick(): Promise<void> {
    await fetch(`http://127.0.0.1:${this.port}/cdn-cgi/local/scheduled?cron=*+*+*+*+*`);
  }
}
