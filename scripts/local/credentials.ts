import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LocalError } from './settings.ts';

/** Who owns the demo organization, as they log in. */
export interface Person {
  email: string;
  password: string;
}

/** How to reach the local service: what `npm run credentials` prints. */
export interface Credentials {
  base_url: string;
  api_key: string;
  simulators_url: string;
  /** Undefined in folders of earlier versions. */
  person?: Person | undefined;
}

const fileIn = (stateDirectory: string) => join(stateDirectory, 'credentials.json');

/** The credentials of the running or last-run service of that state folder. */
export function readCredentials(stateDirectory: string): Credentials | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(stateDirectory), 'utf8')) as Credentials;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function requireCredentials(stateDirectory: string): Credentials {
  const credentials = readCredentials(stateDirectory);
  if (credentials === undefined) {
    throw new LocalError(
      `There are no credentials in ${stateDirectory} yet. Run "npm start" first, with the same STATE_DIR; after "wrangler dev", wait until it is ready.`,
    );
  }
  return credentials;
}

export function writeCredentials(stateDirectory: string, credentials: Credentials): void {
  mkdirSync(stateDirectory, { recursive: true });
  writeFileSync(fileIn(stateDirectory), `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
}
