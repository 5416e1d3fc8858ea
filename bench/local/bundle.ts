import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../../scripts/local/settings.ts';
import { runWrangler } from '../../scripts/local/wrangler.ts';

/** Bundles a Worker into the directory as `wrangler deploy` would for uploading it; answers where its main module is. */
export async function bundle(directory: string, name: string, main: string, compatibilityDate: string) {
  const config = join(directory, `${name}.json`);
  writeFileSync(config, JSON.stringify({ name, main: join(projectDirectory, main), compatibility_date: compatibilityDate }));
  const modulesRoot = join(directory, name);
  await runWrangler(['deploy', '--dry-run', '--outdir', modulesRoot, '--config', config], directory);
  const file = `${main.split('/').at(-1)!.replace(/\.ts$/, '')}.js`;
  return { modulesRoot, modules: [{ type: 'ESModule' as const, path: join(modulesRoot, file) }] };
}
