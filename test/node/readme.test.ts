import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { triggerTypes } from '../../src/automation-workflows/triggers/configs.ts';
import { nodeTypes } from '../../src/automation-workflows/nodes/registry.ts';
import { getSettings } from '../../src/settings.ts';
import { readLocalSettings } from '../../scripts/local/settings.ts';
import { docsPath } from '../../scripts/tour/docs-link.ts';
import type { ApiDocument } from '../../scripts/tour/docs-link.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const readme = read('README.md');
const contributing = read('CONTRIBUTING.md');
const api = JSON.parse(read('openapi.json')) as ApiDocument;
const packageFile = JSON.parse(read('package.json')) as Record<'scripts' | 'dependencies' | 'devDependencies', Record<string, string>>;

/** The cells of a page's table rows whose first cell is one or more words in backticks. */
const rowsOf = (page: string) =>
  page
    .split('\n')
    .filter((line) => /^\s*\| `/.test(line))
    .map((line) =>
      line
        .trim()
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );

/** The rows of the section under `heading`. */
const sectionRows = (page: string, heading: string) =>
  rowsOf(page.split(/^#+ /m).find((section) => section.startsWith(`${heading}\n`)) ?? '');
const unquoted = (cell: string) => cell.replaceAll('`', '');
const sorted = (items: Iterable<string>) => [...items].toSorted();

describe('the README', () => {
  test('lists every endpoint of the OpenAPI document and no other, each with its page in the docs', () => {
    const told = sectionRows(readme, 'Endpoints').map(([method = '', path = '']) => {
      const [, shown, link] = /^\[`(.+)`\]\((.+)\)$/.exec(path) ?? [];
      return { operation: `${unquoted(method)} ${shown}`, link };
    });
    const methods = new Set(['get', 'post', 'put', 'patch', 'delete']);
    const operations = Object.entries(api.paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => methods.has(method))
        .map((method) => `${method.toUpperCase()} ${path.replace('/api/v1', '')}`),
    );
    expect(sorted(told.map(({ operation }) => operation))).toEqual(sorted(operations));
    for (const { operation, link } of told) expect(link).toBe(`http://127.0.0.1:8787${docsPath(api, operation)}`);
  });

  test('names every variable of the service with its default', () => {
    const key = Buffer.alloc(32).toString('base64');
    const defaults = getSettings({ ENCRYPTION_KEY: key, SIGNING_KEY: key } as Env);
    const told = new Map(sectionRows(readme, 'Configuration').map(([name = '', standard = '']) => [unquoted(name), unquoted(standard)]));
    const expected = Object.entries(defaults).map(([name, value]): [string, string] => {
      if (value === key) return [name, 'required'];
      return [name, String(value) === '' ? 'empty' : String(value)];
    });
    const local = readLocalSettings({});
    expected.push(['PORT', String(local.port)], ['SIM_PORT', String(local.simulatorsPort)], ['STATE_DIR', '.wrangler/state']);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(expected));
    expect(local.stateDirectory).toBe(join(root, '.wrangler/state'));
  });

  test('describes every trigger type and every node type with its fixed handles', () => {
    const rows = sectionRows(readme, 'Journeys');
    const names = rows.map(([name = '']) => unquoted(name));
    expect(sorted(names)).toEqual(sorted([...triggerTypes, ...nodeTypes.keys()]));
    const handles = new Map(rows.map(([name = '', , told = '']) => [unquoted(name), told]));
    for (const [name, type] of nodeTypes) {
      for (const handle of type.handles({})) expect(handles.get(name), `handles of ${name}`).toContain(`\`${handle}\``);
    }
  });

  test('backs up every table once, those that others count or watch first', () => {
    const migrations = readdirSync(join(root, 'migrations')).filter((name) => name.endsWith('.sql'));
    const tables = migrations.flatMap((name) =>
      [...read(`migrations/${name}`).matchAll(/CREATE TABLE `(\w+)`/g)].map(([, table]) => table!),
    );
    const first = /first="([^"]+)"/.exec(readme)?.[1]?.split(/\s+/) ?? [];
    const second = [...readme.matchAll(/--table (\w+)/g)].map(([, table]) => table!);
    expect(sorted([...first, ...second])).toEqual(sorted(tables));
    expect(sorted(second)).toEqual(['automation_trigger', 'automation_workflow', 'trigger_topic', 'voice_agent']);
  });
});

describe('CONTRIBUTING', () => {
  test('gives a reason for every dependency and for nothing else', () => {
    const told = sectionRows(contributing, 'Dependencies').flatMap(([names = '']) => names.split(',').map((name) => unquoted(name.trim())));
    expect(sorted(told)).toEqual(sorted([...Object.keys(packageFile.dependencies), ...Object.keys(packageFile.devDependencies)]));
  });

  test('lists every queue and every kind of message', () => {
    const told = sectionRows(contributing, 'Queues').map(([queue = '', kind = '']) => [unquoted(queue), unquoted(kind)]);
    const produced = [...read('wrangler.toml').matchAll(/\[\[queues\.producers\]\]\s+binding = "\w+"\s+queue = "([\w-]+)"/g)].map(
      ([, queue]) => queue!,
    );
    const kinds = [...read('src/outbox/messages.ts').matchAll(/kind: z\.literal\('(\w+)'\)/g)].map(([, kind]) => kind!);
    expect(sorted(new Set(told.map(([queue]) => queue!)))).toEqual(sorted(produced));
    // One kind may travel in two queues.
    expect(sorted(new Set(told.map(([, kind]) => kind!)))).toEqual(sorted(kinds));
  });
});

test('docs/faults.md tells how each part ends that failed', () => {
  const [, kinds] = /const partKinds = \[([^\]]+)\]/.exec(read('src/outbox/failed-messages.ts'))!;
  const poked = /const pokedObjects = \[([^\]]+)\]/.exec(read('src/outbox/messages.ts'))![1]!;
  const names = (list: string) => [...list.matchAll(/'(\w+)'/g)].map(([, name]) => name!);
  const keys = [...names(kinds!).filter((kind) => kind !== 'poke'), ...names(poked).map((what) => `poke:${what}`)];
  const told = read('docs/faults.md');
  expect(keys.filter((key) => !told.includes(`\`${key}:{`))).toEqual([]);
});

describe.each([
  ['README.md', readme],
  ['CONTRIBUTING.md', contributing],
  ['docs/deploying.md', read('docs/deploying.md')],
])('%s', (name, page) => {
  test('names only npm scripts that exist', () => {
    const named = [...page.matchAll(/npm (?:run (?:--silent )?([a-z][\w:-]*)|(start|test)\b)/g)].map(
      ([, script, short]) => script ?? short!,
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((script) => packageFile.scripts[script] === undefined)).toEqual([]);
  });

  test('links only to files that exist', () => {
    const links = [...page.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)].map(([, target]) => target!);
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((target) => !existsSync(join(root, dirname(name), target.replace(/#.*$/, ''))))).toEqual([]);
  });

  test('names only files and folders of the repository that exist', () => {
    const named = [...page.matchAll(/`((?:src|durable-objects|simulators|scripts|test|bench|examples|public|migrations)\/[\w./-]*)`/g)].map(
      ([, path]) => path!,
    );
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
