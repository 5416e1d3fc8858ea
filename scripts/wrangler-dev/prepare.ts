import process from 'node:process';
import { buildConsole } from '../build/build-console.ts';
import { buildWorker } from '../build/build-worker.ts';

/**
 * The build command of `wrangler.toml`: builds the Worker, and makes a plain `wrangler dev` work in a fresh checkout. Every other command of
 * wrangler runs it, too, a deployment for instance, and it prepares nothing then.
 */
await buildWorker();
if (process.env.WRANGLER_COMMAND === 'dev') await buildConsole();
if (process.env.WRANGLER_COMMAND === 'dev' && process.env.WRANGLER_DEV_PREPARED === undefined) {
  const { prepare } = await import('./prepare-state.ts');
  await prepare();
}
