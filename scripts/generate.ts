import { writeGenerated } from './generated.ts';
import { runProgram } from './local/run-program.ts';
import { readLocalSettings } from './local/settings.ts';

await runProgram(() => writeGenerated(readLocalSettings(process.env).stateDirectory));
