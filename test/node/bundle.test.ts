import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildWorker, firstModule } from '../../scripts/build/build-worker.ts';
import { entries, modulesOf, sizeOf, type ModuleGraph } from '../../scripts/build/entries.ts';

const directory = mkdtempSync(join(tmpdir(), 'bundle-'));
let graph: ModuleGraph;
beforeAll(async () => {
  graph = await buildWorker(directory);
}, 120_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const packagesIn = (names: Iterable<string>) =>
  new Set([...names].flatMap((name) => graph[name]!.inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? 'src')));

const named = (name: string) =>
  modulesOf(
    graph,
    entries.find((entry) => entry.name === name)!,
  );

/** What reads documents or asks a model, and the protocol of assistants. */
const rarePackages = [
  'unpdf',
  'mammoth',
  'jszip',
  'postal-mime',
  'marked',
  'numfmt',
  '@streamparser/json',
  'openai',
  '@modelcontextprotocol/server',
];

describe('the built Worker', () => {
  test.each(entries)('is within its limit for $name', (entry) => {
    expect(sizeOf(directory, modulesOf(graph, entry)).compressed / 1024).toBeLessThanOrEqual(entry.limit);
  });

  test('loads no parser, no model client and no protocol of assistants for requests, queues and ticks', () => {
    for (const name of ['start and Durable Objects', 'API', 'queues', 'minute tick'])
      expect(
        [...packagesIn(named(name))].filter((one) => rarePackages.includes(one)),
        name,
      ).toEqual([]);
    expect([...packagesIn(Object.keys(graph))]).toEqual(expect.arrayContaining(rarePackages));
  });

  test('reads documents with modules that nothing else loads', () => {
    const parsers = named('parsers of documents');
    expect(packagesIn(parsers)).toContain('unpdf');
    for (const name of ['API', 'queues', 'minute tick', 'assistants']) expect(packagesIn(named(name)), name).not.toContain('unpdf');
    expect(parsers.has(firstModule)).toBe(false);
  });

  test('has a source map beside each module, and needs nothing but its modules and the runtime', () => {
    for (const [name, { imports, externals }] of Object.entries(graph)) {
      expect(readFileSync(join(directory, name), 'utf8').endsWith(`//# sourceMappingURL=${name}.map\n`), name).toBe(true);
      expect(
        imports.filter((imported) => graph[imported.name] === undefined),
        name,
      ).toEqual([]);
      expect(
        externals.filter((external) => !/^(?:node|cloudflare):[\w/]+$/.test(external)),
        name,
      ).toEqual([]);
    }
  });

  test('is written again only where it has changed', { tags: 'soak' }, async () => {
    const changedAt = () => Object.keys(graph).map((name) => statSync(join(directory, name)).mtimeMs);
    const before = changedAt();
    await buildWorker(directory);
    expect(changedAt()).toEqual(before);
  });
});
