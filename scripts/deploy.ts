import { buildConsole } from './build/build-console.ts';
import { buildWorker } from './build/build-worker.ts';
import { parseDeployArguments, usage } from './deploy/arguments.ts';
import { deploy } from './deploy/deploy.ts';
import { runProgram } from './local/run-program.ts';
import { readLocalSettings } from './local/settings.ts';
import { runWrangler } from './local/wrangler.ts';

await runProgram(async () => {
  const options = parseDeployArguments(process.argv.slice(2));
  if (options === 'help') return console.log(usage);
  const { stateDirectory } = readLocalSettings(process.env);
  await deploy(options, {
    build: async () => {
      await buildConsole();
      await buildWorker();
    },
    environment: process.env,
    say: (line) => console.log(line),
    wrangler: (parameters, environment) => runWrangler(parameters, stateDirectory, undefined, environment),
  });
});
