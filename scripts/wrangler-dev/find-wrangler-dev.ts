import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** The running `wrangler dev` that has this program run as its build command. */
export interface WranglerDev {
  processId: number;
  /** What its command line says; undefined where it says nothing. */
  port: string | undefined;
  persistTo: string | undefined;
  isRemote: boolean;
}

interface Process {
  parentId: number;
  commandLine: string[];
}

/** Looks for it among the ancestors of the process `from`; undefined when there is none. */
export function findWranglerDev(from: number, look: (processId: number) => Process | undefined = lookAtProcess): WranglerDev | undefined {
  for (let processId = from, steps = 0; processId > 1 && steps < 20; steps++) {
    const found = look(processId);
    if (found === undefined) return undefined;
    const options = readCommandLine(found.commandLine);
    if (options !== undefined) return { processId, ...options };
    processId = found.parentId;
  }
  return undefined;
}

/** What a command line of `wrangler dev` asks for; undefined for any other program. */
export function readCommandLine(commandLine: string[]): Omit<WranglerDev, 'processId'> | undefined {
  const program = commandLine.findIndex((part) => /[\\/]wrangler[\\/].*\.js$|[\\/]\.bin[\\/]wrangler$/.test(part));
  if (program === -1) return undefined;
  const { values, positionals } = parseArgs({
    args: commandLine.slice(program + 1),
    options: {
      port: { type: 'string' },
      'persist-to': { type: 'string' },
      remote: { type: 'boolean' },
      config: { type: 'string', short: 'c' },
    },
    allowPositionals: true,
    strict: false,
  });
  if (!positionals.includes('dev')) return undefined;
  return { port: text(values.port), persistTo: text(values['persist-to']), isRemote: values.remote === true };
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);

function lookAtProcess(processId: number): Process | undefined {
  try {
    return existsSync('/proc/self/stat') ? readProcFolder(processId) : askPs(processId);
  } catch {
    return undefined;
  }
}

function readProcFolder(processId: number): Process {
  // The second field is the program's name in brackets, which may hold anything.
  const afterName = readFileSync(`/proc/${processId}/stat`, 'utf8').replace(/^.*\)\s+/s, '');
  const commandLine = readFileSync(`/proc/${processId}/cmdline`, 'utf8').split('\0').slice(0, -1);
  return { parentId: Number(afterName.split(' ')[1]), commandLine };
}

function askPs(processId: number): Process | undefined {
  const line = execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(processId)], { encoding: 'utf8' });
  const [, parentId, commandLine = ''] = /^\s*(\d+)\s+(.*)$/m.exec(line) ?? [];
  return parentId === undefined ? undefined : { parentId: Number(parentId), commandLine: commandLine.split(/\s+/) };
}
