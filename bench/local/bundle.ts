import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../../scripts/local/settings.ts';
import { runWrangler } from '../../scripts/local/wrangler.ts';
import { buildWorker, firstModule } from '../../scripts/build/build-worker.ts';

const toModule = (path: string) => ({ type: 'ESModule' as const, path });

/**
 * Builds the service into the directory, module by module, as it is deployed: one script of everything would hold its text in memory whole.
 * Answers where its modules are, the first one first. `hasNames`: functions keep their names, for a profile.
 */
export async function bundleService(directory: string, { hasNames }: { hasNames: boolean }) {
  const modulesRoot = join(directory, 'service');
  const modules = Object.keys(await buildWorker(modulesRoot, { hasNames }));
  const others = modules.filter((name) => name !== firstModule);
  return { modulesRoot, modules: [firstModule, ...others].map((name) => toModule(join(modulesRoot, name))) };
}

/** Bundles a Worker into the directory as `wrangler deploy` would for uploading it; answers where its main module is. */
export async function bundle(directory: string, name: string, main: string, compatibilityDate: string) {
  const config = join(directory, `${name}.json`);
  writeFileSync(config, JSON.stringify({ name, main: join(projectDirectory, main), compatibility_date: compatibilityDate }));
  const modulesRoot = join(directory, name);
  await runWrangler(['deploy', '--dry-run', '--outdir', modulesRoot, '--config', config], directory);
  const file = `${main.split('/').at(-1)!.replace(/\.ts$/, '')}.js`;
  return { modulesRoot, modules: [toModule(join(modulesRoot, file))] };
}
