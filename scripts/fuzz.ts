import { readFuzzSettings, usage } from './fuzz/arguments.ts';
import { runFuzz } from './fuzz/run-fuzz.ts';
import { startService } from './fuzz/start-service.ts';
import { findingText, showProgress, formatSummary } from './fuzz/report.ts';
import { LocalError } from './local/settings.ts';

/** Exit codes: see `usage`. */
async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    console.log(usage);
    return 0;
  }
  const { url, ...settings } = readFuzzSettings(process.argv.slice(2));
  if (process.env['npm_lifecycle_event'] !== undefined) await import('./local/exit-with-parent.ts');
  const service = url === undefined ? await startService() : undefined;
  const origin = url ?? service!.origin;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void (service?.stop() ?? Promise.resolve()).then(() => process.exit(130)));
  console.log(
    `${settings.only === undefined ? `${settings.requests} requests` : `Request ${settings.only}`} of seed ${settings.seed} to ${origin.origin}`,
  );
  const progress = showProgress(settings.only === undefined ? settings.requests : 1);
  const startedAt = Date.now();
  try {
    const outcome = await runFuzz({
      ...settings,
      origin,
      onProgress: progress.update,
      onFinding: (finding) => progress.note(findingText(finding)),
    }).finally(() => progress.stop());
    console.log(formatSummary(outcome, settings.seed, Math.round((Date.now() - startedAt) / 1000)).join('\n'));
    const [finding] = outcome.findings;
    if (finding) console.error(`To see one again: npm run fuzz -- --seed ${settings.seed} --only ${finding.number}`);
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
