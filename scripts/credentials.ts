import { requireCredentials } from './local/credentials.ts';
import { runProgram } from './local/run-program.ts';
import { readLocalSettings } from './local/settings.ts';

await runProgram(() => {
  const { person: _person, ...shown } = requireCredentials(readLocalSettings(process.env).stateDirectory);
  console.log(JSON.stringify(shown));
});
