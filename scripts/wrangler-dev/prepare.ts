import process from 'node:process';

/**
 * The build command of `wrangler.toml`: makes a plain `wrangler dev` work in a fresh checkout. Every other command of wrangler runs it, too,
 * a deployment for instance, and it does nothing then.
 */
if (process.env.WRANGLER_COMMAND === 'dev' && process.env.WRANGLER_DEV_PREPARED === undefined) {
  const { prepare } = await import('./prepare-state.ts');
  await prepare();
}
