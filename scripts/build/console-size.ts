import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { projectDirectory } from '../local/settings.ts';

const built = join(projectDirectory, 'public', 'console');

/** The compressed bytes of all that a browser loads before it shows the first page: the page, its files, those of Home, and what they import. */
export function firstScreenBytes(): number {
  const page = readFileSync(join(built, 'index.html'));
  const assets = readdirSync(join(built, 'assets'));
  const named = [...page.toString().matchAll(/\/console\/assets\/([^"]+)/g)].map(([, file = '']) => file);
  const files = new Set([...named, ...assets.filter((file) => /^home-page.*\.(js|css)$/.test(file))]);
  let bytes = gzipSync(page).length;
  for (const file of files) {
    const content = readFileSync(join(built, 'assets', file));
    bytes += gzipSync(content).length;
    // A set goes on with what is added to it.
    for (const [, imported = ''] of content.toString().matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g)) files.add(imported);
  }
  return bytes;
}
