import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { projectDirectory } from '../../scripts/local/settings.ts';
import { docsPages, findDifferences, readPage, type Block } from './docs-blocks.ts';
import { narration } from './narration.ts';
import { seededRandom, shuffled } from './seeded-random.ts';
import { Service } from './service.ts';

const seed = Number(process.env['DOCS_SEED'] ?? Date.now() % 100_000);
const pageTimeoutMs = 110_000;
const say = narration();

/** A reader's environment: programs and wrangler find this service, and nothing that the test runner sets for another one. */
const readersEnvironment = (service: Service): NodeJS.ProcessEnv => {
  const { BASE_URL: _base, API_KEY: _key, ...own } = process.env;
  return { ...own, PORT: String(service.port), SIM_PORT: String(service.simulatorsPort), STATE_DIR: service.stateDirectory, NO_COLOR: '1' };
};

/** A folder with links to the files of the repository. Files that blocks leave behind stay in this folder, where the test sees them. */
async function readersFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'docs-'));
  const entries = (await readdir(projectDirectory)).filter((name) => !['.git', '.wrangler', '.deploy'].includes(name));
  await Promise.all(entries.map((name) => symlink(join(projectDirectory, name), join(folder, name))));
  return folder;
}

interface BlockResult {
  output: string;
  status: number | null;
}

/** The blocks of a page one after the other in one shell, as a reader pastes them. */
async function runPage(blocks: Block[], folder: string, environment: NodeJS.ProcessEnv): Promise<BlockResult[]> {
  const script = blocks.map(({ code }, index) => `${code}\nprintf '\\n@@ %s %s\\n' ${index} $?\n`).join('');
  const shell = spawn('sh', ['-u', '-c', script], { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  shell.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const deadline = setTimeout(() => process.kill(-shell.pid!, 'SIGKILL'), pageTimeoutMs);
  await new Promise((resolve) => shell.once('close', resolve));
  clearTimeout(deadline);
  const parts = output.split(/\n@@ \d+ (\d+)\n/);
  return blocks.map((_block, index) => ({
    output: parts[index * 2] ?? '',
    status: parts[index * 2 + 1] === undefined ? null : Number(parts[index * 2 + 1]),
  }));
}

/** Every page in an order of the seed; answers what is wrong, each with page and line. */
async function tryPages(service: Service, name: string, order: number): Promise<string[]> {
  const environment = readersEnvironment(service);
  const folder = await readersFolder();
  const before = new Set(await readdir(folder));
  const problems: string[] = [];
  try {
    const pages = shuffled(docsPages(), seededRandom(order));
    for (const [index, page] of pages.entries()) {
      const blocks = readPage(page).filter(({ notTried }) => notTried === null);
      const startedAt = Date.now();
      const results = blocks.length === 0 ? [] : await runPage(blocks, folder, environment);
      const found = blocks.flatMap(({ line, answers }, block) => {
        const { output, status } = results[block]!;
        const faults = status === 0 ? [] : [status === null ? `did not end:\n${output}` : `ended with ${status}:\n${output}`];
        return [...faults, ...findDifferences(answers, output)].map((fault) => `${page}:${line} ${fault}`);
      });
      const left = (await readdir(folder)).filter((entry) => !before.has(entry));
      problems.push(...found, ...left.map((entry) => `${page} leaves ${entry} in the folder`));
      await Promise.all(left.map((entry) => rm(join(folder, entry), { recursive: true })));
      const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
      say(`${name}: ${index + 1} of ${pages.length}, ${page}: ${blocks.length} blocks, ${found.length} differences, ${seconds} s`);
    }
    return problems;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test.concurrent('every block runs against a fresh service, whatever the order of the pages', async ({ expect: check }) => {
  say(`seed ${seed} (DOCS_SEED)`);
  const service = await Service.create();
  try {
    await service.start();
    check(await tryPages(service, 'fresh', seed)).toEqual([]);
  } finally {
    await service.remove();
  }
}, 300_000);

test.concurrent('every block runs against a service after the tour, whatever the order of the pages', async ({ expect: check }) => {
  const service = await Service.create();
  try {
    await service.start();
    await promisify(execFile)(process.execPath, [join(projectDirectory, 'scripts/tour.ts')], { env: readersEnvironment(service) });
    check(await tryPages(service, 'after the tour', seed + 1)).toEqual([]);
  } finally {
    await service.remove();
  }
}, 300_000);

test('blocks that are not run give a reason, and stand only where an account or a deployed service is needed', () => {
  const untried = docsPages().flatMap((page) =>
    readPage(page).flatMap(({ line, notTried }) => (notTried === null ? [] : [{ page, line, notTried }])),
  );
  for (const { page, line, notTried } of untried) say(`not tried: ${page}:${line}, ${notTried}`);
  expect([...new Set(untried.map(({ page }) => page))].toSorted()).toEqual([
    'README.md',
    'docs/assistants.md',
    'docs/deploying.md',
    'docs/knowledge-base.md',
    'docs/operating.md',
    'docs/shards.md',
    'docs/statistics.md',
  ]);
});
