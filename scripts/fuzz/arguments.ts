import { parseArgs } from 'node:util';
import { LocalError } from '../local/settings.ts';

export interface FuzzSettings {
  requests: number;
  seed: number;
  lanes: number;
  only?: number | undefined;
  /** Absent: a service of its own is started. */
  url?: URL | undefined;
  key?: string | undefined;
}

export const usage = `Usage: npm run fuzz -- [options]

Sends requests that nobody should send over all operations of openapi.json, and ends with code 1 when one is answered with an error of the
service (5xx), with what is not JSON, after more than 2 s, with a secret, or not at all.

  --requests 20000    how many
  --seed N            of which; the same seed sends the same requests   (default: drawn, and printed)
  --only N            request N of the seed alone, to see a finding again
  --lanes 4           how many side by side, each in organizations of its own
  --url URL           a service that runs, such as http://127.0.0.1:8787 (default: one is started, with a state of its own, and ended)
  --api-key KEY       the organization that is attacked, where sign-up is closed: its records are changed and deleted

Exit codes: 0 nothing was found; 1 something was; 2 the call is wrong or the service cannot be attacked.`;

/** Throws `LocalError` with the fault of the command line. */
export function readFuzzSettings(parameters: string[]): FuzzSettings {
  const { values } = parse(parameters);
  const wholeNumber = (option: 'requests' | 'seed' | 'lanes' | 'only', least: number, most: number): number => {
    const text = values[option]!;
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new LocalError(`--${option} is "${text}"; give a whole number from ${least} to ${most}.`);
  };
  if (values.url !== undefined && !(URL.canParse(values.url) && new URL(values.url).protocol === 'http:'))
    throw new LocalError(`--url is "${values.url}"; give an address such as http://127.0.0.1:8787. What is behind https is not attacked.`);
  if (values['api-key'] !== undefined && values.url === undefined) throw new LocalError('--api-key belongs to --url: give both.');
  return {
    requests: wholeNumber('requests', 1, 10_000_000),
    seed: values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : wholeNumber('seed', 0, 2 ** 32),
    lanes: wholeNumber('lanes', 1, 64),
    ...(values.only !== undefined && { only: wholeNumber('only', 0, 10_000_000) }),
    ...(values.url !== undefined && { url: new URL(values.url) }),
    ...(values['api-key'] !== undefined && { key: values['api-key'] }),
  };
}

function parse(parameters: string[]) {
  try {
    return parseArgs({
      args: parameters,
      options: {
        requests: { type: 'string', default: '20000' },
        seed: { type: 'string' },
        only: { type: 'string' },
        lanes: { type: 'string', default: '4' },
        url: { type: 'string' },
        'api-key': { type: 'string' },
      },
    });
  } catch (error) {
    throw new LocalError(`${(error as Error).message}\n\n${usage}`);
  }
}
