import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { toEncodingName } from '../../src/library/text/encodings/encoding-names.ts';
import { isCountryCode } from '../../src/library/phone/phone-numbers.ts';
import type { Target } from '../local/request-with-retries.ts';
import { LocalError, readLocalSettings } from '../local/settings.ts';
import { readTarget } from '../local/target.ts';

export interface ImportSettings {
  file: string;
  listName: string;
  /** Null for a dry run, which needs none. */
  target: Target | null;
  /** Undefined: the organization's own is asked for. */
  defaultCountry: string | undefined;
  /** As `TextDecoder` names it. Undefined: it is found by the bytes. */
  encoding: string | undefined;
  /** The sheet of a workbook. Undefined: the first visible one with a table. */
  sheet: string | undefined;
  /** The only column with phones. Undefined: they are found by their headers. */
  phoneColumn: string | undefined;
  batchRows: number;
  /** When it was not asked for, it is written only if there is something to write. */
  errorsFile: string;
  isErrorsFileAsked: boolean;
}

export const usage = `Usage: npm run import-contacts -- FILE --list NAME [options]

Reads people out of a CSV, a text export or an .xlsx workbook and upserts them into the list NAME.

  --list NAME             list that they become members of; created when there is none
  --base-url URL          the service, ending in /api/v1   (default: BASE_URL, else the local service)
  --api-key KEY           its API key                      (default: API_KEY, else the local service's)
  --default-country DE    country of numbers without country code (default: the organization's)
  --encoding windows-1251 encoding of the file              (default: found by its bytes)
  --sheet Leads           sheet of a workbook              (default: the first visible one with a table)
  --phone-column Contact  column with the phones           (default: found by its header)
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
  const encoding = values.encoding === undefined ? undefined : toEncodingName(values.encoding);
  if (encoding === null)
    throw new LocalError(`--encoding is "${values.encoding}"; give the name of an encoding, such as utf-8, windows-1252 or shift_jis.`);
  const { stateDirectory } = readLocalSettings(environment);
  // npm runs scripts in the repository and says where it was called; paths are meant from there.
  const startedIn = (environment.npm_lifecycle_event === 'import-contacts' && environment.INIT_CWD) || process.cwd();
  return {
    file: resolve(startedIn, file),
    listName,
    target: values['dry-run'] ? null : readTarget(values, environment),
    defaultCountry,
    encoding,
    sheet: values.sheet?.trim() || undefined,
    phoneColumn: values['phone-column']?.trim() || undefined,
    batchRows,
    errorsFile: values.errors ? resolve(startedIn, values.errors) : join(stateDirectory, 'import-errors.csv'),
    isErrorsFileAsked: values.errors !== undefined,
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
        encoding: { type: 'string' },
        sheet: { type: 'string' },
        'phone-column': { type: 'string' },
        batch: { type: 'string', default: '1000' },
        errors: { type: 'string' },
        'dry-run': { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new LocalError(`${(error as Error).message}\n\n${usage}`);
  }
}
