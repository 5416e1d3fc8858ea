import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { createApp } from '../src/app.ts';
import { publishedDocument } from '../src/openapi/published-document.ts';
import { packedCharacterMaps } from './build/pack-character-maps.ts';
import { packedGlyphNames } from './build/pack-glyph-names.ts';
import { packedPublicHolidays } from './build/pack-public-holidays.ts';
import { withCostTable, type MeasuredCosts } from './deploy/cost-table.ts';
import { projectDirectory } from './local/settings.ts';
import { toSourceWorker, writeConfigVariant } from './local/config-variant.ts';
import { runWrangler } from './local/wrangler.ts';

const openApiPath = join(projectDirectory, 'openapi.json');
const typesArguments = ['types', '--include-runtime=false', '--strict-vars=false', '--env-file', '.dev.vars.example'];

/** `wrangler types`, told that the Worker is its source: the built one has no types. */
const runTypes = async (stateDirectory: string, ...more: string[]) => {
  const config = writeConfigVariant('types', toSourceWorker);
  try {
    return await runWrangler([...typesArguments, '--config', relative(projectDirectory, config), ...more], stateDirectory);
  } finally {
    await rm(config);
  }
};

const openApiText = (): string => `${JSON.stringify(publishedDocument(createApp()), null, 2)}\n`;

const deployingPath = join(projectDirectory, 'docs', 'deploying.md');

/** The page on deploying as it is, and as it is with the costs that the benchmark has measured last. */
async function deployingPage(): Promise<{ page: string; current: string }> {
  const page = await readFile(deployingPath, 'utf8');
  const results = await readFile(join(projectDirectory, 'bench', 'results', 'latest.json'), 'utf8');
  return { page, current: withCostTable(page, JSON.parse(results) as MeasuredCosts) };
}

const packedFiles = () => [...packedCharacterMaps(), ...packedGlyphNames(), ...packedPublicHolidays()];

/** Writes what is made and committed: the OpenAPI document, the types of the bindings, the costs in the docs, the character maps and names of glyphs of PDFs, and the public holidays. */
export async function writeGenerated(stateDirectory: string): Promise<void> {
  await writeFile(openApiPath, openApiText());
  await writeFile(deployingPath, (await deployingPage()).current);
  for (const [path, text] of packedFiles()) await writeFile(join(projectDirectory, path), text);
  await runTypes(stateDirectory);
}

/** What of it is not up to date, each with the command that makes it so. */
export async function staleFiles(stateDirectory: string): Promise<string[]> {
  const committed = await readFile(openApiPath, 'utf8').catch(() => '');
  const stale = committed === openApiText() ? [] : ['openapi.json (npm run generate)'];
  const { page, current } = await deployingPage();
  if (page !== current) stale.push('docs/deploying.md (npm run generate)');
  for (const [path, text] of packedFiles())
    if ((await readFile(join(projectDirectory, path), 'utf8').catch(() => '')) !== text) stale.push(`${path} (npm run generate)`);
  const isCurrent = await runTypes(stateDirectory, '--check').then(
    () => true,
    () => false,
  );
  if (!isCurrent) stale.push('worker-configuration.d.ts (npm run generate)');
  return stale;
}
