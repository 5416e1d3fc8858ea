import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from './settings.ts';

/** Writes a changed `wrangler.toml` beside it, since paths in it count from there, and answers its path. */
export function writeConfigVariant(name: string, change: (text: string) => string): string {
  const path = join(projectDirectory, `wrangler.${name}.toml`);
  const text = change(readFileSync(join(projectDirectory, 'wrangler.toml'), 'utf8'));
  // A running service would restart with the changed file.
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
  return path;
}

const builtEntry = /^main = "dist\/worker\/worker\.js"\nfind_additional_modules = true\nrules = .*\n/m;

/** `wrangler.toml` with a file of TypeScript as the Worker, which wrangler bundles itself. */
export function toSourceWorker(text: string, main = 'src/worker.ts'): string {
  if (!builtEntry.test(text)) throw new Error('wrangler.toml has no main with find_additional_modules and rules');
  return text.replace(builtEntry, `main = "${main}"\n`);
}
