import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { triggerTypes } from '../../src/automation-workflows/triggers/configs.ts';
import { nodeTypes } from '../../src/automation-workflows/nodes/registry.ts';
import {
  editorKeys,
  ignoredGlobalKeys,
  ignoredStartKeys,
  ignoredTalkKeys,
  ignoredWebhookKeys,
} from '../../src/voice-agents/definition/ignored-keys.ts';
import { nodeDataSchemas, nodeTypeNames } from '../../src/voice-agents/definition/schemas.ts';
import { steps } from '../../scripts/tour/steps.ts';
import { getSettings } from '../../src/settings.ts';
import { readLocalSettings } from '../../scripts/local/settings.ts';
import type { ApiDocument } from '../../scripts/tour/docs-link.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const readme = read('README.md');
const contributing = read('CONTRIBUTING.md');
const api = JSON.parse(read('openapi.json')) as ApiDocument;
const packageFile = JSON.parse(read('package.json')) as Record<'scripts' | 'dependencies' | 'devDependencies', Record<string, string>>;
const consolePackageFile = JSON.parse(read('console/package.json')) as Record<'devDependencies', Record<string, string>>;

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

const docs = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
const pages = ['README.md', ...docs];
const configuration = read('docs/configuration.md');
const journeys = read('docs/journeys.md');
const operating = read('docs/operating.md');

describe('the README', () => {
  test('is one screen: at most 220 lines', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(220);
  });

  test('links to every page of docs', () => {
    expect(docs.filter((page) => !readme.includes(`](${page})`))).toEqual([]);
  });

  test('shows a picture of what the tour prints, with every step of it', () => {
    expect(readme).toContain('](docs/tour.svg)');
    const picture = read('docs/tour.svg');
    for (const [index, { title }] of steps.entries()) expect(picture).toContain(`${index + 1}. ${title}`);
  });
});

describe('the pages of docs', () => {
  test.each(pages)('%s names only operations that the OpenAPI document has', (page) => {
    const operations = Object.entries(api.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace('/api/v1', '').replaceAll(/\{[^}]+\}/g, '*')}`),
    );
    const named = [...read(page).matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[^\s`?]*)/g)].map(([, method, path]) => `${method} ${path}`);
    const isKnown = (operation: string) => {
      if (/ \/(?:__sim|receiver|twilio)\b/.test(operation)) return true;
      const plain = operation.replaceAll(/\{[^}]+\}|\$[A-Z]+/g, '*').replace(/\/$/, '');
      return operations.includes(plain) || (plain.includes('...') && operations.some((one) => one.endsWith(plain.split('...').at(-1)!)));
    };
    expect(named.filter((operation) => !isKnown(operation))).toEqual([]);
  });

  test.each(pages)('%s links to no page of a local service but its docs', (page) => {
    expect(read(page)).not.toMatch(/\]\(http:\/\/127\.0\.0\.1/);
  });

  test('names every variable of the service with its default', () => {
    const key = Buffer.alloc(32).toString('base64');
    const defaults = getSettings({ ENCRYPTION_KEY: key, SIGNING_KEY: key } as Env);
    const documented = new Map(
      [...sectionRows(configuration, 'Configuration'), ...sectionRows(configuration, 'Local programs')].map(
        ([name = '', standard = '']) => [unquoted(name), unquoted(standard)],
      ),
    );
    const expected = Object.entries(defaults).map(([name, value]): [string, string] => {
      if (value === key) return [name, 'required'];
      return [name, String(value) === '' ? 'empty' : String(value)];
    });
    const local = readLocalSettings({});
    expected.push(
      ['PORT', String(local.port)],
      ['SIM_PORT', String(local.simulatorsPort)],
      ['STATE_DIR', '.wrangler/state'],
      ['DATABASES', '1'],
    );
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(expected));
    expect(local.stateDirectory).toBe(join(root, '.wrangler/state'));
  });

  test('describes every trigger type and every node type with its fixed handles', () => {
    const rows = [...sectionRows(journeys, 'Triggers'), ...sectionRows(journeys, 'Nodes')];
    const names = rows.map(([name = '']) => unquoted(name));
    expect(sorted(names)).toEqual(sorted([...triggerTypes, ...nodeTypes.keys()]));
    const handles = new Map(rows.map(([name = '', , documented = '']) => [unquoted(name), documented]));
    for (const [name, type] of nodeTypes) {
      for (const handle of type.handles({})) expect(handles.get(name), `handles of ${name}`).toContain(`\`${handle}\``);
    }
  });

  test('describes every node type of a voice agent, with each field of its data', () => {
    const page = read('docs/voice-agents.md');
    const rows = page.split(/^## /m).find((section) => section.startsWith('Nodes\n'))!;
    const nodes = rowsOf(rows).map(([name = '']) => unquoted(name));
    expect(nodes.slice(0, nodeTypeNames.length).toSorted()).toEqual(nodeTypeNames.toSorted());
    const ignored = { ...editorKeys, ...ignoredTalkKeys, ...ignoredStartKeys, ...ignoredWebhookKeys, ...ignoredGlobalKeys };
    for (const [type, schema] of Object.entries(nodeDataSchemas)) {
      const fields = Object.keys(schema.shape).filter((field) => field !== 'name' && !(field in ignored));
      expect(
        fields.filter((field) => !rows.includes(`\`${field}\``)),
        type,
      ).toEqual([]);
    }
  });

  test('backs up every table once, those that others count or watch first', () => {
    const migrations = readdirSync(join(root, 'migrations')).filter((name) => name.endsWith('.sql'));
    const tables = migrations.flatMap((name) =>
      [...read(`migrations/${name}`).matchAll(/CREATE TABLE `(\w+)`/g)].map(([, table]) => table!),
    );
    const first = /first="([^"]+)"/.exec(operating)?.[1]?.split(/\s+/) ?? [];
    const second = [...operating.matchAll(/--table (\w+)/g)].map(([, table]) => table!);
    expect(sorted([...first, ...second])).toEqual(sorted(tables));
    const counters = ['call_statistic', 'journey_statistic', 'usage_statistic'];
    const counting = ['automation_trigger', 'automation_workflow', 'trigger_topic', 'voice_agent', 'webhook_endpoint'];
    expect(sorted(second)).toEqual(sorted([...counting, ...counters]));
  });
});

describe('CONTRIBUTING', () => {
  test('gives a reason for every dependency and for nothing else', () => {
    const documented = sectionRows(contributing, 'Dependencies').flatMap(([names = '']) =>
      names.split(',').map((name) => unquoted(name.trim())),
    );
    // The console is a workspace with packages of its own, such as another TypeScript.
    const { dependencies, devDependencies } = packageFile;
    const packages = [dependencies, devDependencies, consolePackageFile.devDependencies].flatMap((names) => Object.keys(names));
    expect(sorted(documented)).toEqual(sorted(packages));
  });

  test.each([
    ['an event', 'How a request travels', 35],
    ["a campaign's row", "A campaign's row", 45],
  ])('names each file that %s passes', (_what, heading, most) => {
    const section = contributing.split(/^#+ /m).find((one) => one.startsWith(`${heading}\n`))!;
    const files = new Set([...section.matchAll(/`([a-z][\w./-]*\.ts)`/g)].map(([, file]) => file!));
    expect(files.size).toBeGreaterThan(30);
    expect(files.size).toBeLessThanOrEqual(most);
    expect(section).toContain(`passes ${files.size} files`);
    expect([...files].filter((file) => !existsSync(join(root, file.startsWith('durable-objects/') ? file : `src/${file}`)))).toEqual([]);
  });

  test('lists every queue and every kind of message', () => {
    const documented = sectionRows(contributing, 'Queues').map(([queue = '', kind = '']) => [unquoted(queue), unquoted(kind)]);
    const produced = [...read('wrangler.toml').matchAll(/\[\[queues\.producers\]\]\s+binding = "\w+"\s+queue = "([\w-]+)"/g)].map(
      ([, queue]) => queue!,
    );
    const kinds = [...read('src/outbox/messages.ts').matchAll(/kind: z\.literal\('(\w+)'\)/g)].map(([, kind]) => kind!);
    expect(sorted(new Set(documented.map(([queue]) => queue!)))).toEqual(sorted(produced));
    // One kind may travel in two queues.
    expect(sorted(new Set(documented.map(([, kind]) => kind!)))).toEqual(sorted(kinds));
  });
});

test('docs/faults.md tells how each part ends that failed', () => {
  const [, kinds] = /const partKinds = \[([^\]]+)\]/.exec(read('src/outbox/failed-messages.ts'))!;
  const wakeable = /const wakeableObjects = \[([^\]]+)\]/.exec(read('src/outbox/messages.ts'))![1]!;
  const names = (list: string) => [...list.matchAll(/'(\w+)'/g)].map(([, name]) => name!);
  const keys = [...names(kinds!).filter((kind) => kind !== 'poke'), ...names(wakeable).map((what) => `poke:${what}`)];
  const documented = read('docs/faults.md');
  expect(keys.filter((key) => !documented.includes(`\`${key}:{`))).toEqual([]);
});

describe.each(['CONTRIBUTING.md', ...pages])('%s', (name) => {
  const page = read(name);

  test('names only npm scripts that exist', () => {
    const named = [...page.matchAll(/npm (?:run (?:--silent )?([a-z][\w:-]*)|(start|test)\b)/g)].map(
      ([, script, short]) => script ?? short!,
    );
    expect(named.filter((script) => packageFile.scripts[script] === undefined)).toEqual([]);
  });

  test('links only to files that exist', () => {
    const links = [...page.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)].map(([, target]) => target!);
    expect(links.filter((target) => !existsSync(join(root, dirname(name), target.replace(/#.*$/, ''))))).toEqual([]);
  });

  test('links only to headings that exist', () => {
    const links = [...page.matchAll(/\]\(([^)\s:]*)#([^)]+)\)/g)].map(([, target = '', heading = '']) => ({ target, heading }));
    const toAnchor = (heading: string) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-');
    const anchorsOf = (file: string) => [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => toAnchor(heading!));
    const missing = links.filter(({ target, heading }) => !anchorsOf(target === '' ? name : join(dirname(name), target)).includes(heading));
    expect(missing).toEqual([]);
  });

  test('names only source files that exist, by the end of their path', () => {
    const files = ['src', 'durable-objects', 'scripts', 'simulators', 'test'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `/${folder}/${file}`),
    );
    const named = [...page.matchAll(/`([\w./-]+\.ts)`/g)].map(([, file]) => file!);
    const isThere = (file: string) => existsSync(join(root, file)) || files.some((one) => one.endsWith(`/${file}`));
    expect(named.filter((file) => !isThere(file))).toEqual([]);
  });

  test('names only files and folders of the repository that exist', () => {
    const named = [...page.matchAll(/`((?:src|durable-objects|simulators|scripts|test|bench|examples|public|migrations)\/[\w./-]*)`/g)].map(
      ([, path]) => path!,
    );
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
