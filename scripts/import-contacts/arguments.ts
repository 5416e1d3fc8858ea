import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isCountryCode } from '../../src/contacts/phone-numbers.ts';
import { readCredentials } from '../local/credentials.ts';
import { LocalError, readLocalSettings } from '../local/settings.ts';

export interface ImportSettings {
  file: string;
  listName: string;
  baseUrl: string;
  apiKey: string;
  /** Undefined: the organization's own is asked for. */
  defaultCountry: string | undefined;
  batchRows: number;
  /** When it was not asked for, it is written only if there is something to write. */
  errorsFile: string;
  isErrorsFileAsked: boolean;
  isDryRun: boolean;
}

export const usage = `Usage: npm run import-contacts -- FILE --list NAME [options]

Reads people out of a CSV or text export and upserts them into the list NAME.

  --list NAME             list that they become members of; created when there is none
  --base-url URL          the service, ending in /api/v1   (default: BASE_URL, else the local service)
  --api-key KEY           its API key                      (default: API_KEY, else the local service's)
  --default-country DE    country of numbers without country code (default: the organization's)
  --batch 1000            rows in one request, 1 to 5000
  --errors FILE.csv       where the rows that failed are written, with the reason
  --dry-run               read and check the file, send nothing`;

/** Throws `LocalError` that says what is wrong with the call. */
export function readImportSettings(parameters: string[], environment: Record<string, string | undefined>): ImportSettings {
  const { values, positionals } = parse(parameters);
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new LocalError(`Give one file to import, got ${positionals.length}.\n\n${usage}`);
  const listName = values.list?.trim();
  if (!listName) throw new LocalError(`Give the list that the contacts go into: --list NAME.\n\n${usage}`);
  const batchRows = Number(values.batch);
  if (!Number.isInteger(batchRows) || batchRows < 1 || batchRows > 5000) {
    throw new LocalError(`--batch is "${values.batch}"; give a number from 1 to 5000.`);
  }
  const defaultCountry = values['default-country']?.toUpperCase();
  if (defaultCountry !== undefined && !isCountryCode(defaultCountry)) {
    throw new LocalError(`--default-country is "${values['default-country']}"; give a two-letter country code such as US or DE.`);
  }
  const { stateDirectory } = readLocalSettings(environment);
  const local = readCredentials(stateDirectory);
  const baseUrl = values['base-url'] ?? (environment.BASE_URL || local?.base_url);
  const apiKey = values['api-key'] ?? (environment.API_KEY || local?.api_key);
  if ((!baseUrl || !apiKey) && !values['dry-run']) {
    throw new LocalError(
      `No ${baseUrl ? 'API key' : 'service'} to import into. Run "npm start" first, or give --base-url and --api-key (or BASE_URL and API_KEY).`,
    );
  }
  // npm runs scripts in the repository and says where it was called; paths are meant from there.
  const startedIn = (environment.npm_lifecycle_event === 'import-contacts' && environment.INIT_CWD) || process.cwd();
  return {
    file: resolve(startedIn, file),
    listName,
    baseUrl: baseUrl ? withVersion(baseUrl) : '',
    apiKey: apiKey ?? '',
    defaultCountry,
    batchRows,
    errorsFile: values.errors ? resolve(startedIn, values.errors) : join(stateDirectory, 'import-errors.csv'),
    isErrorsFileAsked: values.errors !== undefined,
    isDryRun: values['dry-run'] ?? false,
  };
}

function parse(parameters: string[]) {
  try {
    return parseArgs({
      args: parameters,
      allowPositionals: true,
      options: {
        list: { type: 'string' },
        'base-url': { type: 'string' },
        'api-key': { type: 'string' },
        'default-country': { type: 'string' },
        batch: { type: 'string', default: '1000' },
        errors: { type: 'string' },
        'dry-run': { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new LocalError(`${(error as Error).message}\n\n${usage}`);
  }
}

function withVersion(baseUrl: string): string {
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl)) {
    throw new LocalError(`The base URL is "${baseUrl}"; give one that begins with http:// or https:// and ends in /api/v1.`);
  }
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path === '' ? '/api/v1' : path}`;
}
