import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, join, relative } from 'node:path';
import { build, type OutputFile } from 'esbuild';
import { projectDirectory } from '../local/settings.ts';
import type { ModuleGraph } from './entries.ts';
import { onlyEnglish } from './only-english.ts';

/** Where wrangler finds the built Worker; `main` of `wrangler.toml` names its first module. */
export const builtWorker = join(projectDirectory, 'dist', 'worker');
export const firstModule = 'worker.js';

/**
 * Builds the Worker of `src/worker.ts`: what an `import()` names is a module of its own, and so is what several modules share.
 * The runtime evaluates a module when it is first imported. `hasNames`: names are not shortened. Answers which module imports which.
 */
export async function buildWorker(directory = builtWorker, { hasNames = false } = {}): Promise<ModuleGraph> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: projectDirectory,
    entryPoints: ['src/worker.ts'],
    outdir: directory,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2024',
    // As wrangler resolves packages.
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    define: { 'process.env.NODE_ENV': '"production"' },
    external: ['cloudflare:*', 'node:*'],
    alias: Object.fromEntries(builtinModules.filter((name) => /^[a-z]\w*$/.test(name)).map((name) => [name, `node:${name}`])),
    plugins: [onlyEnglish],
    minifyWhitespace: true,
    minifySyntax: true,
    minifyIdentifiers: !hasNames,
    sourcemap: true,
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  writeChanged(directory, outputFiles);
  return Object.fromEntries(
    Object.entries(metafile.outputs)
      .filter(([path]) => path.endsWith('.js'))
      .map(([path, { entryPoint, imports, inputs }]) => [
        basename(path),
        {
          source: entryPoint,
          inputs: Object.keys(inputs),
          externals: imports.filter(({ external }) => external).map((one) => one.path),
          imports: imports
            .filter(({ external }) => !external)
            .map((one) => ({ name: basename(one.path), isDynamic: one.kind === 'dynamic-import' })),
        },
      ]),
  );
}

/** Touches only files that differ: a service that runs from them restarts when one changes. A file is replaced as a whole. */
function writeChanged(directory: string, files: OutputFile[]): void {
  mkdirSync(directory, { recursive: true });
  const names = new Set(files.map(({ path }) => relative(directory, path)));
  for (const { path, contents } of files) {
    if (isSame(path, contents)) continue;
    const draft = `${path}.${process.pid}.tmp`;
    writeFileSync(draft, contents);
    renameSync(draft, path);
  }
  for (const name of readdirSync(directory)) if (!names.has(name) && !name.endsWith('.tmp')) rmSync(join(directory, name), { force: true });
}

function isSame(path: string, contents: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(contents);
  } catch {
    return false;
  }
}
