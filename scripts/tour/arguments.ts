import { parseArgs } from 'node:util';
import { LocalError } from '../local/settings.ts';
import { journeyNames } from './journeys.ts';

const all = 'all';

export const usage = `Usage: npm run tour
       npm run tour -- --journey NAME

Does the service's main job in front of you. With --journey it instead makes a draft of a journey of examples/journeys, and tries
that dry with the example's contact: nothing is sent.

  --journey NAME   may be given several times; one of
                   ${journeyNames.slice(0, 4).join(', ')},
                   ${journeyNames.slice(4).join(', ')},
                   or ${all}
  --help`;

/** What the call asks for: help, or names of journeys to try, none for the whole tour. Throws a `LocalError` that says what is wrong with it. */
export function readTourArguments(parameters: string[]): { isHelp: boolean; journeys: string[] } {
  const { help, journey: given } = parse(parameters);
  const unknown = given.find((name) => name !== all && !journeyNames.includes(name));
  if (unknown !== undefined) throw new LocalError(`--journey is "${unknown}"; give one of ${journeyNames.join(', ')}, or ${all}.`);
  return { isHelp: help, journeys: given.includes(all) ? journeyNames : [...new Set(given)] };
}

function parse(parameters: string[]): { help: boolean; journey: string[] } {
  try {
    const { values } = parseArgs({
      args: parameters,
      options: { journey: { type: 'string', multiple: true, default: [] }, help: { type: 'boolean', default: false } },
    });
    return values;
  } catch (error) {
    throw new LocalError(`${(error as Error).message}\n\n${usage}`);
  }
}
