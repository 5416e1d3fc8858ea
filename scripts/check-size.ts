import { join } from 'node:path';
import { buildConsole } from './build/build-console.ts';
import { firstScreenBytes } from './build/console-size.ts';
import { buildWorker, builtWorker } from './build/build-worker.ts';
import { entries, modulesOf, sizeOf } from './build/entries.ts';
import { runProgram } from './local/run-program.ts';
import { LocalError, projectDirectory, readLocalSettings } from './local/settings.ts';
import { runWrangler } from './local/wrangler.ts';

/**
 * In KiB, compressed; the platform takes 3072 from accounts that pay nothing. About 310 are Adobe's character maps, strings that are loaded with the
 * first PDF that needs one.
 */
const limitOfAll = 2400;
/** In KiB, compressed: what a browser loads before it shows the first page of the console. */
const limitOfFirstScreen = 244;
const inKibibytes = (bytes: number) => Math.ceil(bytes / 1024);

/** Builds the Worker as a deployment would, and compares the compressed size of each of its entries, and of the whole, with its limit. */
await runProgram(async () => {
  await runWrangler(
    ['deploy', '--no-bundle', '--dry-run', '--outdir', join(projectDirectory, 'dist', 'upload')],
    readLocalSettings(process.env).stateDirectory,
  );
  const graph = await buildWorker();
  const large: string[] = [];
  const compare = (name: string, limit: number, names: Iterable<string>) => {
    const { plain, compressed } = sizeOf(builtWorker, names);
    console.log(
      `${name.padEnd(28)} ${inKibibytes(plain)} KiB, ${inKibibytes(compressed)} KiB compressed; the limit is ${limit} KiB compressed.`,
    );
    if (compressed > limit * 1024) large.push(name);
  };
  for (const entry of entries) compare(entry.name, entry.limit, modulesOf(graph, entry));
  compare('whole Worker', limitOfAll, Object.keys(graph));
  await buildConsole();
  const firstScreen = firstScreenBytes();
  console.log(
    `${'first screen of the console'.padEnd(28)} ${inKibibytes(firstScreen)} KiB compressed; the limit is ${limitOfFirstScreen} KiB compressed.`,
  );
  if (firstScreen > limitOfFirstScreen * 1024) large.push('first screen of the console');
  if (large.length > 0)
    throw new LocalError(
      `Larger than its limit: ${large.join(', ')}. Load by import() what few requests need, drop what made it grow, or raise the limit in scripts/build/entries.ts.`,
    );
});
