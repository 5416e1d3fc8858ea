import { requireCredentials } from './local/credentials.ts';
import { runProgram } from './local/run-program.ts';
import { readLocalSettings } from './local/settings.ts';

await runProgram(() => {
  console.log(JSON.stringify(requireCredentials(readLocalSettings(process.env).stateDirectory)));
});
