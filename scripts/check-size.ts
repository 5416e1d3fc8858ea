import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runProgram } from './local/run-program.ts';
import { LocalError, projectDirectory, readLocalSettings } from './local/settings.ts';
import { runWrangler } from './local/wrangler.ts';

const limitBytes = 2048 * 1024;
const inKibibytes = (bytes: number) => `${(bytes / 1024).toFixed(0)} KiB`;

/** Bundles the Worker as a deployment would and compares its compressed size with the limit. */
await runProgram(async () => {
  const directory = join(projectDirectory, 'dist');
  await runWrangler(['deploy', '--dry-run', '--outdir', directory], readLocalSettings(process.env).stateDirectory);
  const modules = readdirSync(directory).filter((name) => !name.endsWith('.map') && name !== 'README.md');
  const sizes = modules
    .map((name) => readFileSync(join(directory, name)))
    .map((content) => ({ plain: content.length, compressed: gzipSync(content).length }));
  const plain = sizes.reduce((sum, size) => sum + size.plain, 0);
  const compressed = sizes.reduce((sum, size) => sum + size.compressed, 0);
  console.log(
    `The Worker is ${inKibibytes(plain)}, ${inKibibytes(compressed)} compressed; the limit is ${inKibibytes(limitBytes)} compressed.`,
  );
  if (compressed > limitBytes)
    throw new LocalError('The Worker is larger than its limit. Drop what made it grow, or raise the limit in scripts/check-size.ts.');
});
