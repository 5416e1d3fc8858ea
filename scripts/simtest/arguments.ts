import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Target } from '../local/request-with-retries.ts';
import { LocalError } from '../local/settings.ts';
import { readTarget } from '../local/target.ts';
import type { NewLoadTest } from './load-tests.ts';

export interface SimtestSettings {
  target: Target;
  loadTest: NewLoadTest;
  /** From 0 to 1. */
  minPassRate: number;
}

export const usage = `Usage: npm run simtest -- --agent ID --adversary ID [options]

Has two voice agents talk with each other many times, and ends with code 1 when too few of the talks pass their checks.

  --agent ID              the voice agent that is tested
  --adversary ID          the voice agent that plays the person
  --count 10              sessions in all, 1 to 1000
  --concurrency 10        sessions at a time, 1 to 100
  --ramp 0                seconds from one session at a time to all
  --config FILE.json      how a session goes and what is checked, as config of POST /simtest/load-tests
  --name NAME             what the load test is called
  --min-pass-rate 1       the share of judged sessions that has to pass, 0 to 1
  --base-url URL          the service, ending in /api/v1   (default: BASE_URL, else the local service)
  --api-key KEY           its API key                      (default: API_KEY, else the local service's)

Exit codes: 0 enough passed; 1 too few passed, nothing could be judged, or it was stopped; 2 the call is wrong or the service does not take it.
Ctrl-C stops the load test and tells what has come of it.`;

/** Throws `LocalError` that says what is wrong with the call. */
export function readSimtestSettings(parameters: string[], environment: Record<string, string | undefined>): SimtestSettings {
  const { values } = parse(parameters);
  const wholeNumber = (option: keyof typeof values, least: number, most: number): number => {
    const text = values[option];
    if (text === undefined) throw new LocalError(`Give --${option}.\n\n${usage}`);
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new LocalError(`--${option} is "${text}"; give a whole number from ${least}${most < Infinity ? ` to ${most}` : ''}.`);
  };
  const actor = wholeNumber('agent', 1, Infinity);
  const adversary = wholeNumber('adversary', 1, Infinity);
  const minPassRate = Number(values['min-pass-rate']);
  if (!/\d/.test(values['min-pass-rate']) || !(minPassRate >= 0 && minPassRate <= 1)) {
    throw new LocalError(`--min-pass-rate is "${values['min-pass-rate']}"; give a number from 0 to 1, such as 0.9.`);
  }
  // npm runs scripts in the repository and says where it was called; paths are meant from there.
  const startedIn = (environment.npm_lifecycle_event === 'simtest' && environment.INIT_CWD) || process.cwd();
  const loadTest = {
    name: values.name?.trim() || `Agent ${actor} with ${adversary}`,
    actor_workflow_id: actor,
    adversary_workflow_id: adversary,
    test_count: wholeNumber('count', 1, 1000),
    concurrency: wholeNumber('concurrency', 1, 100),
    ramp_seconds: wholeNumber('ramp', 0, 3600),
    config: values.config === undefined ? {} : readConfig(resolve(startedIn, values.config)),
  };
  return { target: readTarget(values, environment), loadTest, minPassRate };
}

function parse(parameters: string[]) {
  try {
    return parseArgs({
      args: parameters,
      options: {
        agent: { type: 'string' },
        adversary: { type: 'string' },
        count: { type: 'string', default: '10' },
        concurrency: { type: 'string', default: '10' },
        ramp: { type: 'string', default: '0' },
        config: { type: 'string' },
        name: { type: 'string' },
        'min-pass-rate': { type: 'string', default: '1' },
        'base-url': { type: 'string' },
        'api-key': { type: 'string' },
      },
    });
  } catch (error) {
    throw new LocalError(`${(error as Error).message}\n\n${usage}`);
  }
}

function readConfig(file: string): object {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new LocalError(`${file} cannot be read: ${(error as Error).message}.`);
  }
  try {
    const config: unknown = JSON.parse(text);
    if (typeof config === 'object' && config !== null && !Array.isArray(config)) return config;
  } catch (error) {
    throw new LocalError(`${file} is no JSON: ${(error as Error).message}.`);
  }
  throw new LocalError(`${file} holds no JSON object; give one such as {"max_turns": 12, "checks": []}.`);
}
