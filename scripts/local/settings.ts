import { resolve } from 'node:path';

/** The repository's root: every program of `scripts/` runs from there, wherever it was called. */
export const projectDirectory = resolve(import.meta.dirname, '../..');

export interface LocalSettings {
  port: number;
  simulatorsPort: number;
  /** Absolute. Holds the local database, files and queues, the demo credentials and the lock of the running service. */
  stateDirectory: string;
  /** Whether vectors of new organizations go into a simulated Vectorize index, not into the embedded one. */
  hasVectorize?: boolean;
  /** How many databases there are, if several. New organizations go to the last. */
  databases?: number;
}

/** What went wrong in words for the person at the terminal; `runProgram` prints it without a stack. */
export class LocalError extends Error {}

/**
 * Reads `PORT` (8787), `SIM_PORT` (8788), `STATE_DIR` (`.wrangler/state`, that of `wrangler dev`; relative to the repository),
 * `VECTOR_BACKEND` (`embedded`) and `DATABASES` (1).
 */
export function readLocalSettings(environment: Record<string, string | undefined>): LocalSettings {
  const port = readPort(environment, 'PORT', 8787);
  const simulatorsPort = readPort(environment, 'SIM_PORT', 8788);
  if (port === simulatorsPort) throw new LocalError(`PORT and SIM_PORT are both ${port}. Give the service and the simulators a port each.`);
  const backend = environment.VECTOR_BACKEND || 'embedded';
  if (backend !== 'embedded' && backend !== 'vectorize')
    throw new LocalError(`VECTOR_BACKEND is "${backend}". Set it to embedded or vectorize, or unset it for embedded.`);
  const databases = Number(environment.DATABASES || '1');
  if (![1, 2].includes(databases)) throw new LocalError(`DATABASES is "${environment.DATABASES}". Set it to 1 or 2, or unset it for 1.`);
  return {
    port,
    simulatorsPort,
    stateDirectory: resolve(projectDirectory, environment.STATE_DIR || '.wrangler/state'),
    ...(backend === 'vectorize' && { hasVectorize: true }),
    ...(databases > 1 && { databases }),
  };
}

function readPort(environment: Record<string, string | undefined>, name: string, standard: number): number {
  const text = environment[name] || String(standard);
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new LocalError(`${name} is "${text}", which is no port. Set it to a number from 1 to 65535, or unset it for ${standard}.`);
}

export const serviceOrigin = (settings: LocalSettings) => `http://127.0.0.1:${settings.port}`;
export const simulatorsOrigin = (settings: LocalSettings) => `http://127.0.0.1:${settings.simulatorsPort}`;

/** Whether the simulators play Twilio: `.dev.vars` names no other address for it. */
export const isTwilioSimulated = (alreadySet: Set<string>): boolean =>
  !alreadySet.has('TWILIO_BASE_URL') && !alreadySet.has('TWILIO_CONTENT_BASE_URL');

/** The auth configs of the simulated broker, each named after its toolkit. */
export const simulatedAuthConfigs = 'chatapp=ac_slack,tracker=ac_jira,calendar=ac_googlecalendar,books=ac_zohobooks,sheet=ac_googlesheets';

/**
 * Variables of the Worker that follow from the ports. One that `.dev.vars` sets itself is left to it; a provider's key and address are left
 * together, so that a real key never goes to the simulators and theirs never goes out. The keys of carriers are each organization's own.
 */
export function portVariables(settings: LocalSettings, alreadySet: Set<string>): Record<string, string> {
  const simulators = simulatorsOrigin(settings);
  const wholly = [
    { TWILIO_BASE_URL: `${simulators}/twilio`, TWILIO_CONTENT_BASE_URL: `${simulators}/twilio/content` },
    { OPENAI_API_KEY: 'local-simulator', OPENAI_BASE_URL: `${simulators}/openai/v1` },
    {
      COMPOSIO_API_KEY: 'local-simulator',
      COMPOSIO_BASE_URL: `${simulators}/composio/api/v3.1`,
      COMPOSIO_AUTH_CONFIGS: simulatedAuthConfigs,
    },
  ].filter((group) => !Object.keys(group).some((name) => alreadySet.has(name)));
  const variables = {
    PUBLIC_URL: serviceOrigin(settings),
    // Local queues work off one batch at a time, and nothing bounds connections here.
    CALLS_AT_ONCE: '100',
    ALLOWED_PRIVATE_ORIGINS: `${simulators},http://localhost:${settings.simulatorsPort}`,
    ANTHROPIC_BASE_URL: `${simulators}/anthropic`,
    TELNYX_BASE_URL: `${simulators}/telnyx/v2`,
    META_BASE_URL: `${simulators}/meta/v25.0`,
    GUPSHUP_BASE_URL: `${simulators}/gupshup`,
    ...(settings.hasVectorize && { VECTOR_BACKEND: 'vectorize' }),
    ...(settings.databases && { FIRST_OPEN_SHARD: String(settings.databases - 1) }),
  };
  const single = Object.entries(variables).filter(([name]) => !alreadySet.has(name));
  return Object.fromEntries([...single, ...wholly.flatMap((group) => Object.entries(group))]);
}
