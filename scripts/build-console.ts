import { buildConsole } from './build/build-console.ts';
import { runProgram } from './local/run-program.ts';

await runProgram(buildConsole);
