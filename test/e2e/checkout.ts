import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './service.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** A fresh checkout after `npm ci`: the files that git has, or would take, and nothing else. Its `wrangler dev` has a port of its own. */
export class Checkout {
  readonly directory: string;
  readonly port: number;
  readonly simulatorsPort: number;
  readonly #started: ChildProcess[] = [];

  private constructor(directory: string, port: number, simulatorsPort: number) {
    this.directory = directory;
    this.port = port;
    this.simulatorsPort = simulatorsPort;
  }

  static async create(): Promise<Checkout> {
    const directory = await mkdtemp(join(tmpdir(), 'checkout-'));
    const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
    for (const file of stdout.split('\0').filter(Boolean)) await cp(join(root, file), join(directory, file)).catch(ignoreMissing);
    for (const installed of ['node_modules', join('console', 'node_modules')])
      await symlink(join(root, installed), join(directory, installed));
    const checkout = new Checkout(directory, await freePort(), await freePort());
    const configuration = join(directory, 'wrangler.toml');
    await writeFile(configuration, (await readFile(configuration, 'utf8')).replace(/^port = 8787$/m, `port = ${checkout.port}`));
    return checkout;
  }

  get api(): string {
    return `http://127.0.0.1:${this.port}/api/v1`;
  }

  /** Starts a command of a user in the checkout; `output` grows, `ended` settles with the exit code. */
  start(command: string, parameters: string[], environment: Record<string, string> = {}) {
    const child = spawn(command, parameters, {
      cwd: this.directory,
      env: { ...process.env, CI: '1', WRANGLER_SEND_METRICS: 'false', SIM_PORT: String(this.simulatorsPort), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#started.push(child);
    const started = { output: '', ended: new Promise<number | null>((resolve) => child.once('exit', resolve)), stop: () => stop(child) };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (started.output += chunk.toString()));
    return started;
  }

  async read(file: string): Promise<string> {
    return readFile(join(this.directory, file), 'utf8');
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<{ status: number; body: any }> {
    const response = await fetch(this.api + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  }

  async remove(): Promise<void> {
    await Promise.all(this.#started.map(stop));
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** Interrupts the whole process group, as Ctrl-C at a terminal does. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  process.kill(-child.pid!, 'SIGINT');
  await ended;
}

/** Ignores a missing file: it was deleted, and the deletion is not committed yet. */
function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
