import { readHostileSettings, usage } from './hostile/arguments.ts';
import { attack } from './hostile/attack.ts';
import { startOwnService } from './hostile/own-service.ts';
import { findingText, showProgress, summaryOf } from './hostile/report.ts';
import { LocalError } from './local/settings.ts';

/** Exit codes: see `usage`. */
async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    console.log(usage);
    return 0;
  }
  const { url, ...settings } = readHostileSettings(process.argv.slice(2));
  if (process.env['npm_lifecycle_event'] !== undefined) await import('./local/tether.ts');
  const service = url === undefined ? await startOwnService() : undefined;
  const origin = url ?? service!.origin;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void (service?.stop() ?? Promise.resolve()).then(() => process.exit(130)));
  console.log(
    `${settings.only === undefined ? `${settings.requests} requests` : `Request ${settings.only}`} of seed ${settings.seed} to ${origin.origin}`,
  );
  const progress = showProgress(settings.only === undefined ? settings.requests : 1);
  const startedAt = Date.now();
  try {
    const outcome = await attack({
      ...settings,
      origin,
      onProgress: progress.update,
      onFinding: (finding) => progress.note(findingText(finding)),
    }).finally(() => progress.stop());
    console.log(summaryOf(outcome, settings.seed, Math.round((Date.now() - startedAt) / 1000)).join('\n'));
    const [finding] = outcome.findings;
    if (finding) console.error(`To see one again: npm run hostile -- --seed ${settings.seed} --only ${finding.number}`);
    return finding ? 1 : 0;
  } catch (error) {
    console.error(service ? service.lines().join('\n') : '');
    throw error;
  } finally {
    await service?.stop();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof LocalError ? error.message : error);
  process.exitCode = 2;
}
