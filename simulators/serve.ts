import { join } from 'node:path';
import { runProgram } from '../scripts/local/run-program.ts';
import { LocalError, readLocalSettings } from '../scripts/local/settings.ts';
import { listen } from './listen.ts';
import { vendors } from './vendors.ts';

await runProgram(async () => {
  const { simulatorsPort, stateDirectory } = readLocalSettings(process.env);
  const ledgerFile = join(stateDirectory, 'simulators', 'requests.jsonl');
  const simulators = await listen({ port: simulatorsPort, ledgerFile }).catch((error: NodeJS.ErrnoException) => {
    throw error.syscall === 'listen'
      ? new LocalError(`The simulators cannot listen on port ${simulatorsPort} (${error.code}). Set SIM_PORT to a free port.`)
      : error;
  });
  console.log(`Simulators on ${simulators.url}: ${vendors.map(({ name }) => `/${name}`).join(', ')}`);
  console.log(
    '  numbers ending in 0001 are busy, 0002 no answer, 0003 unknown, 0004 voicemail; 0011 to 0014 refuse messages; others are people',
  );
  console.log(
    `  inbound call: POST ${simulators.url}/twilio/__sim/inbound; failures: POST ${simulators.url}/__sim/faults; more in docs/simulators.md`,
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void simulators.close());
});
