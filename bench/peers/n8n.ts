import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { residentMegabytesOfTree } from '../local/memory.ts';
import { newStateDirectory } from '../local/runtime.ts';
import { peerDirectory } from './install.ts';
import { n8nJourney, n8nWebhookPath, n8nWorkflowId } from './n8n-journey.ts';

const run = promisify(execFile);
const startLimitMs = 120_000;

/** n8n on loopback with SQLite in a temporary folder; it asks nobody outside, and saves every execution. */
export class N8n {
  readonly origin: URL;
  readonly #process: ChildProcess;
  readonly #directory: string;

  private constructor(origin: URL, child: ChildProcess, directory: string) {
    this.origin = origin;
    this.#process = child;
    this.#directory = directory;
  }

  static async start(receiver: string): Promise<N8n> {
    const directory = newStateDirectory();
    const [port, brokerPort] = [await freePort(), await freePort()];
    const environment = {
      ...process.env,
      ...settings,
      N8N_USER_FOLDER: directory,
      N8N_PORT: String(port),
      N8N_RUNNERS_BROKER_PORT: String(brokerPort),
    };
    const program = join(peerDirectory('n8n'), 'node_modules', 'n8n', 'bin', 'n8n');
    const command = (...parameters: string[]) =>
      run(process.execPath, [program, ...parameters], { env: environment, timeout: startLimitMs });
    mkdirSync(directory, { recursive: true });
    const file = join(directory, 'journey.json');
    writeFileSync(file, JSON.stringify(n8nJourney(receiver)));
    await command('import:workflow', `--input=${file}`);
    await command('publish:workflow', `--id=${n8nWorkflowId}`);
    const child = spawn(process.execPath, [program, 'start'], { env: environment, stdio: 'ignore' });
    const n8n = new N8n(new URL(`http://127.0.0.1:${port}`), child, directory);
    try {
      await n8n.#untilReady();
      return n8n;
    } catch (error) {
      await n8n.stop();
      throw error;
    }
  }

  /** Of its process and those that it has started. */
  residentMegabytes(): number {
    return residentMegabytesOfTree(this.#process.pid!);
  }

  /** How many executions it has saved as successful. */
  savedExecutions(): number {
    const database = new DatabaseSync(join(this.#directory, '.n8n', 'database.sqlite'), { readOnly: true });
    try {
      return Number(database.prepare("SELECT count(*) AS count FROM execution_entity WHERE status = 'success'").get()!.count);
    } finally {
      database.close();
    }
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null) {
      this.#process.kill('SIGTERM');
      await Promise.race([once(this.#process, 'exit'), sleep(10_000).then(() => this.#process.kill('SIGKILL'))]);
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** The webhook of an active workflow takes requests some time after the server does. */
  async #untilReady(): Promise<void> {
    const startedAt = Date.now();
    for (;;) {
      const body = JSON.stringify({ total: 150, order_id: 'first' });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(new URL(n8nWebhookPath, this.origin), { method: 'POST', headers, body }).catch(() => null);
      if (answer?.ok) return;
      if (this.#process.exitCode !== null) throw new Error(`n8n ended with exit code ${this.#process.exitCode}`);
      if (Date.now() - startedAt > startLimitMs) throw new Error(`n8n took no webhook within ${startLimitMs / 1000} s`);
      await sleep(250);
    }
  }
}

const settings = {
  N8N_LISTEN_ADDRESS: '127.0.0.1',
  N8N_DIAGNOSTICS_ENABLED: 'false',
  N8N_PERSONALIZATION_ENABLED: 'false',
  N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
  N8N_TEMPLATES_ENABLED: 'false',
  N8N_HIRING_BANNER_ENABLED: 'false',
  EXTERNAL_FRONTEND_HOOKS_URLS: '',
  EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'all',
  EXECUTIONS_DATA_SAVE_ON_ERROR: 'all',
  N8N_LOG_LEVEL: 'error',
};

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
