import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApp } from '../src/http/app.ts';
import { publishedDocument } from '../src/http/openapi/published.ts';
import { projectDirectory } from './local/settings.ts';
import { runWrangler } from './local/wrangler.ts';

const openApiPath = join(projectDirectory, 'openapi.json');
const typesArguments = ['types', '--include-runtime=false', '--strict-vars=false', '--env-file', '.dev.vars.example'];

const openApiText = (): string => `${JSON.stringify(publishedDocument(createApp()), null, 2)}\n`;

/** Writes what is made from the code and committed: the OpenAPI document and the types of the bindings. */
export async function writeGenerated(stateDirectory: string): Promise<void> {
  await writeFile(openApiPath, openApiText());
  await runWrangler(typesArguments, stateDirectory);
}

/** What of it is not up to date, each with the command that makes it so. */
export async function staleFiles(stateDirectory: string): Promise<string[]> {
  const committed = await readFile(openApiPath, 'utf8').catch(() => '');
  const stale = committed === openApiText() ? [] : ['openapi.json (npm run generate)'];
  const isCurrent = await runWrangler([...typesArguments, '--check'], stateDirectory).then(
    () => true,
    () => false,
  );
  if (!isCurrent) stale.push('worker-configuration.d.ts (npm run generate)');
  return stale;
}
