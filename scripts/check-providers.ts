import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { getSettings } from '../src/settings.ts';
import { createChecks } from './check-providers/checks.ts';
import { runChecks, hasRefusal, formatTable } from './check-providers/report.ts';
import { runProgram } from './local/run-program.ts';
import { LocalError, projectDirectory } from './local/settings.ts';

// Needed by the service, and by none of these questions.
const anyKey = Buffer.alloc(32).toString('base64');

await runProgram(async () => {
  const file = join(projectDirectory, '.dev.vars');
  const own = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  const variables = { ...own, ...process.env };
  const rows = await runChecks(createChecks(readSettings(variables)), variables);
  console.log(formatTable(rows));
  if (rows.every(({ finding }) => finding.state === 'not configured'))
    throw new LocalError('No vendor is configured. Put keys into .dev.vars or the environment; docs/configuration.md names them.');
  if (hasRefusal(rows)) process.exitCode = 1;
});

function readSettings(variables: Record<string, string | undefined>) {
  const given = Object.fromEntries(Object.entries(variables).filter(([, text]) => text !== undefined && text !== ''));
  try {
    return getSettings({ ...given, DEPLOYMENT_MODE: 'local', ENCRYPTION_KEY: anyKey, SIGNING_KEY: anyKey } as unknown as Env);
  } catch (error) {
    throw new LocalError((error as Error).message);
  }
}
