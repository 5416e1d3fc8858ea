import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildWorker, builtWorker, firstModule } from './build/build-worker.ts';
import { readConfiguration } from './deploy/plan.ts';
import { runProgram } from './local/run-program.ts';
import { LocalError } from './local/settings.ts';

const rounds = 9;

/** Milliseconds of CPU of all threads, and the resident memory in MiB. */
interface Start {
  cpuMs: number;
  memoryMebibytes: number;
}

const median = (values: number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1]!;

/** Prints what workerd, without any binding, spends until it serves the built Worker, beside a Worker of one line. The rounds alternate. */
await runProgram(async () => {
  await buildWorker();
  const directory = mkdtempSync(join(tmpdir(), 'startup-'));
  try {
    const built = readdirSync(builtWorker).filter((name) => name.endsWith('.js'));
    const workers = {
      'one line': served(join(directory, 'line'), [], (path) => writeFileSync(path, 'export default { fetch: () => new Response() };')),
      service: served(join(directory, 'service'), built, (path, name) => copyFileSync(join(builtWorker, name), path)),
    };
    const starts: Record<string, Start[]> = {};
    for (let round = 0; round < rounds; round++)
      for (const [name, config] of Object.entries(workers)) (starts[name] ??= []).push(await measureStart(config));
    for (const [name, all] of Object.entries(starts))
      console.log(
        `${name.padEnd(8)} ${median(all.map(({ cpuMs }) => cpuMs)).toFixed(0)} ms of CPU, ${median(all.map(({ memoryMebibytes }) => memoryMebibytes)).toFixed(0)} MiB (medians of ${rounds} starts)`,
      );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

/** The file with which workerd serves these modules, which `write` writes. */
function served(directory: string, names: string[], write: (path: string, name: string) => void): string {
  mkdirSync(directory);
  const ordered = [firstModule, ...names.filter((name) => name !== firstModule)];
  for (const name of ordered) write(join(directory, name), name);
  const modules = ordered.map((name) => `(name = "${name}", esModule = embed "${name}")`).join(', ');
  const config = join(directory, 'server.capnp');
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .served)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const served :Workerd.Worker = (modules = [${modules}], compatibilityDate = "${String(readConfiguration().compatibility_date)}");
`,
  );
  return config;
}

/** The program itself: the package's own name is a script of Node. */
function workerdProgram(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('wrangler'));
  return (require('workerd') as { default: string }).default;
}

/** Starts workerd, and reads what it has spent when it listens. */
function measureStart(config: string): Promise<Start> {
  const program = spawn(workerdProgram(), ['serve', '--control-fd=3', config], { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  let problem = '';
  program.stderr!.on('data', (chunk: Buffer) => (problem += chunk.toString()));
  return new Promise((resolve, reject) => {
    program.on('exit', () => reject(new LocalError(`workerd ended: ${problem}`)));
    program.stdio[3]!.once('data', () => {
      const threads = readdirSync(`/proc/${program.pid}/task`);
      const nanoseconds = threads.map((id) => Number(readFileSync(`/proc/${program.pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]));
      const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.pid}/status`, 'utf8'))![1];
      resolve({ cpuMs: nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6, memoryMebibytes: Number(resident) / 1024 });
      program.kill('SIGKILL');
    });
  });
}
