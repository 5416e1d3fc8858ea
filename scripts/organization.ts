import { existsSync } from 'node:fs';
import { parseOrganizationCommand } from './local/organization-command.ts';
import { runProgram } from './local/run-program.ts';
import { LocalError, readLocalSettings } from './local/settings.ts';
import { runWrangler } from './local/wrangler.ts';

await runProgram(async () => {
  const { organizationId, isRemote, sql } = parseOrganizationCommand(process.argv.slice(2));
  const { stateDirectory } = readLocalSettings(process.env);
  if (!isRemote && !existsSync(stateDirectory))
    throw new LocalError(`There is no local service in ${stateDirectory} yet. Run "npm start" first.`);
  const database = isRemote ? ['--remote'] : ['--local', '--persist-to', stateDirectory];
  const output = await runWrangler(['d1', 'execute', 'DB', ...database, '--json', '--command', sql], stateDirectory);
  const [answer] = JSON.parse(output) as { results: Record<string, unknown>[] }[];
  const organization = answer?.results[0];
  if (organization === undefined) {
    throw new LocalError(
      `There is no organization ${organizationId} in ${isRemote ? 'the deployed database' : `the database of ${stateDirectory}`}.`,
    );
  }
  console.log(JSON.stringify(organization, null, 2));
});
