import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../local/settings.ts';

/** The port of `[dev]` in `wrangler.toml`, on which a plain `wrangler dev` listens. */
export function developmentPort(text = readFileSync(join(projectDirectory, 'wrangler.toml'), 'utf8')): number {
  const section = /^\[dev\]\n((?:(?!\[).*\n?)*)/m.exec(text)?.[1] ?? '';
  const port = Number(/^port = (\d+)$/m.exec(section)?.[1]);
  if (Number.isInteger(port)) return port;
  throw new Error('wrangler.toml sets no port under [dev]');
}
