import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

interface BuiltModule {
  /** The file that an `import()` names; undefined: the module is shared by several. */
  source: string | undefined;
  /** The files of which it is made. */
  inputs: string[];
  imports: { name: string; isDynamic: boolean }[];
  /** What it imports of the runtime. */
  externals: string[];
}

/** The modules of the built Worker by name. */
export type ModuleGraph = Record<string, BuiltModule>;

/** What is loaded for one kind of work. */
export interface Entry {
  name: string;
  /** The files by which it begins. */
  sources: string[];
  /** In KiB, compressed. */
  limit: number;
  /** Whether only what is loaded besides `start` counts. */
  isBesides?: boolean;
}

const parsing = 'src/knowledge-base/parsing';

/** Every isolate loads the first; it counts in each of the others but the parsers. */
export const entries: Entry[] = [
  { name: 'start and Durable Objects', sources: [], limit: 640 },
  { name: 'API', sources: ['src/app.ts'], limit: 820 },
  { name: 'queues', sources: ['src/queues/consume.ts'], limit: 700 },
  { name: 'minute tick', sources: ['src/cron/tick.ts'], limit: 680 },
  { name: 'assistants', sources: ['src/app.ts', 'src/mcp/serve-message.ts', 'src/openapi/document.ts'], limit: 960 },
  {
    name: 'parsers of documents',
    sources: ['pdf/read-pdf', 'office/read-word', 'office/read-presentation', 'office/read-workbook', 'html/read-html', 'email/read-email']
      .map((file) => `${parsing}/${file}.ts`)
      .concat('node_modules/unpdf/dist/pdfjs.mjs'),
    limit: 900,
    isBesides: true,
  },
];

/** The modules that are evaluated with this one: itself, and what it imports without `import()`. */
function addModules(graph: ModuleGraph, name: string, known: Set<string>): void {
  if (known.has(name)) return;
  known.add(name);
  for (const { name: imported, isDynamic } of graph[name]?.imports ?? []) if (!isDynamic) addModules(graph, imported, known);
}

/** The name of the module that the `import()` of a source file loads. Throws an Error if there is none. */
function moduleOf(graph: ModuleGraph, source: string): string {
  const found = Object.entries(graph).find(([, module]) => module.source === source);
  if (!found) throw new Error(`No import() names ${source}, so it is no module of its own`);
  return found[0];
}

/** The names of the modules that count in an entry. */
export function modulesOf(graph: ModuleGraph, { sources, isBesides = false }: Entry): Set<string> {
  const start = new Set<string>();
  addModules(graph, moduleOf(graph, 'src/worker.ts'), start);
  const own = new Set<string>();
  for (const source of sources) addModules(graph, moduleOf(graph, source), own);
  return new Set(isBesides ? [...own].filter((name) => !start.has(name)) : [...start, ...own]);
}

/** Bytes, as they are and compressed one by one. */
export function sizeOf(directory: string, names: Iterable<string>): { plain: number; compressed: number } {
  const contents = [...names].map((name) => readFileSync(join(directory, name)));
  return {
    plain: contents.reduce((sum, content) => sum + content.length, 0),
    compressed: contents.reduce((sum, content) => sum + gzipSync(content).length, 0),
  };
}
